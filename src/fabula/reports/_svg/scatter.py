"""Few labelled points: systems by what people say and what a metric says."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.reports._markup import escaped, tag
from fabula.reports._svg.axes import Scale, bottom_axis, left_axis, number_words, reach_of
from fabula.reports._svg.colours import SERIES
from fabula.reports._svg.drawing import drawing, short, words
from fabula.reports._svg.labels import Rectangle, place_labels

_LEFT, _TOP, _RIGHT, _BELOW = 56, 28, 24, 46


@dataclass(frozen=True)
class Point:
    """A labelled point; `series` numbers its colour and shape."""

    label: str
    x: float
    y: float
    series: int = 0


def scatter(
    points: Sequence[Point],
    *,
    title: str,
    x_label: str,
    y_label: str,
    width: int = 640,
    height: int = 460,
) -> str:
    """Draw points with their names; those without a value are named below."""
    there = [point for point in points if math.isfinite(point.x) and math.isfinite(point.y)]
    absent = [point.label for point in points if point not in there]
    across = Scale(*reach_of([p.x for p in there], room=0.08), _LEFT, width - _RIGHT)
    down = Scale(*reach_of([p.y for p in there], room=0.08), height - _BELOW, _TOP)
    parts = [
        bottom_axis(across, _TOP, height - _BELOW, label=x_label),
        left_axis(down, _LEFT, width - _RIGHT, label=y_label),
        *_marks(there, across, down),
        *_names(there, across, down, Rectangle(_LEFT, _TOP, width - _LEFT, height - _TOP - _BELOW)),
    ]
    if absent:
        note = f"undefined: {', '.join(absent)}"
        parts.append(words(note, _LEFT, height + 12, class_="tick"))
        height += 22
    desc = f"{x_label} across, {y_label} up. " + "; ".join(map(_words, there))
    return drawing(width, height, "".join(parts), title=title, desc=desc, kind="scatter")


def _words(point: Point) -> str:
    return f"{point.label} {number_words(point.x, 3)}, {number_words(point.y, 3)}"


def _marks(points: Sequence[Point], across: Scale, down: Scale) -> list[str]:
    return [
        tag(
            "path",
            tag("title", escaped(_words(point))),
            d=shape(point.series, 5.5),
            transform=f"translate({short(across(point.x))} {short(down(point.y))})",
            class_=f"point s{point.series % SERIES}",
        )
        for point in points
    ]


def _names(points: Sequence[Point], across: Scale, down: Scale, within: Rectangle) -> list[str]:
    centres = [(across(point.x), down(point.y)) for point in points]
    boxes = place_labels([point.label for point in points], centres, within=within)
    drawn = []
    for point, (x, y), box in zip(points, centres, boxes, strict=True):
        near_x = min(max(x, box.x), box.x + box.width)
        near_y = min(max(y, box.y + 2), box.y + box.height)
        if math.hypot(near_x - x, near_y - y) > 14:
            line = f"M{short(x)} {short(y)}L{short(near_x)} {short(near_y)}"
            drawn.append(tag("path", d=line, class_="leader"))
        drawn.append(words(point.label, box.x + 1, box.y + 11))
    return drawn


def shape(series: int, size: float) -> str:
    """Path of a mark around 0, 0: circle, square, triangle or diamond.

    Colours come round before shapes do, so that no two of 32 series are drawn alike.
    """
    r, s = short(size), short(size * 0.88)
    t, low = short(size * 1.1), short(size * 0.75)
    kinds = (
        f"M-{r} 0a{r} {r} 0 1 0 {short(2 * size)} 0a{r} {r} 0 1 0 -{short(2 * size)} 0Z",
        f"M-{s} -{s}H{s}V{s}H-{s}Z",
        f"M0 -{t}L{t} {low}H-{t}Z",
        f"M0 -{short(size * 1.25)}L{t} 0L0 {short(size * 1.25)}L-{t} 0Z",
    )
    return kinds[(series + series // SERIES) % len(kinds)]
