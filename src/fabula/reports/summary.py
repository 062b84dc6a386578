"""The summary of a run as a table to print: metrics × systems, oriented, left-outs named."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabula.core.card import ARROWS, Direction
from fabula.core.score import Summary, SummaryCell
from fabula.core.table import json_text, without_halves
from fabula.reports.numbers import decimals_for, number_text
from fabula.reports.tables import Cell, Table, TableColumn, Tone, render

if TYPE_CHECKING:
    from fabula.reports.standings import Standings

_UNMARKED = "No system is marked as the best: there are too many stories to hold for intervals."


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
    form: str,
    summary: Summary,
    directions: Mapping[str, Direction],
    record: dict[str, Any],
    standings: Standings | None = None,
) -> str:
    """Write the summary in one of `FORMS`.

    The standings say which systems are best; without them none is, and a table says so.
    """
    if form == "json":
        return without_halves(json_text(record, indent=2))
    signatures = {metric["spec"]: metric["signature"] for metric in record["metrics"]}
    records = [row | {"signature": signatures[row["scorer"]]} for row in summary.rows()]
    if form == "csv":
        records = [row | {"why": json.dumps(row["why"])} for row in records]
    shorts = " ".join(metric["short_signature"] for metric in record["metrics"])
    left_out = [f"  * {words}" for words in left_out_words(summary)]
    quoted = Cell(f"signatures: {shorts}", tone="quiet")
    best = standings.best_cells if standings else set()
    unmarked = [] if standings or len(summary.systems) < 2 else [_UNMARKED]
    table = Table(
        ["metric", TableColumn("", align="left"), *(system or "all" for system in summary.systems)],
        [
            [line.label, ARROWS[line.direction], *_cells(line, summary.systems, best)]
            for line in summary_lines(summary, directions)
        ],
        notes=unmarked if form == "latex" else [*left_out, *unmarked, quoted],
        comments=list(signatures.values()),
        lead=2,
        across="system",
    )
    return render(form, records, [table], {})


def _cells(
    line: Line, systems: Sequence[str], best: Collection[tuple[str, str, str]]
) -> list[Cell]:
    means = [cell.mean if cell else math.nan for cell in line.cells]
    decimals, cells = decimals_for(means), []
    for system, mean, cell in zip(systems, means, line.cells, strict=True):
        text = number_text(mean, decimals) + "*" * bool(cell and cell.count and cell.left_out)
        tone: Tone = "good" if (line.scorer, line.aspect, system) in best else ""
        cells.append(Cell(mean, text, tone))
    return cells
