"""`fabula study`: a study file in, a report out."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.core.errors import InputError, SettingError

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset
    from fabula.meta.study_file import StudyFile
    from fabula.reports.published import PrintedValue


@click.group("study")
def command() -> None:
    """Studies: which scorers are held against which ratings, as a TOML file."""


@command.command("run")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Folder of the report.")
@click.option("--path", type=click.Path(path_type=Path), help="Where the data set's files lie.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    envvar="FABULA_DATA",
    help="Folder that holds data sets in data/ and printed values in reference/.",
)
@click.option("--only", multiple=True, metavar="NAME", help="Analysis to run, of a storyer study.")
@click.option("--partial", is_flag=True, help="Use an incomplete release.")
@click.option("-q", "--quiet", is_flag=True, help="Do not say how long each part took.")
def run(file: Path, output: Path | None, **options: Any) -> None:
    """Run a study and write its report: one HTML file, its tables and figures beside it.

    A file with kind = "storyer" runs the analyses that it lists; without -o they are printed.
    """
    from fabula.meta.study_file import study_kind

    if study_kind(file) == "storyer":
        from fabula.cli._study_storyer import run_storyer

        run_storyer(file, output, options)
    elif output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    else:
        _run_ratings(file, output, options)


def _run_ratings(file: Path, output: Path, options: dict[str, Any]) -> None:
    """Run a study of scorers beside ratings."""
    from fabula.meta.study_file import read_study
    from fabula.reports.parts import PARTS
    from fabula.reports.parts._view import View
    from fabula.reports.study import make_sections, write_report
    from fabula.scoring.evaluate import add_baselines

    if options["only"]:
        raise SettingError("--only is for studies of kind storyer", "set parts in the file")
    clock = _Clock(options["quiet"])
    study = read_study(file)
    for name in (*study.parts, *study.options):
        PARTS.get(name)
    dataset = add_baselines(_dataset(study, options))
    clock.tell("data and baselines")
    found = study.study.run(dataset)
    clock.tell("correlations with intervals")
    view = View(study, found, *_printed(study, options["data"], dataset))
    sections = []
    for section, timed in make_sections(view):
        clock.tell(timed.part, "" if section else "nothing to show")
        sections += [section] if section else []
    path = write_report(view, output, sections)
    clock.tell("page, tables and figures")
    clock.total()
    click.echo(path)


class _Clock:
    """Says on stderr how long each part took."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._started = self._last = time.perf_counter()

    def tell(self, part: str, note: str = "") -> None:
        now = time.perf_counter()
        self._say(f"{part:28} {now - self._last:6.2f} s  {note}".rstrip())
        self._last = now

    def total(self) -> None:
        self._say(f"{'in all':28} {time.perf_counter() - self._started:6.2f} s")

    def _say(self, words: str) -> None:
        if not self._quiet:
            click.echo(words, err=True)


def _dataset(study: StudyFile, options: dict[str, Any]) -> Dataset:
    from fabula.cli._dataset import open_dataset
    from fabula.datasets import DATASETS

    path = options["path"]
    if path is None and options["data"] and study.dataset in DATASETS:
        path = options["data"] / "data" / study.dataset
    given = {"source": study.dataset, "path": path, "partial": options["partial"]}
    dataset = open_dataset({**given, "gold": None, "column": (), "lower": None})
    if not len(dataset.ratings):
        raise InputError(
            f"{study.dataset} has choices between stories, and a study needs ratings",
            f"run: fabula meta {study.dataset}",
        )
    return dataset


def _printed(
    study: StudyFile, data: Path | None, dataset: Dataset
) -> tuple[list[PrintedValue], Mapping[str, Any]]:
    from fabula.replication.hanna import read_printed, replicate

    path = data / study.printed if data and study.printed else None
    if not path or not path.is_file():
        return [], {}
    printed = read_printed(path)
    return list(replicate(dataset, printed)), printed.tables
