"""`fabula filter`: take the stories of a run that are good enough, each once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_runs
from fabula.cli._options import (
    COUNT,
    NAME,
    NUMBER,
    OVERWRITE,
    PAPER_FORMAT,
    QUIET,
    output_option,
    seed_option,
)
from fabula.core.errors import SettingError


@click.command("filter", short_help="Take the stories of a run that are good enough.")
@click.argument("run", shell_complete=complete_runs)
@click.option(
    "--keep",
    default="",
    metavar="CONDITION",
    help="What is to be true of a story: 'criteria.coherence > 3 and not repetition > 0.5'.",
)
@click.option(
    "--missing",
    type=click.Choice(["drop", "keep"]),
    default="drop",
    show_default=True,
    help="What becomes of stories that lack a value for a condition.",
)
@click.option(
    "--dedupe",
    type=click.FloatRange(0, 1, min_open=True),
    metavar=NUMBER,
    help="Leave out stories that share so much of their runs of five words with one that stays.",
)
@click.option(
    "--best", default="", metavar=NAME, help="Of near ones the best by this column stays."
)
@click.option("--top", metavar="N|N%", help="Take so many, or such a share, the best by --by.")
@click.option("--sample", type=click.IntRange(1), metavar=COUNT, help="Draw so many at random.")
@click.option(
    "--by",
    default="",
    metavar=NAME,
    help="The column for --top; of a --sample, as many from each part of its values.",
)
@click.option(
    "--quantiles",
    type=click.IntRange(1, 1000),
    metavar=COUNT,
    default=10,
    show_default=True,
    help="Into how many parts of equal size --by cuts the stories of a sample.",
)
@click.option(
    "--per",
    type=click.Choice(["system", "item"]),
    help="Take so many of each system, or of each item.",
)
@output_option(metavar="FILE", help="Write the stories here: .jsonl, .parquet or .csv.")
@click.option("--scores", is_flag=True, help="Write every score as a column as well.")
@seed_option()
@PAPER_FORMAT
@OVERWRITE
@QUIET
def command(
    run: str,
    *,
    top: str | None,
    output: Path | None,
    scores: bool,
    form: str,
    overwrite: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Take stories of a run: by their scores, each once, the best, or a sample.

    RUN is the folder of a run (`fabula score -o RUN`), or its address. Columns are named as its
    tables name them: `words`, `rouge(n=2).f`, "ROUGE-2 F1". Conditions come first, then duplicates
    go, then the best are taken or a sample is drawn. Without -o nothing is written, and the counts
    say what would be.
    """
    from fabula.cli import show_progress
    from fabula.reports.filtering import render_filtered
    from fabula.scoring.fetched_run import fetch_run
    from fabula.scoring.filtering.output import describe, refuse_output, write_filtered
    from fabula.scoring.filtering.steps import FilterPlan, filter_run
    from fabula.scoring.lazy_run import open_lazily

    plan = FilterPlan(top=_read_top(top), **given)
    with fetch_run(run) as folder, open_lazily(folder) as opened:
        if output:
            refuse_output(folder, output, opened.record, overwrite=overwrite)
        filtered = filter_run(opened, plan, show_progress("stories compared", quiet=quiet))
        if output:
            told = write_filtered(opened, plan, filtered, output, scores=scores)
        else:
            told = describe(opened, plan, filtered)
    echo(render_filtered(form, told, filtered.remarks))
    if not quiet:
        echo(str(output) if output else "nothing is written: add -o FILE", err=True)


def _read_top(top: str | None) -> float | None:
    """Read a number of stories, or a share with its sign."""
    if top is None:
        return None
    text = top.strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = 0.0
    if text.endswith("%") and 0 < number < 100:
        return number / 100
    if not text.endswith("%") and number >= 1 and number == int(number):
        return number
    raise SettingError(f"--top {top!r} will not do", "give a number of stories, or a share: 10%")
