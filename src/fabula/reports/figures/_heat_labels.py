"""What stands around the cells of a heatmap: labels, lines between groups, tree, legend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.reports.figures.cluster import Clustering, branches
from fabula.reports.figures.colours import DIVERGING, SEQUENTIAL
from fabula.reports.figures.drawing import short, shorten, width_of, words
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, tag

_P_WORDS = ((12, "p < .001"), (9, "< .01"), (6, "< .05"), (2, "< .1"), (0, "≥ .1"))
_STRIP = 9


@dataclass(frozen=True)
class Box:
    """Where the cells are, and how much room stands around them."""

    left: int
    top: int
    cell_width: int
    cell_height: int
    rows: int
    columns: int
    size: int
    level_heads: bool
    longest: int
    tree: int

    @property
    def right(self) -> int:
        """Right edge of the cells."""
        return self.left + self.columns * self.cell_width

    @property
    def bottom(self) -> int:
        """Lower edge of the cells."""
        return self.top + self.rows * self.cell_height

    @property
    def width(self) -> int:
        """Width of the whole figure; the legend has to fit."""
        return max(self.right + self.tree + 8, 380)

    @property
    def height(self) -> int:
        """Height of the whole figure."""
        return self.bottom + 48

    def column(self, place: float) -> float:
        """Left edge of a column, or a place within it."""
        return self.left + place * self.cell_width

    def row(self, place: float) -> float:
        """Upper edge of a row, or a place within it."""
        return self.top + place * self.cell_height

    def facts(self) -> dict[str, int]:
        """What a page needs to find the cell under the pointer."""
        return {
            "data_left": self.left,
            "data_top": self.top,
            "data_cell_width": self.cell_width,
            "data_cell_height": self.cell_height,
        }


def labels(rows: Sequence[str], columns: Sequence[str], box: Box) -> str:
    """Write the names of rows and columns; those that are cut tell the rest under the pointer."""
    kind = "small" if box.size < 12 else None
    left = [
        _label(name, box, x=box.left - 7, y=short(box.row(place + 0.5) + 4), text_anchor="end")
        for place, name in enumerate(rows)
    ]
    return tag("g", "".join(left), class_=f"rows {kind or ''}".strip()) + tag(
        "g",
        "".join(_head(name, place, box) for place, name in enumerate(columns)),
        class_=f"columns {kind or ''}".strip(),
    )


def _head(name: str, place: int, box: Box) -> str:
    x, y = box.column(place + 0.5), box.top - 7
    if box.level_heads:
        return _label(name, box, x=short(x), y=y, text_anchor="middle")
    return _label(name, box, transform=f"translate({short(x + 4)} {y}) rotate(-90)")


def _label(name: str, box: Box, **attributes: object) -> str:
    shown = shorten(name, box.longest, box.size)
    whole = tag("title", escape(name)) if shown != name else ""
    return tag("text", escape(shown) + whole, **attributes)


def dividers(row_groups: Sequence[str], column_groups: Sequence[str], box: Box) -> str:
    """Draw a line where the group changes."""
    across = [f"M{box.left} {short(box.row(y))}H{box.right}" for y in _changes(row_groups)]
    down = [f"M{short(box.column(x))} {box.top}V{box.bottom}" for x in _changes(column_groups)]
    return tag("path", d="".join([*across, *down]), class_="divide") if across or down else ""


def _changes(groups: Sequence[str]) -> list[int]:
    return [place for place in range(1, len(groups)) if groups[place] != groups[place - 1]]


def tree(clustering: Clustering, box: Box) -> str:
    """Draw the clustering right of the rows: the further right two join, the less they share."""
    start, reach = box.right + 6, box.tree - 6
    highest = max((height for *_, height in clustering.merges), default=0) or 1.0
    strokes = []
    for one, other, near, far, height in branches(clustering):
        xs = [short(start + reach * part / highest) for part in (near, height, far)]
        ys = [short(box.row(place + 0.5)) for place in (one, other)]
        strokes.append(f"M{xs[0]} {ys[0]}H{xs[1]}V{ys[1]}H{xs[2]}")
    return tag("path", d="".join(strokes), class_="tree")


def legend(box: Box, scale: str, ends: tuple[float, float], undefined: bool) -> str:
    """Draw the colours and what they stand for, below the cells."""
    y, x = box.bottom + 20, 8.0
    if scale == "p":
        drawn, x = _steps(x, y)
    else:
        drawn, x = _ramp(x, y, scale, ends)
    if undefined:
        drawn += tag("g", _swatch(x + 8, y, "undefined") + _stroke(x + 8, y), class_="cells")
        drawn += words("undefined", x + 34, y + 4, class_="tick")
    return tag("g", drawn, class_="legend")


def _swatch(x: float, y: float, kind: str, width: float = 18) -> str:
    line = f"M{short(x)} {short(y)}h{short(width)}"
    return tag("path", d=line, class_=kind, stroke_width=12)


def _stroke(x: float, y: float) -> str:
    return tag("path", d=f"M{short(x)} {short(y + 6)}l18 -12", class_="hatch")


def _steps(x: float, y: float) -> tuple[str, float]:
    drawn = ""
    for level, name in _P_WORDS:
        drawn += tag("g", _swatch(x, y, f"q{level}"), class_="cells")
        drawn += words(name, x + 24, y + 4, class_="tick")
        x += 24 + width_of(name, 11) + 14
    return drawn, x


def _ramp(x: float, y: float, scale: str, ends: tuple[float, float]) -> tuple[str, float]:
    head, count = ("d", DIVERGING) if scale == "diverging" else ("q", SEQUENTIAL)
    low, high = (number_text(end, 2) for end in ends)
    start = x + width_of(low, 11) + 6
    strip = "".join(
        _swatch(start + place * _STRIP, y, f"{head}{place}", _STRIP) for place in range(count)
    )
    end = start + count * _STRIP
    drawn = words(low, x, y + 4, class_="tick")
    drawn += tag("g", strip, class_="cells", shape_rendering="crispEdges")
    drawn += words(high, end + 6, y + 4, class_="tick")
    if scale == "diverging" and ends[0] < 0 < ends[1]:
        zero = start + (end - start) * -ends[0] / (ends[1] - ends[0])
        drawn += words("0", zero, y + 20, class_="tick", text_anchor="middle")
    return drawn, end + 6 + width_of(high, 11) + 8
