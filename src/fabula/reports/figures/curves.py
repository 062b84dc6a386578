"""Lines over a common axis, named at their ends."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise

from fabula.reports.figures.colours import SERIES
from fabula.reports.figures.drawing import (
    Scale,
    bottom_axis,
    draw_figure,
    left_axis,
    reach_of,
    short,
    shorten,
    width_of,
    words,
)
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, tag

_LEFT, _TOP, _BELOW, _GAP = 56, 30, 46, 15
_LONGEST_NAME = 190
_DASHES = (None, "6 3", "2 3", "8 3 2 3")


def draw_curves(
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    *,
    title: str,
    x_label: str,
    y_label: str,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] | None = None,
    low: float | None = None,
    high: float | None = None,
    x_names: Sequence[str] = (),
    width: int = 760,
    height: int = 420,
) -> str:
    """Draw a line a name over `x`; `bands` are lower and upper ends by the same names.

    Names stand at the lines' ends, moved apart where they would cover one another; where there
    are more than fit there, the figure grows. NaN is a gap. `x_names`, such as dates, stand below
    each `x` in place of numbers.
    """
    places = x_names or [f"{at:g}" for at in x]
    height = max(height, _TOP + _BELOW + _GAP * len(lines))
    names = [shorten(name, min(_LONGEST_NAME, 0.3 * width)) for name in lines]
    right = width - max(width_of(name) for name in names) * 1.06 - 20
    hazes = bands or {}
    # A single place stands in the middle.
    beyond = 0.5 if min(x) == max(x) else 0.0
    across = Scale(min(x) - beyond, max(x) + beyond, _LEFT + 8, right - 8)
    down = Scale(*_find_reach(lines, hazes, low, high), height - _BELOW, _TOP)
    parts = [
        _name_axis(x, x_names, across, height - _BELOW, x_label) if x_names else
        bottom_axis(across, _TOP, height - _BELOW, label=x_label, most=max(2, min(len(x), 8))),
        left_axis(down, _LEFT, right, label=y_label),
        *(_haze(n, x, hazes[name], across, down) for n, name in enumerate(lines) if name in hazes),
        *(_line(n, name, places, x, line, across, down)
          for n, (name, line) in enumerate(lines.items())),
        _names(lines, names, right, down, height),
    ]  # fmt: skip
    desc = _words(places, lines)
    return draw_figure(width, height, "".join(parts), title=title, desc=desc, kind="curves")


def _name_axis(
    x: Sequence[float], names: Sequence[str], across: Scale, bottom: float, label: str
) -> str:
    """Write names below a line for each place; every second, third, … where they would touch."""
    lines = "".join(f"M{short(across(at))} {short(_TOP)}V{short(bottom)}" for at in x)
    room = max(width_of(name, 11) for name in names) + 6
    gap = min((across(b) - across(a) for a, b in pairwise(x)), default=room)
    every = max(1, math.ceil(room / gap))
    drawn = [
        words(name, across(at), bottom + 16, class_="tick", text_anchor="middle")
        for at, name in list(zip(x, names, strict=True))[::every]
    ]
    middle = (across.start + across.end) / 2
    drawn.append(words(label, middle, bottom + 36, class_="axis-name", text_anchor="middle"))
    return tag("path", d=lines, class_="grid") + "".join(drawn)


def _find_reach(
    lines: Mapping[str, Sequence[float]],
    hazes: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    low: float | None,
    high: float | None,
) -> tuple[float, float]:
    ends = [end for pair in hazes.values() for side in pair for end in side]
    reach = reach_of([value for line in lines.values() for value in line] + ends)
    return (reach[0] if low is None else low), (reach[1] if high is None else high)


def _words(names: Sequence[str], lines: Mapping[str, Sequence[float]]) -> str:
    ends = [
        f"{name} from {number_text(line[0], 3)} to {number_text(line[-1], 3)}"
        for name, line in lines.items()
    ]
    return f"From {names[0]} to {names[-1]}: {'; '.join(ends)}."


def _line(
    number: int,
    name: str,
    places: Sequence[str],
    x: Sequence[float],
    line: Sequence[float],
    across: Scale,
    down: Scale,
) -> str:
    pen, path = "M", []
    for at, value in zip(x, line, strict=True):
        if not math.isfinite(value):
            pen = "M"
            continue
        path.append(f"{pen}{short(across(at))} {short(down(value))}")
        pen = "L"
    dots = [
        tag(
            "circle",
            tag("title", escape(f"{name}, {place}: {number_text(value, 3)}")),
            cx=short(across(at)), cy=short(down(value)), r=3.5,
            class_=f"curve-dot s{number % SERIES}",
        )
        for place, at, value in zip(places, x, line, strict=True)
        if math.isfinite(value)
    ]  # fmt: skip
    dash = _DASHES[number // SERIES % len(_DASHES)]
    kind = f"curve s{number % SERIES}"
    return tag("path", d="".join(path), class_=kind, stroke_dasharray=dash) + "".join(dots)


def _haze(
    number: int,
    x: Sequence[float],
    ends: tuple[Sequence[float], Sequence[float]],
    across: Scale,
    down: Scale,
) -> str:
    there = [
        (across(at), down(low), down(high))
        for at, low, high in zip(x, *ends, strict=True)
        if math.isfinite(low) and math.isfinite(high)
    ]
    upper = "L".join(f"{short(at)} {short(high)}" for at, _, high in there)
    lower = "L".join(f"{short(at)} {short(low)}" for at, low, _ in reversed(there))
    return tag("path", d=f"M{upper}L{lower}Z", class_=f"haze s{number % SERIES}") if there else ""


def _names(
    lines: Mapping[str, Sequence[float]],
    names: Sequence[str],
    right: float,
    down: Scale,
    height: float,
) -> str:
    """Write names at the ends; a line without any value stands at the bottom and says so."""
    last = [
        next((v for v in reversed(line) if math.isfinite(v)), math.nan) for line in lines.values()
    ]
    wanted = [down(value) if math.isfinite(value) else height - _BELOW for value in last]
    places = spread_labels(wanted, _GAP, low=_TOP, high=height - _BELOW)
    drawn = []
    for number, (name, at, wish, value) in enumerate(zip(names, places, wanted, last, strict=True)):
        if abs(at - wish) > 3:
            lead = f"M{short(right - 3)} {short(wish)}L{short(right + 7)} {short(at)}"
            drawn.append(tag("path", d=lead, class_="leader"))
        said = name if math.isfinite(value) else f"{name}: undefined"
        kind = f"curve-name s{number % SERIES}"
        drawn.append(words(said, right + 10, at + 4, class_=kind))
    return "".join(drawn)


def spread_labels(wanted: Sequence[float], gap: float, *, low: float, high: float) -> list[float]:
    """Move places on a line apart by a gap, as little as possible and within its ends."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    clusters: list[list[float]] = []  # sum of wished starts, members
    for number, place in enumerate(order):
        clusters.append([wanted[place] - number * gap, 1.0])
        while len(clusters) > 1 and _mean(clusters[-2]) > _mean(clusters[-1]):
            total, size = clusters.pop()
            clusters[-1] = [clusters[-1][0] + total, clusters[-1][1] + size]
    starts = [_mean(cluster) for cluster in clusters for _ in range(int(cluster[1]))]
    most = high - (len(order) - 1) * gap
    places = [0.0] * len(order)
    for number, place in enumerate(order):
        places[place] = max(min(starts[number], most), low) + number * gap
    return places


def _mean(cluster: Sequence[float]) -> float:
    return cluster[0] / cluster[1]
