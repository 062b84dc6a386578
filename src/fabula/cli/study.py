"""`fabula study`: a study file in, a report out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabula.cli import echo
from fabula.cli._inputs import PARTIAL, path_option
from fabula.cli._options import DATA, OVERWRITE, QUIET, output_option
from fabula.core.errors import InputError, SettingError, UserError

if TYPE_CHECKING:
    from fabula.core.dataset import Dataset
    from fabula.meta.study import StudyFile
    from fabula.replication.analyses import AnalysesStudy, Reporting
    from fabula.reports.study_view import Publication
    from fabula.scoring.study_scores import ScoredStudy, StudyColumn


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
    help="Of a study of kind storyer or storium, run this analysis only; may be repeated.",
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

    Without -o it goes where the file says. A file with kind = "storyer" or "storium" runs the
    analyses that it lists; without -o they are printed.
    """
    from fabula.core.files import refuse_foreign
    from fabula.meta.study import KINDS, read_study, study_kind
    from fabula.reports.study_page import STUDY_PAGE

    kind = study_kind(file)
    has_ratings = kind == KINDS[0]
    if output is None and has_ratings and (beside := read_study(file).report):
        output = file.parent / beside
    if output:
        # Now, and not when all has been computed.
        refuse_foreign(output, [STUDY_PAGE], inputs=[file], overwrite=overwrite)
    if not has_ratings:
        places: Any = {"data": data, "path": path}
        how: Any = {"only": only, "overwrite": overwrite, "quiet": quiet}
        _run_analyses(file, output, kind=kind, **places, **how)
    elif output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    elif only:
        kinds = " or ".join(KINDS[1:])
        raise SettingError(f"--only is for studies of kind {kinds}", "set parts in the file")
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
    from fabula.meta.study import read_study
    from fabula.reports.parts import find_part
    from fabula.reports.study import make_sections, write_report
    from fabula.reports.study_view import View

    study = read_study(file)
    for name in (*study.parts, *study.options):
        find_part(name)
    opened = _open_dataset(study, path, data, partial=partial)
    scored = _score_study(study, opened, clock)
    dataset = scored.dataset
    if len(dataset.ratings):
        result = study.study.run(dataset, show_progress("tables"))
        clock.tell("correlations with intervals")
    else:
        result = study.study.lay_out(dataset)
    publication = _open_publication(study, data, dataset)
    if study.printed:
        clock.tell("printed values")
    view = View(study, result, publication, scored.columns, scored.by_references)
    sections = []
    for section, timed in make_sections(view):
        clock.tell(timed.part, "" if section else "nothing to show")
        sections += [section] if section else []
    page = write_report(view, output, sections, inputs=[file], overwrite=overwrite)
    clock.tell("page, tables and figures")
    clock.total()
    echo(page)


def _score_study(study: StudyFile, dataset: Dataset, clock: _Clock) -> ScoredStudy:
    """Run the metrics of the study and the baselines; say which metric lacks what."""
    from dataclasses import replace

    from fabula.cli import show_progress
    from fabula.scoring.evaluate import add_baselines
    from fabula.scoring.study_scores import score_study

    scored = score_study(study, dataset, cache=True, progress=show_progress("metrics"))
    for column in scored.columns:
        clock.warn(column)
    whole = replace(scored, dataset=add_baselines(scored.dataset))
    clock.tell("data, metrics and baselines" if scored.columns else "data and baselines")
    return whole


def _open_dataset(
    study: StudyFile, path: Path | None, data: Path | None, *, partial: bool
) -> Dataset:
    """Open the data set of a study; without ratings it has to hold stories for metrics."""
    from fabula.datasets import DATASETS, datasets_below
    from fabula.scoring.sources import DatasetSource

    name = study.dataset
    if path is None and data and name in DATASETS:
        path = datasets_below(data) / name
    dataset = DatasetSource(name, path, partial).load(rated=not study.metrics)
    if not len(dataset.ratings) and not study.metrics:
        raise InputError(
            f"{name} has choices between stories, and a study needs ratings",
            f"run: fabula meta {name}",
        )
    return dataset


def _open_publication(study: StudyFile, data: Path | None, dataset: Dataset) -> Publication | None:
    """Open the paper whose figures stand beside; a file of printed values is HANNA's."""
    if study.paper == "rovist":
        from fabula.replication.rovist import RovistPublication

        return RovistPublication()
    if study.paper == "hanna" or study.printed:
        from fabula.datasets import printed_below
        from fabula.replication.hanna.publication import read_publication

        return read_publication(data and printed_below(data, study.printed), dataset)
    return None


def _run_analyses(
    file: Path,
    output: Path | None,
    *,
    kind: str,
    data: Path | None,
    path: Path | None,
    only: tuple[str, ...],
    overwrite: bool,
    quiet: bool,
) -> None:
    """Run the analyses of a paper's study; write the report into a folder, or print it."""
    from fabula.replication.analyses import choose_analyses, run_analyses
    from fabula.replication.findings import analyses_text, write_analyses

    report = (lambda line: None) if quiet else (lambda line: echo(line, err=True))
    if kind == "storium":
        study, material = _open_storium(file, output, data=data, path=path, report=report)
    else:
        study, material = _open_storyer(file, data, report)
    if only:
        study = choose_analyses(study, only)
    findings = list(run_analyses(study, material))
    if all(finding.needs for finding in findings):
        raise UserError(f"no analysis could be run: {findings[0].needs}", "see the lines above")
    echo(analyses_text(findings), err=output is not None)
    if output is not None:
        echo(write_analyses(study, findings, output, inputs=[file], overwrite=overwrite))


def _open_storyer(
    file: Path, data: Path | None, report: Callable[[str], None]
) -> tuple[AnalysesStudy, Reporting]:
    from fabula.replication.analyses import read_analyses
    from fabula.replication.storyer.material import Material
    from fabula.replication.storyer.study import StoryerStudy

    study = read_analyses(StoryerStudy, file)
    return study, Material(data, study.seed, study.resamples, report)


def _open_storium(
    file: Path,
    output: Path | None,
    *,
    data: Path | None,
    path: Path | None,
    report: Callable[[str], None],
) -> tuple[AnalysesStudy, Reporting]:
    from fabula.replication.analyses import read_analyses
    from fabula.replication.storium.study import StoriumStudy, open_experiment

    study = read_analyses(StoriumStudy, file)
    places: Any = {"data": data, "games": path, "output": output}
    return study, open_experiment(study, file, **places, report=report)


class _Clock:
    """Says on stderr how long each part took."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._started = self._last = time.perf_counter()

    def tell(self, part: str, note: str = "") -> None:
        now = time.perf_counter()
        self._say(f"{part:28} {now - self._last:6.2f} s  {note}".rstrip())
        self._last = now

    def warn(self, column: StudyColumn) -> None:
        """Say which stories a metric has no value for, and why."""
        if missing := column.stories - column.scored:
            name = f"{column.name} {column.aspect}".strip()
            self._say(f"{name}: {missing} of {column.stories} without a value: {column.why}")

    def total(self) -> None:
        self._say(f"{'in all':28} {time.perf_counter() - self._started:6.2f} s")

    def _say(self, words: str) -> None:
        if not self._quiet:
            echo(words, err=True)
