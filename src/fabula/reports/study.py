"""The report of a study: the parts that its file names, each made of what was found."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fabula.core.protocols import watch
from fabula.core.table import without_halves
from fabula.meta.study import StudyFile, StudyResult
from fabula.reports.correlations import study_signature
from fabula.reports.parts import WITHOUT_RATINGS, find_part
from fabula.reports.run_data import ReportColumn
from fabula.reports.study_blocks import ScatterBlock, Section, StudyStories, Words, blocks_of
from fabula.reports.study_page import write_study
from fabula.reports.study_view import View
from fabula.reports.tables import records_csv


@dataclass(frozen=True)
class Timed:
    """How long a part took."""

    part: str
    seconds: float


def make_sections(view: View) -> Iterator[tuple[Section | None, Timed]]:
    """Make the parts in the order of the file; one that has nothing to show is None."""
    for name in view.file.parts:
        started = time.perf_counter()
        watch.get().tell(f"making {name}")
        rated = bool(view.aspects) or name in WITHOUT_RATINGS
        section = find_part(name)(view) if rated else None
        yield section, Timed(name, time.perf_counter() - started)


def write_report(
    view: View,
    folder: Path,
    sections: list[Section],
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> Path:
    """Write the page, its tables and figures, and all values, into a folder."""
    explores = any(isinstance(block, ScatterBlock) for block in blocks_of(sections))
    return write_study(
        folder,
        title=view.file.title,
        lead=Words(list(view.file.about)),
        sections=sections,
        stories=study_stories(view) if explores else None,
        facts=_facts(view),
        signatures=[study_signature(view.result)],
        files=_write_rows(view),
        inputs=inputs,
        overwrite=overwrite,
    )


def study_stories(view: View) -> StudyStories:
    """Give the stories that were compared, with scores and ratings."""
    layout = view.metrics.layout
    stories = [story for story in view.dataset.stories if story.id in layout.places]
    raw = dict(zip(view.raw.columns, view.raw.values, strict=True))
    grid = view.metrics
    columns = [
        ReportColumn(
            column.scorer, column.aspect, view.card(column).direction, view.card(column).family
        )
        for column in grid.columns
    ]
    places = [layout.places[story.id] for story in stories]
    items, systems = np.array(places).T
    values = np.stack(
        [
            raw.get(column, turned)[items, systems]
            for column, turned in zip(grid.columns, grid.values, strict=True)
        ],
        axis=1,
    )
    ids = {story.id for story in stories}
    ratings = [rating for rating in view.dataset.ratings if rating.story in ids]
    return StudyStories(stories, columns, values, ratings)


def _write_rows(view: View) -> dict[str, str]:
    """Write every correlation and every printed value for programs."""
    rows = {
        "tables/correlations.csv": [line.row() for line in view.result.correlations],
        "tables/printed.csv": [value.row() for value in view.printed_values],
    }
    return {
        name: without_halves(f"{records_csv(lines)}\n") for name, lines in rows.items() if lines
    }


def _facts(view: View) -> dict[str, str | int]:
    items, systems = view.metrics.layout.shape
    return {
        "stories": len(view.metrics.layout.places),
        "items": items,
        "systems": systems,
        "metrics": len(view.raw.columns),
        "baselines": len(view.metrics.columns) - len(view.raw.columns),
        "aspects": len(view.aspects),
        "ratings": len(view.dataset.ratings),
    }


def write_plain_study(
    result: StudyResult, folder: Path, *, inputs: Iterable[Path] = (), overwrite: bool = False
) -> Path:
    """Write the usual report of a data set that has no study file."""
    file = StudyFile(f"{result.dataset.name}: metrics and ratings", result.dataset.name)
    view = View(file, result)
    sections = [section for section, _ in make_sections(view) if section]
    return write_report(view, folder, sections, inputs=inputs, overwrite=overwrite)
