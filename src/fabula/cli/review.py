"""`fabula review`: everything that can be said of a story, or a ranking of several."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli import echo, show_progress
from fabula.cli._completion import (
    complete_assets_or_folders,
    complete_models,
    complete_sources,
)
from fabula.cli._inputs import story_layout
from fabula.cli._options import NO_CACHE, OVERWRITE, QUIET, output_option, seed_option
from fabula.core.errors import InputError, SettingError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from fabula.core.story import Story
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.reports.review_ranking import ReviewPages
    from fabula.scoring.review import Ranking, Review, WrittenComments

_FORMS = {
    ".html": "html",
    ".htm": "html",
    ".md": "md",
    ".json": "json",
    ".txt": "text",
    ".csv": "csv",
}


@click.command("review")
@click.argument("source", shell_complete=complete_sources)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "md", "json", "csv", "html"]),
    show_default="text, or what the suffix of PATH says",
    help="Form of what is written.",
)
@output_option(
    metavar="PATH",
    help="Write into this file (.html, .md, .json, .txt; a ranking also .csv), or a page for each "
    "story into this folder.",
)
@click.option("--prompt", metavar="TEXT", help="The prompt that the story was written on.")
@click.option(
    "--images",
    multiple=True,
    metavar="PATH",
    help="A picture that the story tells of, in its order, or a folder of them; may be repeated.",
)
@click.option(
    "--comments",
    type=click.Choice(["composed", "written", "raw", "none"]),
    show_default="composed; with a joint model, written",
    help="Who writes the comments: rules, a language model (raw: unchecked, of a joint model), or "
    "nobody.",
)
@click.option(
    "--writer",
    metavar="MODEL",
    shell_complete=complete_models,
    show_default="--weights, if they write",
    help="Language model for --comments written or raw: its spec, or its folder. A small one, as "
    "embedded('smollm2'), writes worse than rules compose.",
)
@click.option(
    "--weights",
    metavar="NAME|FOLDER",
    shell_complete=complete_assets_or_folders,
    default="reader",
    show_default=True,
    help="The reader that judges the story: an asset, a folder that `fabula train` made, or both: "
    "the mean of the small and the large one. With the default every metric takes its own usual "
    "weights.",
)
@click.option(
    "--order",
    metavar="NAME|FOLDER",
    shell_complete=complete_assets_or_folders,
    default="order",
    show_default=True,
    help="What judges the order of sentences: an asset, or a folder that `fabula train` made.",
)
@click.option(
    "--grounder",
    metavar="SPEC",
    default="",
    show_default="that of rovist_vg",
    help="What looks for the story's nouns in its pictures: labels, the folder of a training, or a "
    "CLIP.",
)
@click.option(
    "--judge",
    metavar="SPEC",
    default="",
    show_default="none",
    help="Ask a language model too: a judge such as judge_checklist(model='…'), or its model.",
)
@seed_option(help="Where chance begins in the wording of comments.")
@story_layout
@OVERWRITE
@NO_CACHE
@QUIET
def command(
    source: str,
    form: str | None,
    output: Path | None,
    prompt: str | None,
    images: tuple[str, ...],
    comments: str | None,
    writer: str | None,
    weights: str,
    order: str,
    grounder: str,
    judge: str,
    seed: int,
    layout: StoryLayout,
    overwrite: bool,
    no_cache: bool,
    quiet: bool,
) -> None:
    """Say of a story how it would be liked, why, and where in it.

    SOURCE is a text (.txt, .md, .docx, .odt, .epub, .html), or - for stdin. A folder of such, or a
    table of stories (JSONL, CSV, Excel), gives a ranking; as a page, it leads to one a story. A
    folder with one text and its pictures is a story of pictures.
    """
    from fabula.scoring.review import rank_stories, review_story

    form = _choose_form(form, output, source)
    stories = _load_stories(source, prompt, images, layout)
    comments, by = _choose_commenter(comments, writer, weights, quiet=quiet)
    chosen = partial(review_story, weights=weights, order=order, seed=seed, cache=not no_cache)
    pages = _choose_pages(stories, form, output, (source, overwrite))
    asked = _ask_judge(judge, is_ranking=bool(stories[1:]) and not pages, quiet=quiet)
    review = partial(chosen, comments=comments != "none", commenter=by, grounder=grounder, **asked)
    ranking = rank_stories(stories, weights=weights, cache=not no_cache) if stories[1:] else None
    if pages:
        _write_pages(map(review, stories), pages, ranking, source=source, quiet=quiet)
    elif ranking:
        _write(_render_ranking(form, ranking, source), output, quiet=quiet)
    else:
        _show_review(review(stories[0]), form, output, quiet=quiet, comments=comments)


def _ask_judge(judge: str, *, is_ranking: bool, quiet: bool) -> dict[str, str]:
    """Choose the judge before it is asked; what it cost is said at the end of the command."""
    if not judge:
        return {}
    if is_ranking:
        remedy = "write pages with -o FOLDER, or score them: fabula score FILE -m SPEC"
        raise SettingError("a ranking asks no judge", remedy)
    from fabula.cli._judging import open_run_account
    from fabula.scoring.review.judging import choose_judge

    click.get_current_context().with_resource(open_run_account(None, quiet=quiet))
    return {"judge": choose_judge(judge).spec}


def _load_stories(
    source: str, prompt: str | None, images: tuple[str, ...], layout: StoryLayout
) -> list[Story]:
    """Read the stories; pictures that are given are those of the only one."""
    from fabula.datasets.tables.stories import load_stories

    stories = load_stories(source, prompt=prompt, layout=layout)
    if not images:
        return stories
    if stories[1:]:
        remedy = "name them in a field `images` of each, or give each story a folder"
        raise SettingError(f"--images are one story's, and there are {len(stories)}", remedy)
    from fabula.core.images import find_images

    found = find_images(images, Path())
    for path in map(Path, found):
        # Who names a picture wants it seen: a page without it would be no answer.
        if path.is_dir():
            raise InputError(f"--images: no picture lies in {path}", "name another folder")
        if not path.is_file():
            raise InputError(f"--images: there is no picture {path}", "name a file")
    return [replace(stories[0], images=found)]


def _choose_pages(
    stories: Sequence[Story], form: str, output: Path | None, read: tuple[str, bool]
) -> ReviewPages | None:
    """Choose where a page for each story goes; nowhere, if something else is wanted.

    `read` is what is read, and whether all else may be written over.
    """
    if output is None or form != "html" or not (stories[1:] or _is_folder(output, form)):
        return None
    from fabula.reports.review_ranking import ReviewPages

    pages = ReviewPages.choose(stories, output, in_folder=_is_folder(output, None))
    source, overwrite = read
    pages.refuse_foreign(Path(source), overwrite=overwrite)
    return pages


def _choose_form(form: str | None, output: Path | None, source: str) -> str:
    """Choose the form by what is asked for or by the file's name; refuse what is not written."""
    from fabula.core.files import refuse_input

    if output is None:
        return form or "text"
    place = Path("/dev/stdin" if source == "-" else source)
    refuse_input(output, [place, *(place.iterdir() if place.is_dir() else ())])
    if _is_folder(output, form):
        if form not in (None, "html"):
            raise SettingError(f"a folder takes pages, not {form}", f"name a file for -f {form}")
        return "html"
    suffix = output.suffix.lower()
    told = _FORMS.get(suffix)
    # What is no plain file, such as /dev/stdout or a pipe, has no name to go by.
    if (output.exists() and not output.is_file()) or (form and not suffix):
        return form or "text"
    if told is None:
        known = ", ".join(suffix for suffix in _FORMS if suffix != ".htm")
        raise SettingError(f"no review is written as {suffix or output.name}", f"known: {known}")
    if form not in (None, told):
        raise SettingError(f"-f says {form}, and the name {output.name} {told}", "leave -f out")
    return told


