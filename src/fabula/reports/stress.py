"""A stress test as a table to print: metrics × perturbations, and the worst findings in words."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from fabula.core.card import ARROWS
from fabula.core.table import HALVES, json_text
from fabula.reports.stress_words import stress_words
from fabula.reports.summary import latex_text
from fabula.scoring.stress import StressResult
from fabula.scoring.stress_moves import (
    BLIND,
    DOWN,
    NOTICES,
    PREFERS,
    STILL,
    TOO_FEW,
    UNMOVED,
    UP,
    Move,
)

_SIGNS = {NOTICES: "▼", PREFERS: "▲", UP: "↑", DOWN: "↓"}
_WIDTH = 100
_QUIET = (BLIND, STILL, UNMOVED)
_COLOURS = {NOTICES: "green", PREFERS: "bold red", UP: "cyan", DOWN: "cyan"}
_KEY = (
    "▼ notices: thinks the broken text worse.  ▲ prefers the broken text.  ↑ ↓ moves, without a "
    "better way.  ! moved by a control.  Numbers are standard deviations of the metric over the "
    "original stories; without a sign nothing was found, · did not move at all, – too few stories."
)


def render_stress(form: str, result: StressResult) -> str:
    """Write a stress test as table, json, jsonl, csv or latex."""
    writers: dict[str, Callable[[StressResult], str]] = {
        "table": _table, "json": _json, "jsonl": _jsonl, "csv": _csv, "latex": _latex,
    }  # fmt: skip
    return writers[form](result).encode("utf-8", HALVES).decode()


def move_cell(move: Move) -> str:
    """Write a move as a sign and its size."""
    if move.verdict == TOO_FEW:
        return "–"
    if move.verdict in _QUIET:
        return _size(move) if move.move else "·"
    return _SIGNS.get(move.verdict, "!") + _size(move).lstrip(
        "+−" if move.expected == "worse" else ""
    )


def _size(move: Move) -> str:
    size = move.standardised
    if math.isnan(size):
        return "?"
    text = f"{size:+.2f}" if abs(size) < 9.995 else f"{size:+.1f}"
    return text.replace("-", "−")


def _lines(result: StressResult) -> list[list[Move]]:
    """Give the moves metric by metric, in the order of the perturbations."""
    width = len(result.perturbations)
    return [list(result.moves[at : at + width]) for at in range(0, len(result.moves), width)]


def _head(line: Sequence[Move]) -> str:
    missing = any(one.left_out for one in line)
    return f"{line[0].label} {ARROWS[line[0].direction]}{'*' * missing}"


def _tally(result: StressResult) -> list[str]:
    """Count by perturbation the metrics that notice it, or that a control moves."""
    cells = []
    for place, kind in enumerate(result.perturbations):
        column = [line[place] for line in _lines(result) if line[place].verdict != TOO_FEW]
        if kind.expected == "worse":
            column = [one for one in column if one.direction != "descriptive"]
            hits = sum(one.verdict == NOTICES for one in column)
        else:
            hits = sum(one.alarming for one in column)
        cells.append(f"{hits}/{len(column)}")
    return cells


def _table(result: StressResult) -> str:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, show_footer=True)
    table.add_column("metric", "noticed, or moved, by", overflow="fold")
    for kind, count in zip(result.perturbations, _tally(result), strict=True):
        name = kind.name.replace("_", "\n")
        table.add_column(name, count, justify="right", no_wrap=True)
    for line in _lines(result):
        table.add_row(escape(_head(line)), *map(_coloured, line))
    console = Console(file=io.StringIO(), width=_WIDTH, force_terminal=_colour())
    console.print(f"{result.stories:,} stories, perturbed", highlight=False)
    console.print(table, end="")
    for words in [_KEY, *stress_words(result)]:
        console.print(words, markup=False, highlight=False)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(map(str.rstrip, text.splitlines()))


def _coloured(move: Move) -> str:
    if move.alarming:
        return f"[bold red]{move_cell(move)}[/]"
    return f"[{_COLOURS.get(move.verdict, 'dim')}]{move_cell(move)}[/]"


def _colour() -> bool:
    import os
    import sys

    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _signed_rows(result: StressResult) -> list[dict[str, Any]]:
    signatures = {metric.spec: metric.signature() for metric in result.metrics}
    return [row | {"signature": signatures[row["scorer"]]} for row in result.rows()]


def _json(result: StressResult) -> str:
    record = {
        "stories": result.stories,
        "seed": result.seed,
        "share": result.share,
        "perturbations": [
            {
                "name": kind.name,
                "expected": kind.expected,
                "does": kind.does,
                "unit": kind.unit,
                "share": _share_of(result, place),
                "applied": len(result.copies.of[kind.name]),
            }
            for place, kind in enumerate(result.perturbations)
        ],
        "procedure": asdict(result.procedure),
        "tests": result.tests,
        "words": stress_words(result),
        "rows": _signed_rows(result),
    }
    return json_text(record, indent=2)


def _share_of(result: StressResult, place: int) -> float | None:
    kind = result.perturbations[place]
    if not kind.unit:
        return None
    return kind.share if result.share is None else result.share


def _jsonl(result: StressResult) -> str:
    return "\n".join(json_text(row) for row in _signed_rows(result))


def _csv(result: StressResult) -> str:
    rows = _signed_rows(result)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


_LATEX_SIGNS = {
    "▼": r"$\blacktriangledown$", "▲": r"$\blacktriangle$", "↑": r"$\uparrow$",
    "↓": r"$\downarrow$", "·": r"$\cdot$", "–": "--", "−": "$-$", "+": "$+$",
}  # fmt: skip


def _latex(result: StressResult) -> str:
    names = [latex_text(kind.name.replace("_", " ")) for kind in result.perturbations]
    rows = [[_head(line), *map(move_cell, line)] for line in _lines(result)]
    signatures = [metric.signature() for metric in result.metrics]
    lines = [
        *(f"% {words}" for words in [*signatures, *stress_words(result), "needs amssymb"]),
        rf"\begin{{tabular}}{{l{'r' * len(names)}}}",
        r"\toprule",
        " & ".join(["Metric", *names]) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in rows),
        r"\midrule",
        " & ".join(["Noticed by", *_tally(result)]) + r" \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _latex_cell(text: str) -> str:
    return "".join(_LATEX_SIGNS.get(char) or latex_text(char) for char in text)
