"""`fabula score`: score the stories of a file and keep the scores in a run folder."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._completion import complete_sources, complete_specs
from fabula.cli._inputs import Sharding, sharding_options, story_layout
from fabula.cli._options import (
    BUDGET,
    CACHE,
    DRY_RUN,
    JOBS,
    NO_CACHE,
    OVERWRITE,
    PAPER_FORMAT,
    QUIET,
    output_option,
)
from fabula.core.errors import SettingError
from fabula.core.story import count_text

if TYPE_CHECKING:
    from fabula.core.metric import Metric
    from fabula.datasets.tables.stories import StoryLayout
    from fabula.reports.standings import StreamedScores
    from fabula.scoring.run import RunOptions, RunResult, StorySet


@click.command("score", short_help="Score the stories of files, with any metrics.")
@click.argument(
    "files", metavar="FILE...", nargs=-1, required=True, shell_complete=complete_sources
)
@click.option(
    "-m",
    "--metrics",
    multiple=True,
    metavar="SPECS",
    shell_complete=complete_specs,
    show_default="strings",
    help="Metrics or sets of metrics, separated by commas.",
)
@output_option(
    type=click.Path(),
    metavar="FOLDER",
    help="Keep scores, stories, signatures and a report in this folder; in shards it may be an "
    "address (s3://…).",
)
@story_layout
@sharding_options
@PAPER_FORMAT
@click.option(
    "--scores", is_flag=True, help="Print every score as a line of JSON instead of the summary."
)
@JOBS
@click.option(
    "--strict",
    is_flag=True,
    help="End the run when a metric fails on a story, instead of leaving that score out.",
)
@CACHE
@NO_CACHE
@OVERWRITE
@click.option("--no-report", is_flag=True, help="Write no report.html into the folder.")
@BUDGET
@DRY_RUN
@QUIET
def command(
    files: tuple[str, ...],
    metrics: tuple[str, ...],
    *,
    output: str | None,
    layout: StoryLayout,
    sharding: Sharding,
    form: str,
    **told: Any,
) -> None:
    """Score the stories of a file, or of several files as several systems.

    FILE is a table (JSONL, JSON, CSV, TSV, Parquet, Excel, OpenDocument), a text (.txt, .md, .docx,
    .odt, .epub, .html), a folder of texts, a data set's name (try `examples`; a folder called so is
    ./examples) or - for stdin.

    SPECS are metrics such as `rouge(n=2)` or sets: baselines, strings, checks, learned, hanna, all.
    See `fabula metrics list`. Scores are kept as they come: a run that was stopped goes on.
    """
    if any("://" in name for name in (*files, output or "")):
        from fabula.core.addresses import drop_scheme

        files, output = tuple(map(drop_scheme, files)), output and drop_scheme(output)
    chosen = _choose_metrics(metrics or ("strings",), dry_run=told["dry_run"])
    if sharding.is_wanted(files, output):
        from fabula.cli._sharding import run_in_shards

        _refuse_unsharded(told)
        how = {name: told[name] for name in ("overwrite", "jobs", "strict", "quiet")}
        result = run_in_shards(files, layout, chosen, sharding, output=output, **how)
        shown = (told["overwrite"], told["quiet"])
        _tell(result, form, None, report=not told["no_report"], how=shown)
    else:
        folder = None if told["dry_run"] or output is None else Path(output)
        _score_whole((files, layout), chosen, folder, form, **told)


def _score_whole(
    given: tuple[tuple[str, ...], StoryLayout],
    chosen: list[Metric],
    folder: Path | None,
    form: str,
    *,
    scores: bool,
    jobs: int,
    strict: bool,
    cache: Path | None,
    no_cache: bool,
    overwrite: bool,
    no_report: bool,
    budget: float | None,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Score in one piece: print, keep and report."""
    from fabula.reports.standings import StreamedScores
    from fabula.scoring.run import RunOptions

    report = not (no_report or dry_run)
    options = RunOptions(folder, overwrite, not no_cache and (cache or True), jobs, strict)
    streamed = StreamedScores() if form in ("table", "latex") and not scores else None
    account = _open_account(chosen, options, budget, dry_run=dry_run, quiet=quiet)
    with _open(*given) as source, account:
        _refuse_report(source, folder if report else None, overwrite=overwrite)
        result = _run(source, chosen, options, streamed, scores=scores, quiet=quiet)
    if not dry_run:
        _tell(result, None if scores else form, streamed, report=report, how=(overwrite, quiet))


def _refuse_unsharded(told: dict[str, Any]) -> None:
    """Refuse options that a run in shards has no use for."""
    for name in ("scores", "dry_run", "budget", "cache"):
        if told[name]:
            problem = f"--{name.replace('_', '-')} is not for runs in shards"
            raise SettingError(problem, "leave it out; shards that are done are kept in the folder")


def _choose_metrics(specs: tuple[str, ...], *, dry_run: bool) -> list[Metric]:
    """Make the metrics; for an estimate judges alone."""
    from fabula.scoring.catalogue import choose_metrics

    chosen = choose_metrics(specs)
    return [metric for metric in chosen if metric.card.family == "judge" or not dry_run]