def _is_folder(output: Path, form: str | None) -> bool:
    """Whether it is a folder: one that is there, or a new name without a suffix."""
    if output.exists():
        return output.is_dir()
    return not output.suffix and form in (None, "html")


def _write_pages(
    reviews: Iterable[Iterator[Review]],
    pages: ReviewPages,
    ranking: Ranking | None,
    *,
    source: str,
    quiet: bool,
) -> None:
    """Write a page for each story, and that of the ranking last: its links lead somewhere."""
    from fabula.core.story import count_text

    progress = show_progress("reviews", quiet=quiet)
    if progress:
        progress.start(len(pages.files))
    for steps in reviews:
        *_, review = steps
        wrote = str(pages.write_review(review, ranked=ranking is not None))
        if progress:
            progress.advance(1)
    if progress:
        progress.finish()
    if ranking is not None:
        index = pages.write_ranking(ranking, Path(source).name or source)
        wrote = f"{index} and {count_text(len(pages.files), 'page')} in {pages.folder}"
    if not quiet:
        echo(f"wrote {wrote}", err=True)


def _show_review(
    reviews: Iterator[Review], form: str, output: Path | None, *, quiet: bool, comments: str
) -> None:
    """Print the scores as soon as they are there; comments may take long."""
    if form == "csv":
        raise SettingError("one review is not written as csv", "take json, or give several stories")
    from fabula.reports.review import comments_text, render_review, scores_text
    from fabula.scoring.review import choose_aspects

    review = next(reviews)
    streamed = form == "text" and output is None
    if streamed:
        echo(scores_text(review))
        sys.stdout.flush()
    progress = show_progress("comments", quiet=quiet) if comments != "none" else None
    if progress:
        progress.start(1 + len(choose_aspects(review, written=comments != "composed")))
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


def _choose_commenter(
    comments: str | None, writer: str | None, weights: str, *, quiet: bool
) -> tuple[str, WrittenComments | None]:
    """Choose how comments are made, and by whom, if not by rules; a joint model writes its own."""
    if comments in ("composed", "none"):
        return comments, None
    from fabula.scoring.review import WrittenComments, find_joint

    joint = find_joint(weights) if weights != "reader" else None
    speaks = joint is not None and joint.comments
    if comments is None and not speaks:
        return "composed", None
    if joint is not None and not (speaks or writer):
        problem = f"{weights} was trained without comments, and writes none"
        raise SettingError(problem, "name another who writes: --writer MODEL")
    if not (named := writer or (weights if speaks else "")):
        problem = f"--comments {comments} wants to know who writes them"
        remedy = "name a language model, or the folder of a joint training: --writer MODEL"
        raise SettingError(problem, remedy)
    on_missing = None if quiet else _say_composed
    return comments or "written", WrittenComments(named, on_missing, raw=comments == "raw")


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
