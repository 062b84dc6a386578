"""A matrix as coloured cells, compact enough for a hundred rows and columns.

The figure carries its numbers (in `metadata`), so that a page can tell them under the pointer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fabula.core.story import count_text
from fabula.reports.figures._heat_labels import Box, dividers, labels, legend, tree
from fabula.reports.figures.cluster import Clustering
from fabula.reports.figures.colours import DIVERGING, SEQUENTIAL
from fabula.reports.figures.drawing import draw_figure, shorten, width_of
from fabula.reports.pages import escape, tag

Array = np.ndarray[Any, np.dtype[Any]]
HeatScale = Literal["diverging", "sequential", "p"]
_ANNOTATED = 700
_LONGEST_LABEL = 200
_TREE = 70
UNDEFINED = -1
# Where p is below each of these, its colour is the level beside it.
P_LEVELS = ((0.001, 12), (0.01, 9), (0.05, 6), (0.1, 2), (float("inf"), 0))
HEADS = {"diverging": "d", "sequential": "q", "p": "q"}


@dataclass(frozen=True)
class _Shown:
    """A matrix as it is drawn, after ordering."""

    values: Array
    rows: tuple[str, ...]
    columns: tuple[str, ...]


def draw_heatmap(
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
    shown, row_order, column_order = _arrange(values, row_labels, column_labels, order)
    ends = _ends(shown.values, scale, low, high)
    written = shown.values.size <= _ANNOTATED if annotate is None else annotate
    box = _box(shown, written, isinstance(order, Clustering))
    level = levels(shown.values, scale, *ends)
    parts = [
        embed_values(shown.values, shown.rows, shown.columns, scale),
        cell_paths(level, box, scale),
        numbers(shown.values, level, box, scale) if written else "",
        dividers(_regroup(row_groups, row_order), _regroup(column_groups, column_order), box),
        labels(shown.rows, shown.columns, box),
        tree(order, box) if isinstance(order, Clustering) else "",
        legend(box, scale, ends, bool(np.isnan(shown.values).any())),
    ]
    facts: dict[str, Any] = {"kind": "heatmap", **box.facts()}
    desc = note or _words(shown, scale)
    return draw_figure(box.width, box.height, "".join(parts), title=title, desc=desc, **facts)


def _arrange(
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


def _regroup(groups: Sequence[str], order: Sequence[int]) -> list[str]:
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
    left = max(width_of(shorten(label, _LONGEST_LABEL, size), size) for label in shown.rows)
    heads = max(width_of(shorten(label, _LONGEST_LABEL, size), size) for label in shown.columns)
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
    head = f"{count_text(len(shown.rows), 'row')}, {count_text(len(shown.columns), 'column')}"
    if not there.size:
        return f"{head}, all undefined."
    missing = shown.values.size - there.size
    lost = f", {missing} undefined" if missing else ""
    name = "p-values" if scale == "p" else "Values"
    return f"{head}. {name} from {there.min():.3f} to {there.max():.3f}{lost}."


def levels(values: Array, scale: str, low: float, high: float) -> Array:
    """Level of colour of every cell; undefined ones have their own."""
    there = np.isfinite(values)
    filled = np.where(there, values, low)
    if scale == "p":
        ends = [end for end, _ in P_LEVELS[:-1]]
        levels = np.array([level for _, level in P_LEVELS])[np.searchsorted(ends, filled, "right")]
    else:
        count = DIVERGING if scale == "diverging" else SEQUENTIAL
        share = np.clip((filled - low) / (high - low), 0, 1)
        levels = np.rint(share * (count - 1)).astype(int)
    return np.where(there, levels, UNDEFINED)


def cell_paths(level: Array, box: Box, scale: str) -> str:
    """Draw one path a colour; neighbours of one colour are one stroke."""
    runs: dict[int, list[str]] = {}
    for y, row in enumerate(level.tolist()):
        start = 0
        for x in range(1, len(row) + 1):
            if x == len(row) or row[x] != row[start]:
                runs.setdefault(row[start], []).append(f"M{start} {y}h{x - start}")
                start = x
    head = HEADS[scale]
    paths = [
        tag(
            "path", d="".join(runs[run]), class_="undefined" if run == UNDEFINED else f"{head}{run}"
        )
        for run in sorted(runs)
    ]
    # Strokes one unit wide, half a unit down: shorter than rectangles.
    shift = f"translate({box.left} {box.top + box.cell_height / 2:g})"
    cells = tag(
        "g",
        "".join(paths),
        class_="cells",
        transform=f"{shift} scale({box.cell_width} {box.cell_height})",
        shape_rendering="crispEdges",
    )
    return cells + _hatches(level, box) + _lines(box)


def _hatches(level: Array, box: Box) -> str:
    places = np.argwhere(level == UNDEFINED).tolist()
    if not places:
        return ""
    width, height = box.cell_width, box.cell_height
    strokes = [
        f"M{box.left + x * width} {box.top + (y + 1) * height}l{width} {-height}" for y, x in places
    ]
    return tag("path", d="".join(strokes), class_="hatch")


def _lines(box: Box) -> str:
    """Thin lines of paper between the cells."""
    across = [f"M{box.left} {box.row(y)}H{box.right}" for y in range(1, box.rows)]
    down = [f"M{box.column(x)} {box.top}V{box.bottom}" for x in range(1, box.columns)]
    return tag("path", d="".join([*across, *down]), class_="lines", shape_rendering="crispEdges")


def numbers(values: Array, level: Array, box: Box, scale: str) -> str:
    """Write every cell's number, in a colour that can be read on its own."""
    texts = []
    for y, row in enumerate(values.tolist()):
        for x, value in enumerate(row):
            if level[y, x] != UNDEFINED:
                ground = ground_of(int(level[y, x]), scale)
                places = {"x": box.column(x + 0.5), "y": f"{box.row(y + 0.5) + 4:g}"}
                texts.append(tag("text", _number(value, scale), **places, class_=ground))
    return tag("g", "".join(texts), class_="numbers")


def ground_of(level: int, scale: str) -> str | None:
    """How far a level is from the paper: words on it take another colour, in the dark earlier."""
    far, middle, strong = (abs(level - 10), 5, 8) if scale == "diverging" else (level, 6, 9)
    return "strong" if far >= strong else "middle" if far >= middle else None


def _number(value: float, scale: str) -> str:
    if scale == "p":
        return "<.001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")
    return f"{round(100 * value) + 0:d}".replace("-", "−")


def embed_values(values: Array, rows: Sequence[str], columns: Sequence[str], scale: str) -> str:
    """Keep labels and values, rounded, for the page's script and whoever opens the file."""
    decimals = 4 if scale == "p" else 3
    whole = np.nan_to_num(np.rint(values * 10**decimals), posinf=0, neginf=0).astype(int)
    there = np.isfinite(values)
    cells = [
        str(number) if known else ""
        for number, known in zip(whole.ravel().tolist(), there.ravel().tolist(), strict=True)
    ]
    facts = {"rows": rows, "columns": columns, "scale": scale, "decimals": decimals}
    text = json.dumps({**facts, "values": ",".join(cells)}, ensure_ascii=False)
    return tag("metadata", escape(text))
