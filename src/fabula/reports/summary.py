"""The summary of a run as a table to print: metrics × systems, oriented, left-outs named."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabula.core.card import ARROWS, Direction
from fabula.core.score import Summary, SummaryCell
from fabula.core.table import json_text
from fabula.reports.numbers import decimals_for, number_text
from fabula.reports.tables import Cell, Table, TableColumn, render, without_halves


@dataclass(frozen=True)
class Line:
    """One row of the table: a scorer and aspect, and a cell per system."""

    scorer: str
    aspect: str
    direction: Direction
    cells: tuple[SummaryCell | None, ...]

    @property
    def label(self) -> str:
        """Scorer, aspect and the direction's sign."""
        return f"{self.scorer} {self.aspect}".strip()

    def best(self) -> int | None:
        """Place of the best system, if the direction knows one and it is alone."""
        means = [cell.mean if cell and cell.count else None for cell in self.cells]
        known = [mean for mean in means if mean is not None]
        if self.direction == "descriptive" or len(known) < 2:
            return None
        wanted = max(known) if self.direction == "higher" else min(known)
        return means.index(wanted) if known.count(wanted) == 1 else None


def summary_lines(summary: Summary, directions: Mapping[str, Direction]) -> list[Line]:
    """Give the rows of the table, in the order of the scorers."""
    return [
        Line(scorer, aspect, directions[scorer], tuple(map(cells.get, summary.systems)))
        for (scorer, aspect), cells in summary.cells.items()
    ]


def left_out_words(summary: Summary) -> list[str]:
    """Say in words what the means leave out."""
    return [
        f"{scorer}: {count:,} left out, {status} ({summary.notes[scorer, status]})"
        for (scorer, status), count in sorted(summary.left_out().items())
    ]


def render_summary(
    form: str, summary: Summary, directions: Mapping[str, Direction], record: dict[str, Any]
) -> str:
    """Write the summary in one of `FORMS`."""
    if form == "json":
        return without_halves(json_text(record, indent=2))
    signatures = {metric["spec"]: metric["signature"] for metric in record["metrics"]}
    records = [row | {"signature": signatures[row["scorer"]]} for row in summary.rows()]
    if form == "csv":
        records = [row | {"why": json.dumps(row["why"])} for row in records]
    shorts = " ".join(metric["short_signature"] for metric in record["metrics"])
    notes = [f"  * {words}" for words in left_out_words(summary)]
    table = Table(
        ["metric", TableColumn("", align="left"), *(system or "all" for system in summary.systems)],
        [
            [line.label, ARROWS[line.direction], *_cells(line)]
            for line in summary_lines(summary, directions)
        ],
        notes=[] if form == "latex" else [*notes, Cell(f"signatures: {shorts}", tone="quiet")],
        comments=list(signatures.values()),
    )
    return render(form, records, [table], {})


def _cells(line: Line) -> list[Cell]:
    means = [cell.mean if cell else math.nan for cell in line.cells]
    decimals, best = decimals_for(means), line.best()
    return [
        Cell(
            mean,
            number_text(mean, decimals) + "*" * bool(cell and cell.count and cell.left_out),
            "good" if place == best else "",
        )
        for place, (mean, cell) in enumerate(zip(means, line.cells, strict=True))
    ]