def _open_account(
    chosen: list[Metric], options: RunOptions, budget: float | None, *, dry_run: bool, quiet: bool
) -> AbstractContextManager[object]:
    """Open an account for what judges ask; other metrics ask for no money."""
    if not any(metric.card.family == "judge" for metric in chosen):
        if dry_run or budget is not None:
            problem = "--dry-run and --budget are for judges, and none is asked for"
            raise SettingError(problem, "leave them out, or name one: -m \"judge(model='…')\"")
        return nullcontext()
    if options.jobs > 1:
        problem = "a judge asks in one process, many questions side by side"
        raise SettingError(problem, "leave --jobs out, or let the judge run by itself")
    from fabula.cli._judging import open_run_account

    return open_run_account(budget, is_dry=dry_run, quiet=quiet)


def _open(files: tuple[str, ...], layout: StoryLayout) -> AbstractContextManager[StorySet]:
    if len(files) == 1:
        from fabula.datasets.tables.stories import open_stories

        return open_stories(files[0], layout)
    from fabula.datasets.tables.several import open_several

    return open_several(files, layout)


def _refuse_report(source: StorySet, folder: Path | None, *, overwrite: bool) -> None:
    """Refuse now what the report would write over, not when the scores of a day are there."""
    if folder:
        from fabula.reports.report import refuse_report

        refuse_report(folder, source.inputs(), overwrite=overwrite)


def _run(
    source: StorySet,
    chosen: list[Metric],
    options: RunOptions,
    streamed: StreamedScores | None,
    *,
    scores: bool,
    quiet: bool,
) -> RunResult:
    """Run, saying what goes on unless quiet, and printing or holding the scores as they come."""
    from fabula.cli import show_progress
    from fabula.scoring.run import run

    options = replace(
        options,
        progress=show_progress("scores", quiet=quiet),
        on_survey=None if quiet else lambda: _say_columns(source),
        on_row=_print_score if scores else None,
        on_score=streamed.add if streamed else None,
    )
    return run(source, chosen, options)


def _print_score(row: dict[str, Any]) -> None:
    from fabula.core.table import json_line

    echo(json_line(row), nl=False)


def _say_columns(source: StorySet) -> None:
    for line in source.describe():
        echo(line, err=True)


def _tell(
    result: RunResult,
    form: str | None,
    streamed: StreamedScores | None,
    *,
    report: bool,
    how: tuple[bool, bool],
) -> None:
    """Print the summary in a form, if any; write the report; say where all is."""
    overwrite, quiet = how
    if form:
        _print_summary(result, form, streamed)
    if report:
        _write_report(result, overwrite=overwrite, quiet=quiet)
    _say_where(result, quiet=quiet)


def _print_summary(result: RunResult, form: str, streamed: StreamedScores | None) -> None:
    from fabula.reports.summary import render_summary

    directions = {entry["spec"]: entry["direction"] for entry in result.record["metrics"]}
    standings = streamed.standings(directions) if streamed and streamed.complete else None
    echo(render_summary(form, result.summary, directions, result.record, standings))


def _write_report(result: RunResult, *, overwrite: bool, quiet: bool) -> None:
    """Write the report of a run that is kept, unless it is large and would be held in memory."""
    if result.folder is None:
        return
    from fabula.scoring import lazy_run

    many = result.record["input"]["stories"] > lazy_run.MOST_STORIES
    if many and not lazy_run.is_read_lazily(result.folder):
        if not quiet:
            from fabula.core.installation import spell_command, spell_install

            command = spell_command(f"report {result.folder}")
            words = f"no report of so many stories: {spell_install(lazy_run.EXTRA)}, then {command}"
            echo(words, err=True)
        return
    from fabula.cli import show_progress
    from fabula.reports.report import write_report

    progress = show_progress("stories read for the report", quiet=quiet)
    path = write_report(result.folder, progress=progress, overwrite=overwrite)
    if not quiet:
        echo(f"report: {path}", err=True)


def _say_where(result: RunResult, *, quiet: bool) -> None:
    if quiet:
        return
    stories = result.record["input"]["stories"]
    echo(f"{count_text(stories, 'story', 'stories')} in {result.record['seconds']:.1f} s", err=True)
    if result.kept:
        echo(_say_kept(result), err=True)
    if result.folder:
        echo(f"scores and signatures are in {result.folder}", err=True)
    elif "parts" not in result.record:
        echo(
            "not kept in a folder: add -o FOLDER, for scores, report and full signatures", err=True
        )


def _say_kept(result: RunResult) -> str:
    """Say which metrics the run has now that it had not before."""
    specs = [entry["spec"] for entry in result.record["metrics"]]
    new = [spec for spec in specs if spec not in result.kept]
    run = result.folder or "the run"  # at an address, which is named in the next line
    if not new:
        return f"{run} held all of these scores already; none was computed again"
    count = f"{len(result.kept)} {'metric' if len(result.kept) == 1 else 'metrics'}"
    return f"added to the {count} in {run}: {', '.join(new)}"
