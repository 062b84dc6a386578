"""`fabula review`: everything that can be said of a story, or a ranking of several."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.core.errors import InputError, SettingError

if TYPE_CHECKING:
    from fabula.core.story import Story
    from fabula.learned.comments.writer import Commenter
    from fabula.scoring._review_parts import Review

_WRITER = "embedded('smollm2')"


@click.command("review")
@click.argument("source")
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv", "html"]),
    help="How to write it.  [default: text, or what the name of OUT says]",
)
@click.option("-o", "--output", type=click.Path(path_type=Path), metavar="OUT", help="File.")
@click.option("--prompt", metavar="TEXT", help="What the story answers.")
@click.option(
    "--comments",
    type=click.Choice(["composed", "written", "none"]),
    default="composed",
    show_default=True,
    help="By rules, by a language model, or none.",
)
@click.option(
    "--writer", default=_WRITER, show_default=True, help="Model that writes, or a folder."
)
@click.option("--weights", default="reader", show_default=True, help="Asset, or training's folder.")
@click.option("--order", default="order", show_default=True, help="The same, for sentence order.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of comments.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the file.")
@click.option("--no-cache", is_flag=True, help="Neither look up nor keep scores.")
@click.option("-q", "--quiet", is_flag=True, help="No words on stderr.")
def command(source: str, **options: Any) -> None:
    """Say of a story how it would be liked, why, and where in it.

    SOURCE is a text file, or - for stdin. A folder of .txt files, or a table of several stories
    (JSONL, CSV, …), gives a ranking with win rates. Scores are printed first; comments follow.
    """
    from fabula.datasets.tables.stories import load_stories

    stories = load_stories(source, prompt=options["prompt"], encoding=options["encoding"])
    form = _form(options)
    if len(stories) == 1:
        _review(stories[0], form, options)
    else:
        _rank(stories, form, Path(source).name or source, options)


def _form(options: dict[str, Any]) -> str:
    output: Path | None = options["output"]
    known = {".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"}
    guessed = known.get(output.suffix.lower(), "text") if output else "text"
    form: str = options["form"] or guessed
    return form


def _review(story: Story, form: str, options: dict[str, Any]) -> None:
    from fabula.reports.review import comments_text, render_review, scores_text
    from fabula.scoring._review_opinions import opinions_on
    from fabula.scoring.review import scored_review

    if form == "csv":
        raise SettingError("one review is not written as csv", "take json, or give several stories")
    opinions = opinions_on(
        story,
        weights=options["weights"],
        order=options["order"],
        cache=not options["no_cache"],
    )
    found = scored_review(story, opinions)
    streamed = form == "text" and options["output"] is None
    if streamed:
        click.echo(scores_text(found))
        sys.stdout.flush()
    if options["comments"] != "none":
        found = _commented(found, options)
    if not streamed:
        _write(render_review(form, found), options)
    elif words := comments_text(found):
        click.echo(f"\n{words}")


def _commented(found: Review, options: dict[str, Any]) -> Review:
    """Add the comments; who writes them is loaded only now, when the scores are out."""
    from fabula.cli._output import StderrProgress
    from fabula.scoring.review import comment_on, commented_aspects

    progress = None if options["quiet"] else StderrProgress("comments")
    if progress:
        progress.start(len(commented_aspects(found)))
    for later in comment_on(found, _commenter(options), seed=options["seed"]):
        found = later
        if progress:
            progress.advance(1)
    if progress:
        progress.finish()
    return found


def _commenter(options: dict[str, Any]) -> Commenter | None:
    """Give who writes comments; a model that cannot be had is said, and comments composed."""
    if options["comments"] != "written":
        return None
    from fabula.core.errors import UserError

    try:
        return _writer(options["writer"])
    except (InputError, SettingError):
        raise
    except UserError as error:
        if not options["quiet"]:
            click.echo(f"fabula: comments are composed: {error}", err=True)
        return None


def _writer(name: str) -> Commenter:
    """Give a language model's comments, or those of a joint training's folder."""
    if Path(name).is_dir():
        from fabula.learned.comments.writer import JointCommenter
        from fabula.learned.joint.network import open_writer

        return JointCommenter(open_writer(Path(name)))
    from fabula.core.model import Generator
    from fabula.learned.comments.writer import Commenter
    from fabula.models import load_model, need

    return Commenter(need(load_model(name), Generator))


def _rank(stories: list[Story], form: str, name: str, options: dict[str, Any]) -> None:
    from fabula.reports.review_ranking import render_ranking
    from fabula.scoring.review_ranking import rank

    found = rank(stories, weights=options["weights"], cache=not options["no_cache"])
    _write(render_ranking(form, found, name), options)


def _write(text: str, options: dict[str, Any]) -> None:
    output: Path | None = options["output"]
    if output is None:
        click.echo(text)
        return
    from fabula.core.files import write_text

    write_text(output, f"{text}\n")
    if not options["quiet"]:
        click.echo(f"wrote {output}", err=True)
