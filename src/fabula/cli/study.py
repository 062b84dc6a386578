"""`fabula study`: a study file in, a report out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._options import DATA, OVERWRITE, PARTIAL, QUIET, output_option, path_option
from fabula.core.errors import InputError, SettingError, UserError

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset


@click.group("study", short_help="Run a study that a TOML file declares.")
def command() -> None:
    """Studies: which scorers are held against which ratings, as a TOML file."""


@command.command("run", short_help="Run a study and write its report.")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@output_option(metavar="FOLDER", help="Folder for the report, its tables and figures.")
@path_option()
@DATA
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help="Of a study of kind storyer, run this analysis only; may be repeated.",
)
@PARTIAL
@OVERWRITE
@QUIET
def run(
    file: Path,
    *,
    output: Path | None,
    path: Path | None,
    data: Path | None,
    only: tuple[str, ...],
    partial: bool,
    overwrite: bool,
    quiet: bool,
) -> None:
    """Run a study and write its report: one HTML file, its tables and figures beside it.

    A file with kind = "storyer" runs the analyses that it lists; without -o they are printed.
    """
    from fabula.core.files import refuse_foreign
    from fabula.meta.study import study_kind
    from fabula.reports.study_page import STUDY_PAGE

    if output:
        # Now, and not when all has been computed.
        refuse_foreign(output, [STUDY_PAGE], inputs=[file], overwrite=overwrite)
    if study_kind(file) == "storyer":
        _run_storyer(file, output, data=data, only=only, overwrite=overwrite, quiet=quiet)
    elif output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    elif only:
        raise SettingError("--only is for studies of kind storyer", "set parts in the file")
    else:
        own: Any = {"path": path, "data": data, "partial": partial, "overwrite": overwrite}
        _run_ratings(file, output, **own, clock=_Clock(quiet))


def _run_ratings(
    file: Path,
    output: Path,
    *,
    path: Path | None,
    data: Path | None,
    partial: bool,
    overwrite: bool,
    clock: _Clock,
) -> None:
    """Run a study of scorers beside ratings."""
    from fabula.cli import show_progress
    from fabula.datasets import printed_below
    from fabula.meta.study import read_study
    from fabula.replication.hanna.publication import read_publication
    from fabula.reports.parts import find_part
    from fabula.reports.study import make_sections, write_report
    from fabula.reports.study_view import View
    from fabula.scoring.evaluate import add_baselines

    study = read_study(file)
    for name in (*study.parts, *study.options):
        find_part(name)
    dataset = add_baselines(_open_dataset(study.dataset, path, data, partial=partial))
    clock.tell("data and baselines")
    result = study.study.run(dataset, show_progress("tables"))
    clock.tell("correlations with intervals")
    publication = None
    if study.printed:
        publication = read_publication(data and printed_below(data, study.printed), dataset)
        clock.tell("printed values")
    view = View(study, result, publication)
    sections = []
    for section, timed in make_sections(view):
        clock.tell(timed.part, "" if section else "nothing to show")
        sections += [section] if section else []
    page = write_report(view, output, sections, inputs=[file], overwrite=overwrite)
    clock.tell("page, tables and figures")
    clock.total()
    echo(page)


def _open_dataset(name: str, path: Path | None, data: Path | None, *, partial: bool) -> Dataset:
    from fabula.datasets import DATASETS, datasets_below
    from fabula.scoring.sources import DatasetSource

    if path is None and data and name in DATASETS:
        path = datasets_below(data) / name
    dataset = DatasetSource(name, path, partial).load()
    if not len(dataset.ratings):
        raise InputError(
            f"{name} has choices between stories, and a study needs ratings",
            f"run: fabula meta {name}",
        )
    return dataset


def _run_storyer(
    file: Path,
    output: Path | None,
    *,
    data: Path | None,
    only: tuple[str, ...],
    overwrite: bool,
    quiet: bool,
) -> None:
    """Run the analyses of a StoryER study; write the report into a folder, or print it."""
    from fabula.replication.storyer.material import Material
    from fabula.replication.storyer.report import analyses_text, write_analyses
    from fabula.replication.storyer.study import choose_analyses, read_storyer_study, run_analyses

    study = read_storyer_study(file)
    if only:
        study = choose_analyses(study, only)
    report = (lambda line: None) if quiet else (lambda line: echo(line, err=True))
    material = Material(data, study.seed, study.resamples, report)
    findings = list(run_analyses(study, material))
    if all(finding.needs for finding in findings):
        raise UserError(f"no analysis could be run: {findings[0].needs}", "see the lines above")
    echo(analyses_text(findings), err=output is not None)
    if output is not None:
        echo(write_analyses(study, findings, output, inputs=[file], overwrite=overwrite))


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
            echo(words, err=True)
