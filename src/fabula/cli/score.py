"""`fabula score`: score the stories of a file and keep the scores in a run folder."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from fabula.cli._rows import paper_format_option
from fabula.core.errors import InputError, SettingError

if TYPE_CHECKING:
    from fabula.core.metric import Metric
    from fabula.datasets._stories import StoryFile
    from fabula.scoring.run import RunResult

_MOST_REPORTED = 50_000
_INPUT_FORMATS = ("jsonl", "json", "csv", "tsv", "parquet", "txt", "folder")


@click.command("score")
@click.argument("file")
@click.option("-m", "--metrics", multiple=True, metavar="SPECS", help="Specs or sets, by commas.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder for the run.")
@click.option("-c", "--column", multiple=True, metavar="PART=NAME", help="Field of a part.")
@click.option("--input-format", type=click.Choice(_INPUT_FORMATS), help="Else told by the name.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the file.")
@paper_format_option
@click.option("--scores", is_flag=True, help="Print every score as JSONL, not the summary.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True)
@click.option("--cache", type=click.Path(path_type=Path), help="Cache file, if not the usual one.")
@click.option("--no-cache", is_flag=True, help="Neither look up nor keep scores.")
@click.option("--overwrite", is_flag=True, help="Write over another run in the folder.")
@click.option("--no-report", is_flag=True, help="Write no report into the folder.")
@click.option("-q", "--quiet", is_flag=True, help="No progress and no words on stderr.")
def command(file: str, metrics: tuple[str, ...], **options: Any) -> None:
    """Score the stories of a file.

    FILE is JSONL, JSON, CSV, TSV, Parquet, a folder of .txt files, a data set's
    name (try `examples`; a folder called so is ./examples) or - for stdin.

    SPECS are metrics such as `rouge(n=2)` or sets: baselines, strings, hanna, all. See
    `fabula metrics list`. Scores are kept as they come: a run that was stopped goes on where it
    was when started again.
    """
    from fabula.scoring.catalogue import choose_metrics

    chosen = choose_metrics(metrics or ("strings",))
    with _source(file, options) as source:
        result = _run(source, chosen, options)
    if not options["scores"]:
        _print_summary(result, chosen, options["form"])
    if not options["no_report"]:
        _write_report(result, quiet=options["quiet"])
    if not options["quiet"]:
        _say_where(result, chosen)


def _run(source: StoryFile, chosen: list[Metric], options: dict[str, Any]) -> RunResult:
    from fabula.cli._progress import StderrProgress
    from fabula.core.table import json_line
    from fabula.scoring.cache import ScoreCache
    from fabula.scoring.run import RunOptions, run

    given = ScoreCache(options["cache"]) if options["cache"] else True
    return run(
        source,
        chosen,
        RunOptions(
            folder=options["output"],
            overwrite=options["overwrite"],
            cache=False if options["no_cache"] else given,
            jobs=options["jobs"],
            progress=None if options["quiet"] else StderrProgress(),
            surveyed=None if options["quiet"] else lambda: _say_columns(source),
            each_row=(lambda row: click.echo(json_line(row), nl=False))
            if options["scores"]
            else None,
        ),
    )


@contextmanager
def _source(file: str, options: dict[str, Any]) -> Iterator[StoryFile]:
    """Open what FILE names; a pipe is put aside first, for stories are read more than once."""
    from fabula.datasets._stories import StoryFile

    kind = options["input_format"] or ""
    settings = {"columns": _columns(options["column"]), "encoding": options["encoding"]}
    path = None if file == "-" else _path(file)
    if path and (path.is_file() or path.is_dir()):
        yield StoryFile(path, kind=kind, label=file, **settings)
        return
    with tempfile.TemporaryDirectory(prefix="fabula-") as folder:
        aside = Path(folder) / "stdin"
        with path.open("rb") if path else nullcontext(sys.stdin.buffer) as pipe:
            _put_aside(pipe, aside)
        label = file if path else "stdin"
        yield StoryFile(aside, kind=kind or "jsonl", label=label, **settings)


def _put_aside(pipe: IO[bytes], path: Path) -> None:
    with path.open("wb") as spool:
        while block := pipe.read(1 << 20):
            spool.write(block)


def _path(file: str) -> Path:
    """Path of the data set of that name, or of a file."""
    from fabula.datasets import DATASETS
    from fabula.datasets._stories import is_there

    if file in DATASETS:
        path: Path = DATASETS.get(file).FILE
        return path
    if not is_there(Path(file)):
        names = ", ".join(DATASETS.names())
        raise InputError(f"{file}: no such file or data set", f"check it; data sets: {names}")
    return Path(file)


def _columns(given: tuple[str, ...]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    for part, sign, _ in pairs:
        if not sign:
            raise SettingError(f"--column {part!r} will not do", "write --column text=NAME")
    return {part.strip(): name for part, _, name in pairs}


def _say_columns(source: StoryFile) -> None:
    names = ", ".join(f"{part}={'+'.join(n)}" for part, n in source.columns.names.items())
    click.echo(f"{source.label}: {names}", err=True)


def _print_summary(result: RunResult, chosen: list[Metric], form: str) -> None:
    from fabula.reports.summary import render

    directions = {metric.spec: metric.card.direction for metric in chosen}
    click.echo(render(form, result.summary, directions, result.record))


def _write_report(result: RunResult, *, quiet: bool) -> None:
    """Write the report of a run that is kept, unless it is too large to be held in memory."""
    if result.folder is None:
        return
    if result.record["input"]["stories"] > _MOST_REPORTED:
        if not quiet:
            click.echo(f"no report of so many stories: fabula report {result.folder}", err=True)
        return
    from fabula.cli._progress import StderrProgress
    from fabula.reports.report import write_report

    progress = None if quiet else StderrProgress("stories read for the report")
    path = write_report(result.folder, progress=progress)
    if not quiet:
        click.echo(f"report: {path}", err=True)


def _say_where(result: RunResult, chosen: list[Metric]) -> None:
    stories = result.record["input"]["stories"]
    click.echo(f"{stories:,} stories in {result.record['seconds']:.1f} s", err=True)
    if result.folder:
        click.echo(f"scores and signatures are in {result.folder}", err=True)
    else:
        for metric in chosen:
            click.echo(f"  {metric.signature()}", err=True)
        click.echo("not kept in a folder: add -o DIR", err=True)
