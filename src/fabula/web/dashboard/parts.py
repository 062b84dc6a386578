"""What a part of the dashboard is: words, a chart drawn for wide and narrow pages, a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from fabula.reports.figures.drawing import NARROW, make_standalone, shorten_names
from fabula.reports.numbers import number_text
from fabula.reports.tables import Cell, Table, records_csv, table_csv
from fabula.studio.printed import PrintedFigures, PrintedMean
from fabula.studio.quality import RATED
from fabula.studio.ratings import QUESTIONS

WIDE = 860
RATINGS = tuple(QUESTIONS[aspect].title for aspect in RATED)
MEASURES = {"precision": "precision", "recall": "recall", "f": "F"}
# Longer tables are behind a fold.
_OPEN_ROWS = 14


@dataclass(frozen=True)
class Part:
    """A part of the page, and of what can be downloaded: `name`.svg and `name`.csv.

    `draw` makes the chart at a width; a part that has nothing to show says why in `missing`.
    `records` are what the CSV holds where the table is laid out for people.
    """

    name: str
    title: str
    words: str = ""
    table: Table | None = None
    records: Sequence[Mapping[str, Any]] | None = None
    draw: Callable[[int], str] | None = None
    missing: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def wide(self) -> Markup:
        """The chart for a desk."""
        return Markup(self.draw(WIDE)) if self.draw else Markup("")

    @cached_property
    def narrow(self) -> Markup:
        """The chart for a phone."""
        return Markup(self.draw(NARROW)) if self.draw else Markup("")

    @property
    def is_long(self) -> bool:
        """Whether the table is better folded."""
        return self.table is not None and (bool(self.draw) or len(self.table.rows) > _OPEN_ROWS)

    def write_svg(self) -> str:
        """The chart as a file of its own."""
        return make_standalone(str(self.wide))

    def write_csv(self) -> str:
        """The numbers as a file."""
        if self.records is not None:
            return records_csv(self.records) + "\n"
        return table_csv(self.table) + "\n" if self.table else "\n"


def call_models(names: Iterable[str], width: int) -> dict[str, str]:
    """What models are called in a chart of a width; whole names are in the table beside it."""
    return shorten_names(names, 0.29 * min(width, 650))


def list_printed(printed: PrintedFigures | None, label: str) -> list[PrintedMean]:
    """Printed means of a quality: one of each system, that of the table that tells how many."""
    if printed is None:
        return []
    found = [mean for mean in printed.means if mean.quality == label]
    best = {mean.system: mean for mean in sorted(found, key=lambda mean: mean.n is not None)}
    return list(best.values())


def call_printed(system: str) -> str:
    """What a system of the paper is called among ours."""
    return f"STORIUM {system}"


def is_rating(label: str) -> bool:
    """Whether a quality is a rating, from 1 to 5; all others are shares, shown as per cent."""
    return label in RATINGS


def scale_of(label: str) -> float:
    """By what values of a quality are multiplied to be shown."""
    return 1.0 if is_rating(label) else 100.0


def decimals_of(label: str) -> int:
    """Decimals that a quality is shown with."""
    return 2 if is_rating(label) else 1


def number_cell(value: float, decimals: int, why: str = "", **other: Any) -> Cell:
    """A number, or a dash and why there is none."""
    if math.isfinite(value):
        return Cell(value, number_text(value, decimals), **other)
    return Cell(math.nan, number_text(value), tone="quiet", aside=why)


def say_missing(n: int, games: int = 0) -> str:
    """Say why there is no interval, or no number at all."""
    if n < 2:
        return "no value" if n == 0 else "one value"
    if games >= 5:
        return "all alike"
    return f"{games} game{'' if games == 1 else 's'}, 5 are needed"
