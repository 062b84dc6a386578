"""What a study report is made of: words, tables, figures, tabs and an explorer of stories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.reports.run_data import ReportColumn
from fabula.reports.tables import Cell, Table, TableColumn, Value

Array = np.ndarray[Any, np.dtype[Any]]
_NAME = re.compile(r"[\w.-]+")


@dataclass(frozen=True)
class Words:
    """Paragraphs of plain text; **bold** and `code` are the only marks."""

    paragraphs: Sequence[str]


@dataclass(frozen=True)
class TableBlock:
    """A table whose heads sort; also written as tables/`name`.csv and .tex.

    `decimals` is one number for all columns or one for each (None: as the number is written). Of a
    table with intervals `records` are what the CSV holds: each end of one in a column.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell | Value]]
    name: str
    note: str = ""
    decimals: int | Sequence[int | None] | None = None
    records: Sequence[Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        """Refuse rows that do not fit the columns, and names that are no file's."""
        _check_name(self.name)
        for number, row in enumerate(self.rows, 1):
            if len(row) != len(self.columns):
                raise ValueError(
                    f"table {self.name!r}: row {number} has {len(row)} cells for "
                    f"{len(self.columns)} columns"
                )

    @cached_property
    def table(self) -> Table:
        """The table, to be written in any form."""
        each = self.decimals
        decimals = each if isinstance(each, Sequence) else [each] * len(self.columns)
        columns = [TableColumn(*column) for column in zip(self.columns, decimals, strict=True)]
        return Table(columns, self.rows, self.title)


@dataclass(frozen=True)
class FigureBlock:
    """A figure; also written as figures/`name`.svg. `note` is its caption.

    `narrow` is the same drawn for a phone, where the figure would be too small to be read.
    """

    title: str
    svg: str
    name: str
    note: str = ""
    alt: str = ""
    narrow: str = ""

    def __post_init__(self) -> None:
        """Refuse names that are no file's."""
        _check_name(self.name)


@dataclass(frozen=True)
class ScatterBlock:
    """Stories as points, by a metric and what people say; a point opens its story.

    `coefficients` are to be shown for a column's label and an aspect; `about` says what they
    are over. `metric` (a column's label) and `aspect` are those shown first.
    """

    title: str
    note: str = ""
    coefficients: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)
    about: str = "over all stories"
    metric: str = ""
    aspect: str = ""


@dataclass(frozen=True)
class TabsBlock:
    """Blocks of which one is shown at a time, by label."""

    title: str
    panels: Mapping[str, Block]
    note: str = ""


Block = Words | TableBlock | FigureBlock | ScatterBlock | TabsBlock


@dataclass(frozen=True)
class Section:
    """A part of the page that its navigation leads to."""

    id: str
    title: str
    blocks: Sequence[Block]

    def __post_init__(self) -> None:
        """Refuse an id that cannot stand in an address."""
        _check_name(self.id)


@dataclass(frozen=True)
class StudyStories:
    """Stories with scores and ratings, for points and for reading.

    `values` are stories × columns, NaN where missing. Ratings are scores of people; the gold of
    a story is their mean by aspect.
    """

    stories: Sequence[Story]
    columns: Sequence[ReportColumn]
    values: Array
    ratings: Sequence[Score]


def blocks_of(sections: Sequence[Section]) -> Iterator[Block]:
    """Every block of the sections, those inside tabs too."""
    todo: list[Block] = [block for section in sections for block in section.blocks]
    while todo:
        block = todo.pop(0)
        yield block
        if isinstance(block, TabsBlock):
            todo = [*block.panels.values(), *todo]


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a file: letters, digits, '_', '.' and '-' can")
