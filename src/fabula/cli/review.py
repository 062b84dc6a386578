"""`fabula review`: everything that can be said of a story, or a ranking of several."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli import echo
from fabula.cli._completion import (
    complete_assets_or_folders,
    complete_models,
    complete_sources,
)
from fabula.cli._inputs import story_layout
from fabula.cli._options import NO_CACHE, QUIET, output_option, seed_option
from fabula.core.errors import SettingError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fabula.datasets.tables.stories import StoryLayout
    from fabula.scoring.review import Ranking, Review

_FORMS = {".html": "html", ".htm": "html", ".json": "json", ".csv": "csv"}


@click.command("review")
@click.argument("source", shell_complete=complete_sources)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv", "html"]),
    show_default="text, or what the suffix of FILE says",
    help="Form of what is written.",
)
@output_option(metavar="FILE", help="Write the review into this file instead of the terminal.")
@click.option("--prompt", metavar="TEXT", help="The prompt that the story was written on.")
@click.option(
    "--comments",
    type=click.Choice(["composed", "written", "none"]),
    default="composed",
    show_default=True,
    help="Who writes the comments: rules, a language model, or nobody.",
)
@click.option(
    "--writer",
    metavar="MODEL",
    shell_complete=complete_models,
    default="embedded('smollm2')",
    show_default=True,
    help="Language model for --comments written: its spec, or its folder.",
)
@click.option(
    "--weights",
    metavar="NAME|FOLDER",
    shell_complete=complete_assets_or_folders,
    default="reader",
    show_default=True,
    help="The reader that judges the story: an asset, or a folder that `fabula train` made.",
)
@click.option(
    "--order",
    metavar="NAME|FOLDER",
    shell_complete=complete_assets_or_folders,
    default="order",
    show_default=True,
    help="What judges the order of sentences: an asset, or a folder that `fabula train` made.",
)
@seed_option(help="Where chance begins in the wording of comments.")
@story_layout
@NO_CACHE
@QUIET
def command(
    source: str,
    *,
    form: str | None,
    output: Path | None,
    prompt: str | None,
    comments: str,
    writer: str,
    weights: str,
    order: str,
    seed: int,
    layout: StoryLayout,
    no_cache: bool,
    quiet: bool,
) -> None:
    """Say of a story how it would be liked, why, and where in it.

    SOURCE is a text (.txt, .md, .docx, .odt, .epub, .html), or - for stdin. A folder of such, or a
    table of stories (JSONL, CSV, Excel), gives a ranking. Scores are printed first, then comments.
    """
    from fabula.datasets.tables.stories import load_stories
    from fabula.scoring.review import WrittenComments, rank_stories, review_story

    stories = load_stories(source, prompt=prompt, layout=layout)
    form = form or (_FORMS.get(output.suffix.lower(), "text") if output else "text")
    if len(stories) > 1:
        ranking = rank_stories(stories, weights=weights, cache=not no_cache)
        _write(_render_ranking(form, ranking, source), output, quiet=quiet)
        return
    on_missing = None if quiet else _say_composed
    reviews = review_story(
        stories[0],
        weights=weights,
        order=order,
        comments=comments != "none",
        commenter=WrittenComments(writer, on_missing) if comments == "written" else None,
        seed=seed,
        cache=not no_cache,
    )
    _show_review(reviews, form, output, quiet=quiet, comments=comments != "none")


def _show_review(
    reviews: Iterator[Review], form: str, output: Path | None, *, quiet: bool, comments: bool
) -> None:
    """Print the scores as soon as they are there; comments may take long."""
    if form == "csv":
        raise SettingError("one review is not written as csv", "take json, or give several stories")
    from fabula.cli import show_progress
    from fabula.reports.review import comments_text, render_review, scores_text
    from fabula.scoring.review import choose_aspects

    review = next(reviews)
    streamed = form == "text" and output is None
    if streamed:
        echo(scores_text(review))
        sys.stdout.flush()
    progress = show_progress("comments", quiet=quiet) if comments else None
    if progress:
        progress.start(len(choose_aspects(review)))
    for commented in reviews:
        review = commented
        if progress:
            progress.advance(1)
    if progress:
        progress.finish()
    if not streamed:
        _write(render_review(form, review), output, quiet=quiet)
    elif words := comments_text(review):
        echo(f"\n{words}")


def _render_ranking(form: str, ranking: Ranking, source: str) -> str:
    from fabula.reports.review_ranking import render_ranking

    return render_ranking(form, ranking, Path(source).name or source)


def _say_composed(error: UserError) -> None:
    echo(f"fabula: comments are composed: {error}", err=True)


def _write(text: str, output: Path | None, *, quiet: bool) -> None:
    if output is None:
        echo(text)
        return
    from fabula.core.files import write_text

    write_text(output, f"{text}\n")
    if not quiet:
        echo(f"wrote {output}", err=True)
