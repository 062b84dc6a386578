"""The tables of a report as files: CSV for programs, LaTeX for papers."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.score import Status
from fabula.core.table import HALVES
from fabula.reports._report_data import ReportData
from fabula.reports._standings import Standings
from fabula.reports.summary import latex_text

_SIGNS = {"higher": r"$\uparrow$", "lower": r"$\downarrow$", "descriptive": "--"}


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
    folder.mkdir(parents=True, exist_ok=True)
    statuses = [["scorer", "status", "stories", "first note"]]
    statuses += [[row.scorer, row.status, str(row.count), row.note] for row in status_rows(data)]
    signatures = [["metric", "signature"]]
    signatures += [[one["spec"], one["signature"]] for one in data.metrics]
    write_csv(folder / "systems.csv", system_rows(standings))
    write_text(folder / "systems.tex", systems_latex(standings))
    for name, rows in (("statuses", statuses), ("signatures", signatures)):
        write_csv(folder / f"{name}.csv", rows)
        write_text(folder / f"{name}.tex", _plain_latex(rows))


def system_rows(standings: Standings) -> list[list[Any]]:
    """Write the main table as one row per system and column, under a row of names."""
    head = "system scorer aspect direction family mean low high scored left_out best".split()
    rows: list[list[Any]] = [head]
    for place, system in enumerate(standings.systems):
        for number, column in enumerate(standings.columns):
            ends = (standings.mean, standings.low, standings.high)
            facts = [system, column.scorer, column.aspect, column.direction, column.family]
            numbers = [_or_empty(float(end[place, number])) for end in ends]
            counts = [int(standings.scored[place, number]), int(standings.left_out[place, number])]
            rows.append([*facts, *numbers, *counts, int(standings.best[number] == place)])
    return rows


def _or_empty(value: float) -> float | str:
    return value if math.isfinite(value) else ""


def systems_latex(standings: Standings) -> str:
    """Write the main table with booktabs: metrics × systems, the best in bold."""
    names = [latex_text(system or "all") for system in standings.systems]
    lines = [
        "% mean and 95 % bootstrap interval; bold: the interval is better than every other",
        rf"\begin{{tabular}}{{ll{'r' * len(names)}}}",
        r"\toprule",
        " & ".join(["Metric", "", *names]) + r" \\",
        r"\midrule",
    ]
    for number, column in enumerate(standings.columns):
        if column.is_baseline and number and not standings.columns[number - 1].is_baseline:
            lines.append(r"\midrule")
        cells = [_latex_cell(standings, place, number) for place in range(len(names))]
        lines.append(
            " & ".join([latex_text(column.label), _SIGNS[column.direction], *cells]) + r" \\"
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n"


def _latex_cell(standings: Standings, place: int, number: int) -> str:
    mean, low, high = (
        standings.number(float(end[place, number]), number)
        for end in (standings.mean, standings.low, standings.high)
    )
    shown = rf"\textbf{{{mean}}}" if standings.best[number] == place else mean
    interval = rf" {{\scriptsize [{low}, {high}]}}" if low != "–" else ""
    return (shown + interval).replace("–", "--")


def _plain_latex(rows: Sequence[Sequence[str]]) -> str:
    """Write rows of words, the last column as wide as the line allows."""
    head, *rest = [" & ".join(map(latex_text, row)) + r" \\" for row in rows]
    shape = "l" * (len(rows[0]) - 1) + r"p{0.5\linewidth}"
    top = [rf"\begin{{tabular}}{{{shape}}}", r"\toprule", head, r"\midrule"]
    return "\n".join([*top, *rest, r"\bottomrule", r"\end{tabular}"]) + "\n"


def write_csv(path: Path, rows: Iterable[Sequence[Any]]) -> None:
    """Write rows for programs."""
    with path.open("w", encoding="utf-8", errors=HALVES, newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def write_text(path: Path, text: str) -> None:
    """Write text that may hold halves of characters."""
    path.write_text(text, encoding="utf-8", errors=HALVES)
