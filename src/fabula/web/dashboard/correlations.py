"""The part of the dashboard about qualities: which go together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fabula.reports.figures.drawing import NARROW
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.numbers import coefficient_text, p_text
from fabula.reports.tables import Cell, Table, TableColumn, Tone, Value
from fabula.studio.findings import LEVEL, Correlation
from fabula.studio.printed import PrintedFigures
from fabula.web.dashboard.parts import Part, call_printed, is_rating

_FEWEST = 3


def show_correlations(
    pairs: Sequence[Correlation], labels: Sequence[str], printed: PrintedFigures | None
) -> Part:
    """All pairwise correlations as a heatmap and a table."""
    title = "Which qualities go together"
    defined = [pair for pair in pairs if math.isfinite(pair.r)]
    sure = [pair for pair in pairs if pair.p < LEVEL]
    kept = [pair for pair in pairs if pair.q <= LEVEL]
    told = (
        f"Pearson’s r of all {len(pairs)} pairs, over the suggestions that have both. "
        f"{len(sure)} have p < .05 (bold); {len(kept)} stay at q ≤ .05, the false discovery rate "
        "(Benjamini–Hochberg)."
    )

    def draw(width: int) -> str:
        places = {label: place for place, label in enumerate(labels)}
        matrix = np.full((len(labels), len(labels)), np.nan)
        for pair in pairs:
            left, right = places[pair.left], places[pair.right]
            matrix[left, right] = matrix[right, left] = pair.r
            if math.isfinite(pair.r):
                matrix[left, left] = matrix[right, right] = 1.0
        groups = ["ratings" if is_rating(label) else "kept" for label in labels]
        return draw_heatmap(
            matrix, labels, labels, title="Pearson’s r × 100 of qualities", low=-1, high=1,
            annotate=width > NARROW, row_groups=groups, column_groups=groups,
        )  # fmt: skip

    missing = "" if defined else "No pair of qualities has three suggestions with both, and spread."
    return Part(
        "correlations",
        title,
        told if defined else "",
        _tabulate(pairs, printed),
        _list_pairs(pairs),
        draw if defined else None,
        missing=missing,
        notes=(f"Printed beside: {printed.source}.",) if printed else (),
    )


def explain_undefined(pair: Correlation) -> str:
    """Say why a pair has no coefficient, or no p; nothing where it has both."""
    if math.isnan(pair.r):
        return f"n = {pair.n}" if pair.n < 2 else "one is constant"
    return f"n < {_FEWEST}" if math.isnan(pair.p) else ""


def _tabulate(pairs: Sequence[Correlation], printed: PrintedFigures | None) -> Table:
    rows = [_make_row(pair, printed) for pair in pairs]
    right = [TableColumn(name, align="right") for name in ("r", "p", "q (FDR)", "n")]
    beside = [TableColumn(call_printed(name), align="right") for name in _list_systems(printed)]
    return Table(["quality", "and", *right, *beside], rows)


def _make_row(pair: Correlation, printed: PrintedFigures | None) -> list[Cell | Value]:
    why = explain_undefined(pair)
    row: list[Cell | Value] = [pair.left, pair.right]
    if math.isnan(pair.r):
        row.append(Cell(math.nan, "–", "quiet", aside=why))
    else:
        bold: Tone = "good" if pair.p < LEVEL else ""
        row.append(Cell(pair.r, coefficient_text(pair.r), bold))
    for value in (pair.p, pair.q):
        shown = "–" if math.isnan(value) else p_text(value)
        row.append(Cell(value, shown, "" if math.isfinite(value) else "quiet", title=why or None))
    row.append(pair.n)
    for system in _list_systems(printed):
        r = printed.find_r(system, pair.left, pair.right) if printed else None
        row.append(Cell("") if r is None else Cell(r, coefficient_text(r)))
    return row


def _list_systems(printed: PrintedFigures | None) -> list[str]:
    return list(dict.fromkeys(pair.system for pair in printed.correlations)) if printed else []


def _list_pairs(pairs: Sequence[Correlation]) -> list[dict[str, object]]:
    return [
        {
            "left": pair.left,
            "right": pair.right,
            "r": pair.r,
            "p": pair.p,
            "q": pair.q,
            "n": pair.n,
            "undefined": explain_undefined(pair),
        }
        for pair in pairs
    ]
