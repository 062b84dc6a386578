"""What a part of a study report sees: the study file, what was found, and what a paper prints."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid, GridColumn
from fabula.meta.levels import Level, correlation_table
from fabula.meta.resampling import Estimate
from fabula.meta.study import StudyFile, StudyResult
from fabula.reports.study_blocks import Block
from fabula.scoring.study_scores import StudyColumn

COEFFICIENT_NAMES: Mapping[Coefficient, str] = {
    "pearson": "Pearson",
    "spearman": "Spearman",
    "kendall": "Kendall",
    "kendall_c": "Kendall c",
}


@dataclass(frozen=True)
class View:
    """A study's file, its result, and the paper that it is held against, if there is one.

    `columns` are the metrics that were run for the study; `by_references` what those that read
    references say with so many of them.
    """

    file: StudyFile
    result: StudyResult
    publication: Publication | None = None
    columns: Sequence[StudyColumn] = ()
    by_references: Mapping[int, ScoreTable] = field(default_factory=dict)

    @property
    def dataset(self) -> Dataset:
        """The data set."""
        return self.result.dataset

    @property
    def gold(self) -> Grid:
        """Mean ratings."""
        return self.result.gold

    @property
    def metrics(self) -> Grid:
        """Scores, turned so that more is better."""
        return self.result.metrics

    @cached_property
    def raw(self) -> Grid:
        """Scores as they are, of the metrics proper: no baselines."""
        study = replace(self.result.study, sign="raw")
        plain = study.score_grid(self.dataset, self.metrics.layout)
        return plain.select([column for column in plain.columns if not self.is_baseline(column)])

    @property
    def levels(self) -> list[Level]:
        """Levels that the study found anything at; without ratings, those that stories allow."""
        if not self.aspects:
            return self.result.study.levels_of(self.metrics.layout)
        present = {line.level for line in self.result.correlations}
        return [level for level in self.result.study.levels if level in present]

    @property
    def grid_levels(self) -> list[Level]:
        """The levels that go over systems."""
        return [level for level in self.levels if level != "pooled"]

    @property
    def coefficients(self) -> tuple[Coefficient, ...]:
        """Coefficients of correlation of the study; accuracies are none."""
        asked = self.result.study.coefficients
        return tuple(name for name in COEFFICIENT_NAMES if name in asked)

    @property
    def systems(self) -> tuple[str, ...]:
        """Systems that were compared."""
        return self.gold.layout.systems

    @property
    def aspects(self) -> list[str]:
        """Gold aspects."""
        return [column.aspect for column in self.gold.columns]

    @cached_property
    def stems(self) -> dict[str, str]:
        """What the files of every aspect are called: no two alike, and no sign that may not be."""
        stems: dict[str, str] = {}
        for aspect in self.aspects:
            stem = re.sub(r"[^\w.-]+", "_", aspect) or "gold"
            while stem in stems.values():
                stem += "_"
            stems[aspect] = stem
        return stems

    def card(self, column: GridColumn) -> ScorerCard:
        """What is declared about a scorer."""
        return self.dataset.scorers.get(column.scorer, ScorerCard("", "descriptive"))

    def is_baseline(self, column: GridColumn) -> bool:
        """Whether a column is a trivial baseline, and not one that the study itself asks for."""
        asked = any(column.scorer == named.name for named in self.columns)
        return self.card(column).family == "baseline" and not asked

    def numbered(self, name: str, title: str) -> str:
        """Put the number that a paper gives a table or figure before its title, if there is one."""
        number = self.publication.number(name) if self.publication else ""
        return f"{number}. {title}" if number else title

    def options(self, part: str) -> Mapping[str, Any]:
        """What the study file says to a part."""
        return self.file.options.get(part, {})

    def chosen(self, names: Sequence[str], grid: Grid | None = None) -> Grid:
        """Give the columns of some metrics, in that order; those not there are left out."""
        grid = grid or self.metrics
        by_label = {column.label: column for column in grid.columns}
        return grid.select([by_label[name] for name in names if name in by_label])

    @cached_property
    def example_stories(self) -> list[Story]:
        """Stories of the item that `[example]` names, or of the first; none if not asked for."""
        if "example" not in self.file.options:
            return []
        asked, stories = self.options("example"), self.dataset.stories
        first = next((story.item for story in stories if story.item is not None), None)
        item = asked.get("item") or first
        told = [story for story in stories if item is not None and story.item == item]
        systems = asked.get("systems") or [story.system for story in told]
        chosen = [story for story in told if story.system in systems]
        return sorted(chosen, key=lambda story: systems.index(story.system))

    @cached_property
    def selection(self) -> Grid:
        """The smaller choice of metrics that the study file names, or else all."""
        return self.chosen(self.file.selection) if self.file.selection else self.metrics

    def table(self, grid: Grid, level: Level, coefficient: Coefficient) -> Values:
        """Correlations of the columns of a grid with the gold."""
        return correlation_table(grid, self.gold, level=level, coefficient=coefficient)

    @property
    def printed_values(self) -> Sequence[PrintedValue]:
        """Printed values beside ours; none where no paper is held against the study."""
        return self.publication.values if self.publication else ()

    def printed_value(self, name: str, what: str) -> PrintedValue | None:
        """Find the printed value of a row of a table of the report."""
        return self.publication.value(name, what) if self.publication else None

    def paper_blocks(self, part: str) -> list[Block]:
        """Give the paper's own tables that belong below a part; none without a paper."""
        return list(self.publication.blocks(part)) if self.publication else []

    def remarks(self, part: str) -> list[str]:
        """Say what comparing a part with the paper shows; nothing without printed values."""
        return list(self.publication.remarks(part)) if self.publication else []


def column_labels(grid: Grid) -> list[str]:
    """Labels of a grid's columns."""
    return [column.label for column in grid.columns]


def estimate_numbers(estimate: Estimate) -> tuple[float | None, ...]:
    """Give a figure and the ends of its interval for a table; None where undefined."""
    return tuple(known_or_none(number) for number in (estimate.value, *estimate.interval))


def known_or_none(value: float) -> float | None:
    """Give a value for a table: nothing where it is undefined."""
    return value if math.isfinite(value) else None


def level_title(level: Level) -> str:
    """Call a level as a heading."""
    return {"item": "Item level", "system": "System level", "pooled": "Pooled"}[level]


@dataclass(frozen=True)
class PrintedValue:
    """A printed number, ours, and how far apart they may be."""

    table: str
    what: str
    printed: float
    ours: float
    tolerance: float
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether ours is the printed number within the tolerance."""
        return abs(self.ours - self.printed) <= self.tolerance

    def row(self) -> dict[str, Any]:
        """Give a flat row."""
        return {
            "table": self.table,
            "what": self.what,
            "printed": self.printed,
            "ours": self.ours,
            "difference": self.ours - self.printed,
            "holds": self.holds,
            "note": self.note,
        }


class Publication(Protocol):
    """A paper about the data set of a study.

    Tables and figures are named as in the report: `systems`, `ranking_item`, `strongest_system`.
    Without printed values at hand it still knows how its tables are numbered.
    """

    @property
    def values(self) -> Sequence[PrintedValue]:
        """Give every printed value beside ours, table by table."""

    def number(self, name: str) -> str:
        """Give the number of a table or figure, such as `Table 4`; "" if it has none."""

    def value(self, name: str, what: str) -> PrintedValue | None:
        """Find the printed value of a row of a table."""

    def remarks(self, part: str) -> Sequence[str]:
        """Say what comparing a part of the report with the paper shows."""

    def blocks(self, part: str) -> Sequence[Block]:
        """Give the paper's own tables that belong below a part."""
