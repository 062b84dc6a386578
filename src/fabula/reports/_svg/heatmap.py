"""A matrix as coloured cells, compact enough for a hundred rows and columns.

The figure carries its numbers (in `metadata`), so that a page can tell them under the pointer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fabula.reports._svg._heat_cells import cell_paths, levels, numbers, stored
from fabula.reports._svg._heat_labels import Box, dividers, labels, legend, tree
from fabula.reports._svg.cluster import Clustering
from fabula.reports._svg.drawing import cut, drawing, width_of

Array = np.ndarray[Any, np.dtype[Any]]
HeatScale = Literal["diverging", "sequential", "p"]
_ANNOTATED = 700
_LONGEST_LABEL = 200
_TREE = 70


@dataclass(frozen=True)
class _Shown:
    """A matrix as it is drawn, after ordering."""

    values: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]


def heatmap(
    values: Any,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    title: str,
    scale: HeatScale = "diverging",
    low: float | None = None,
    high: float | None = None,
    annotate: bool | None = None,
    order: Sequence[int] | Clustering | None = None,
    row_groups: Sequence[str] = (),
    column_groups: Sequence[str] = (),
    note: str = "",
) -> str:
    """Draw a matrix; NaN is hatched and called undefined.

    `order` goes for the rows, and for the columns of a square matrix too; a `Clustering` is
    drawn as a tree beside it. Groups name each row or column in the order given, and a line
    parts neighbours of different groups. Few cells show their value times 100, as HANNA does
    (of `p` the first three decimals).
    """
    shown, row_order, column_order = _ordered(values, row_labels, column_labels, order)
    ends = _ends(shown.values, scale, low, high)
    written = shown.values.size <= _ANNOTATED if annotate is None else annotate
    box = _box(shown, written, isinstance(order, Clustering))
    level = levels(shown.values, scale, *ends)
    parts = [
        stored(shown.values, shown.rows, shown.columns, scale),
        cell_paths(level, box, scale),
        numbers(shown.values, level, box, scale) if written else "",
        dividers(_picked(row_groups, row_order), _picked(column_groups, column_order), box),
        labels(shown.rows, shown.columns, box),
        tree(order, box) if isinstance(order, Clustering) else "",
        legend(box, scale, ends, bool(np.isnan(shown.values).any())),
    ]
    facts: dict[str, Any] = {"kind": "heatmap", **box.facts()}
    desc = note or _words(shown, scale)
    return drawing(box.width, box.height, "".join(parts), title=title, desc=desc, **facts)


def _ordered(
    values: Any, rows: Sequence[str], columns: Sequence[str], order: Any
) -> tuple[_Shown, list[int], list[int]]:
    matrix = np.asarray(values, dtype=float)
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(f"{matrix.shape} values, {len(rows)} × {len(columns)} labels")
    wanted = list(order.order if isinstance(order, Clustering) else order or range(len(rows)))
    square = list(rows) == list(columns)
    others = wanted if square else list(range(len(columns)))
    shown = _Shown(
        matrix[np.ix_(wanted, others)],
        tuple(rows[place] for place in wanted),
        tuple(columns[place] for place in others),
    )
    return shown, wanted, others


def _picked(groups: Sequence[str], order: Sequence[int]) -> list[str]:
    return [groups[place] for place in order] if groups else []


def _ends(
    values: Array, scale: HeatScale, low: float | None, high: float | None
) -> tuple[float, float]:
    """Ends of the colours: of a diverging scale as far below zero as above."""
    if scale == "p":
        return 0.0, 1.0
    there = values[np.isfinite(values)]
    if scale == "diverging":
        far = float(np.abs(there).max()) if there.size else 1.0
        far = far or 1.0
        return (-far if low is None else low), (far if high is None else high)
    lowest = float(there.min()) if there.size and low is None else low or 0.0
    highest = float(there.max()) if there.size and high is None else high or 1.0
    return (lowest, highest) if lowest < highest else (lowest - 0.5, lowest + 0.5)


def _box(shown: _Shown, written: bool, with_tree: bool) -> Box:
    rows, columns = shown.values.shape
    dense = max(rows, columns) > 40 and not written
    cell_height = 13 if dense else 18 if rows > 12 else 24
    wide = 34 if columns <= 30 else 26
    cell_width = wide if written else 13 if dense else max(cell_height, 18)
    size = 11 if cell_height < 18 else 12
    left = max(width_of(cut(label, _LONGEST_LABEL, size), size) for label in shown.rows)
    heads = max(width_of(cut(label, _LONGEST_LABEL, size), size) for label in shown.columns)
    level_heads = heads <= cell_width - 4
    return Box(
        left=round(left) + 12,
        top=24 if level_heads else round(heads) + 14,
        cell_width=cell_width,
        cell_height=cell_height,
        rows=rows,
        columns=columns,
        size=size,
        level_heads=level_heads,
        longest=_LONGEST_LABEL,
        tree=_TREE if with_tree else 0,
    )


def _words(shown: _Shown, scale: HeatScale) -> str:
    """Say what the figure shows to those who cannot see it."""
    there = shown.values[np.isfinite(shown.values)]
    head = f"{len(shown.rows)} rows, {len(shown.columns)} columns"
    if not there.size:
        return f"{head}, all undefined."
    missing = shown.values.size - there.size
    lost = f", {missing} undefined" if missing else ""
    name = "p-values" if scale == "p" else "Values"
    return f"{head}. {name} from {there.min():.3f} to {there.max():.3f}{lost}."
