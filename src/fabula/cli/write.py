"""`fabula write`: let co-authors write on prompts, each on the same ones."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources
from fabula.cli._inputs import story_layout
from fabula.cli._options import OVERWRITE, QUIET, output_option, seed_option
from fabula.core.errors import SettingError
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.authors.writing.run import Written
    from fabula.datasets.tables.stories import StoryLayout


@click.command("write", short_help="Let co-authors write stories on your prompts.")
@click.argument("prompts", metavar="PROMPTS", shell_complete=complete_sources)
@click.option(
    "-a",
    "--authors",
    multiple=True,
    required=True,
    metavar="SPECS",
    help="Co-authors, separated by commas; NAME=SPEC gives one a name of its own.",
)
@output_option(
    metavar="FILE", required=True, help="File for the stories (.jsonl); what is there is kept."
)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(1),
    metavar="N",
    default=1,
    show_default=True,
    help="How many stories every co-author writes on a prompt.",
)
@click.option(
    "--wanted",
    metavar="TEXT",
    default="words=0-249",
    show_default=True,
    help="How long a story is: words=0-249 are 250 words; also chars, tokens, sentences.",
)
@click.option(
    "--decoding",
    metavar="TEXT",
    default="",
    show_default="temperature=0.9, top_k=40, top_p=0.9, penalty=1.2, max_sentences=0",
    help="How tokens are drawn: temperature=0.7, top_k=0; what is not said is as usual.",
)
@seed_option()
@click.option(
    "--batch",
    type=click.IntRange(1),
    metavar="N",
    default=8,
    show_default=True,
    help="How many stories are written side by side.",
)
@click.option("--retry", is_flag=True, help="Write stories again that have failed before.")
@story_layout
@OVERWRITE
@QUIET
def command(
    prompts: str,
    authors: tuple[str, ...],
    *,
    output: Path,
    number: int,
    wanted: str,
    decoding: str,
    seed: int,
    batch: int,
    retry: bool,
    layout: StoryLayout,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Let every co-author write on the same prompts.

    PROMPTS is a table with a column of prompts (JSONL, JSON, CSV, TSV, Parquet, Excel), a text with
    a prompt a line, a data set's name, or - for stdin. Stories that people wrote on a prompt go
    along as references.

    SPECS are co-authors such as `embedded`, `huggingface('FOLDER')`, `api('MODEL', base_url='…')`.
    Every line of the file is a story as `fabula score` reads it, with co-author, signature, seed
    and decoding. It is kept as it comes: the same command goes on where it was stopped.
    """
    from fabula.authors.context.ranges import parse_wanted
    from fabula.authors.writing import run
    from fabula.authors.writing.prompts import read_prompts

    _check_output(output, prompts)
    how = parse_wanted(wanted), run.parse_decoding(decoding)
    plan = run.WritingPlan(run.parse_authors(authors), *how, number=number, seed=seed, batch=batch)
    given = read_prompts(prompts, layout)
    written = run.write_stories(given, plan, output, overwrite=overwrite, retry=retry)
    if not quiet:
        _say(written, len(given))
    echo(output)


def _check_output(output: Path, prompts: str) -> None:
    """Refuse a file that `fabula score` would read as something else, and the prompts' own."""
    from fabula.core.files import refuse_input

    if output.suffix not in (".jsonl", ".ndjson"):
        raise SettingError(f"{output} is no .jsonl file", "a story is a line of JSON: -o x.jsonl")
    refuse_input(output, [Path(prompts)])


def _say(written: Written, prompts: int) -> None:
    stories = count_text(written.stories, "story", "stories")
    echo(f"{stories} on {count_text(prompts, 'prompt')}, {written.new:,} of them new", err=True)
    if written.failed:
        failed = count_text(written.failed, "story", "stories")
        echo(f"{failed} failed: their lines say why; --retry writes them again", err=True)
