"""The cells of a heatmap: levels of colour, runs of equal cells, numbers, and the data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from fabula.reports._markup import escaped, tag
from fabula.reports._svg._heat_labels import Box
from fabula.reports._svg.colours import DIVERGING, SEQUENTIAL

Array = np.ndarray[Any, np.dtype[Any]]
UNDEFINED = -1
# Where p is below each of these, its colour is the level beside it.
P_LEVELS = ((0.001, 12), (0.01, 9), (0.05, 6), (0.1, 2), (float("inf"), 0))
HEADS = {"diverging": "d", "sequential": "q", "p": "q"}


def levels(values: Array, scale: str, low: float, high: float) -> Array:
    """Level of colour of every cell; undefined ones have their own."""
    there = np.isfinite(values)
    filled = np.where(there, values, low)
    if scale == "p":
        ends = [end for end, _ in P_LEVELS[:-1]]
        found = np.array([level for _, level in P_LEVELS])[np.searchsorted(ends, filled, "right")]
    else:
        count = DIVERGING if scale == "diverging" else SEQUENTIAL
        share = np.clip((filled - low) / (high - low), 0, 1)
        found = np.rint(share * (count - 1)).astype(int)
    return np.where(there, found, UNDEFINED)


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
            "path", d="".join(runs[one]), class_="undefined" if one == UNDEFINED else f"{head}{one}"
        )
        for one in sorted(runs)
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


def stored(values: Array, rows: Sequence[str], columns: Sequence[str], scale: str) -> str:
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
    return tag("metadata", escaped(text))
