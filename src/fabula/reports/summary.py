"""The summary of a run as a table to print: metrics × systems, oriented, left-outs named."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.core.card import ARROWS, Direction
from fabula.core.score import Summary, SummaryCell
from fabula.core.table import HALVES, json_text

FORMATS = ("table", "json", "jsonl", "csv", "latex")


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


def render(
    form: str, summary: Summary, directions: Mapping[str, Direction], record: dict[str, Any]
) -> str:
    """Write the summary in one of `FORMATS`."""
    text = _rendered(form, summary, directions, record)
    return text.encode("utf-8", HALVES).decode()


def _rendered(
    form: str, summary: Summary, directions: Mapping[str, Direction], record: dict[str, Any]
) -> str:
    if form == "json":
        return json_text(record, indent=2)
    signatures = {one["spec"]: one["signature"] for one in record["metrics"]}
    rows = [row | {"signature": signatures[row["scorer"]]} for row in summary.rows()]
    if form == "jsonl":
        return "\n".join(json_text(row) for row in rows)
    if form == "csv":
        return _csv(rows)
    lines = summary_lines(summary, directions)
    if form == "latex":
        return _latex(lines, summary.systems, list(signatures.values()))
    shorts = [one["short_signature"] for one in record["metrics"]]
    return _table(lines, summary, shorts)


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    rows = [row | {"why": json.dumps(row["why"])} for row in rows]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def _table(lines: Sequence[Line], summary: Summary, signatures: Sequence[str]) -> str:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("metric", overflow="fold")
    table.add_column("")
    for system in summary.systems:
        table.add_column(escape(system) or "all", justify="right")
    for line in lines:
        best = line.best()
        cells = [
            f"[bold green]{number}[/]" if place == best else number
            for place, number in enumerate(_numbers(line))
        ]
        table.add_row(escape(line.label), ARROWS[line.direction], *cells)
    console = Console(file=io.StringIO(), width=_width(), force_terminal=_colour())
    console.print(table, end="")
    for words in left_out_words(summary):
        console.print(f"  * {words}", markup=False, highlight=False)
    console.print("signatures:", *signatures, markup=False, highlight=False, style="dim")
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text.rstrip("\n")


def _numbers(line: Line) -> list[str]:
    """Means of a line with as many decimals as its largest one deserves."""
    means = [abs(cell.mean) for cell in line.cells if cell and cell.count]
    largest = max(means, default=0.0)
    decimals = 1 if largest >= 100 else 2 if largest >= 10 else 3 if largest >= 1 else 4
    return [
        f"{cell.mean:.{decimals}f}{'*' * bool(cell.left_out)}" if cell and cell.count else "–"
        for cell in line.cells
    ]


def _width() -> int:
    import shutil

    return max(80, shutil.get_terminal_size((120, 24)).columns)


def _colour() -> bool:
    import os
    import sys

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


_LATEX = {c: rf"\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def latex_text(text: str) -> str:
    """Write text so that LaTeX prints it as it is."""
    return "".join(_LATEX.get(char, char) for char in text)


def _latex(lines: Sequence[Line], systems: Sequence[str], signatures: Sequence[str]) -> str:
    signs = {"higher": r"$\uparrow$", "lower": r"$\downarrow$", "descriptive": "--"}
    head = " & ".join(["Metric", "", *(latex_text(system or "all") for system in systems)])
    rows = [
        rf"\begin{{tabular}}{{ll{'r' * len(systems)}}}",
        r"\toprule",
        head + r" \\",
        r"\midrule",
    ]
    for line in lines:
        best = line.best()
        cells = [
            rf"\textbf{{{number}}}" if place == best else number
            for place, number in enumerate(_numbers(line))
        ]
        rows.append(" & ".join([latex_text(line.label), signs[line.direction], *cells]) + r" \\")
    notes = [f"% {signature}" for signature in signatures]
    return "\n".join([*notes, *rows, r"\bottomrule", r"\end{tabular}"]).replace("–", "--")
