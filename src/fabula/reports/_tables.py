"""The tables of a report as files: CSV for programs, LaTeX for papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.card import ARROWS
from fabula.core.files import write_text
from fabula.core.score import Status
from fabula.core.table import without_halves
from fabula.reports.numbers import interval_text, number_text
from fabula.reports.run_data import ReportData
from fabula.reports.standings import Standings
from fabula.reports.tables import (
    Cell,
    Table,
    TableColumn,
    Tone,
    latex_table,
    records_csv,
    table_csv,
)


@dataclass(frozen=True)
class StatusRow:
    """How many stories got a status from a scorer, and the first note that says why."""

    scorer: str
    status: str
    count: int
    note: str


def status_rows(data: ReportData) -> list[StatusRow]:
    """What every scorer left out, then what it read only in part."""
    summary = data.summary
    missing = [
        StatusRow(scorer, status, count, summary.notes[scorer, status])
        for (scorer, status), count in sorted(summary.left_out().items())
    ]
    least: dict[str, float] = {}
    for (scorer, _), cells in summary.cells.items():
        coverage = min((cell.coverage for cell in cells.values() if cell.count), default=1.0)
        least[scorer] = min(coverage, least.get(scorer, 1.0))
    parts = [
        StatusRow(scorer, str(Status.OK), _scored(data, scorer), _part(coverage))
        for scorer, coverage in least.items()
        if coverage < 1
    ]
    return missing + parts


def _part(coverage: float) -> str:
    return f"some stories were read in part; the least share was {coverage:.2f}"


def _scored(data: ReportData, scorer: str) -> int:
    return max(
        sum(cell.count for cell in cells.values())
        for (one, _), cells in data.summary.cells.items()
        if one == scorer
    )


def write_tables(folder: Path, data: ReportData, standings: Standings) -> None:
    """Write every table of the report as CSV and LaTeX into a folder."""
    statuses = Table(
        ["scorer", "status", "stories", TableColumn("first note", prose=True)],
        [[row.scorer, row.status, row.count, row.note] for row in status_rows(data)],
    )
    signatures = Table(
        ["metric", TableColumn("signature", prose=True)],
        [[metric["spec"], metric["signature"]] for metric in data.metrics],
    )
    write_table(folder, "systems", systems_table(standings), system_records(standings))
    write_table(folder, "statuses", statuses)
    write_table(folder, "signatures", signatures)


def write_table(
    folder: Path, name: str, table: Table, records: Sequence[dict[str, Any]] | None = None
) -> None:
    """Write a table as `name`.csv for programs and `name`.tex for papers.

    Where `records` are given, the CSV holds them and not the table.
    """
    rows = table_csv(table) if records is None else records_csv(records)
    write_text(folder / f"{name}.csv", without_halves(f"{rows}\n"))
    write_text(folder / f"{name}.tex", without_halves(f"{latex_table(table)}\n"))


def system_records(standings: Standings) -> list[dict[str, Any]]:
    """Give the main table as one record per system and column."""
    records = []
    for place, system in enumerate(standings.systems):
        for number, column in enumerate(standings.columns):
            mean = standings.estimates[place, number]
            records.append(
                {
                    "system": system,
                    "scorer": column.scorer,
                    "aspect": column.aspect,
                    "direction": column.direction,
                    "family": column.family,
                    "mean": mean.value,
                    "low": mean.low,
                    "high": mean.high,
                    "scored": mean.n,
                    "left_out": int(standings.left_out[place, number]),
                    "best": int(standings.best[number] == place),
                }
            )
    return records


def systems_table(standings: Standings) -> Table:
    """Give the main table for papers: metrics × systems, the best in bold."""
    columns = standings.columns
    firsts = [number for number, column in enumerate(columns) if column.is_baseline][:1]
    return Table(
        ["metric", TableColumn("", align="left"), *(name or "all" for name in standings.systems)],
        [
            [column.label, ARROWS[column.direction], *_cells(standings, number)]
            for number, column in enumerate(columns)
        ],
        notes=["mean and 95 % bootstrap interval; bold: the interval is better than every other"],
        rules=[number for number in firsts if number],
    )


def _cells(standings: Standings, number: int) -> list[Cell]:
    """Write a column's means with their intervals, system by system."""
    decimals, cells = standings.decimals(number), []
    for place in range(len(standings.systems)):
        mean = standings.estimates[place, number]
        tone: Tone = "good" if standings.best[number] == place else ""
        aside = interval_text(*mean.interval, decimals)
        cells.append(Cell(mean.value, number_text(mean.value, decimals), tone, aside=aside))
    return cells
