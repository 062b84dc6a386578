"""How ratings spread: systems in rows, aspects in columns, one small shape in each cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fabula.core.story import count_text
from fabula.reports.figures.drawing import Scale, draw_figure, short, shorten, width_of, words
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, tag

Array = np.ndarray[Any, np.dtype[Any]]
Samples = Mapping[str, Mapping[str, Sequence[float] | Array]]
_ROW, _TOP, _BELOW = 42, 30, 28
_CELL, _GAP, _SIDE = 150, 14, 16
# So many different values are drawn as bars; more are smoothed.
_BARS = 15
_NORMAL_95 = 1.959964


def draw_violins(
    samples: Samples,
    *,
    title: str,
    low: float = 1.0,
    high: float = 5.0,
    order: str | None = None,
) -> str:
    """Draw the ratings of every system (first key) on every aspect (second key).

    A shape is as thick as ratings are frequent; the dot is the mean, its line the 95 % interval
    (normal, of the mean). `order` names the aspect by whose mean the systems are sorted.
    """
    systems = _sort_values(samples, order)
    aspects = list(dict.fromkeys(aspect for by_aspect in samples.values() for aspect in by_aspect))
    left = max(width_of(shorten(name, 180)) for name in systems) + 18
    bottom = _TOP + _ROW * len(systems)
    width = left + len(aspects) * (_CELL + _GAP)
    parts = [_names(systems, width)]
    for place, aspect in enumerate(aspects):
        start = left + place * (_CELL + _GAP)
        across = Scale(low, high, start + _SIDE, start + _CELL - _SIDE)
        parts.append(_axis(aspect, across, bottom))
        for row, system in enumerate(systems):
            values = _there(samples[system].get(aspect, ()))
            parts.append(_cell(system, aspect, values, across, _TOP + _ROW * (row + 0.5)))
    desc = _words(samples, systems, aspects)
    return draw_figure(
        width, bottom + _BELOW, "".join(parts), title=title, desc=desc, kind="violins"
    )


def _there(values: Sequence[float] | Array) -> Array:
    numbers = np.asarray(values, dtype=float)
    there: Array = numbers[np.isfinite(numbers)]
    return there


def _sort_values(samples: Samples, order: str | None) -> list[str]:
    if order is None:
        return list(samples)
    means = {
        system: float(values.mean())
        if len(values := _there(by_aspect.get(order, ())))
        else -math.inf
        for system, by_aspect in samples.items()
    }
    return sorted(samples, key=lambda system: -means[system])


def _words(samples: Samples, systems: Sequence[str], aspects: Sequence[str]) -> str:
    lines = []
    for system in systems:
        columns = [_there(samples[system].get(aspect, ())) for aspect in aspects]
        means = [
            f"{aspect} {number_text(float(values.mean()), 2)}" if len(values) else f"{aspect} none"
            for aspect, values in zip(aspects, columns, strict=True)
        ]
        lines.append(f"{system}: {', '.join(means)}")
    return "Means. " + "; ".join(lines)


def _names(systems: Sequence[str], width: float) -> str:
    drawn = []
    for row, system in enumerate(systems):
        y = _TOP + _ROW * row
        if row % 2:
            drawn.append(tag("rect", x=0, y=y, width=short(width), height=_ROW, class_="stripe"))
        drawn.append(words(shorten(system, 180), 6, y + _ROW / 2 + 4))
    return "".join(drawn)


def _axis(aspect: str, across: Scale, bottom: float) -> str:
    ticks = across.ticks(5)
    lines = "".join(f"M{short(across(tick))} {_TOP}V{short(bottom)}" for tick in ticks)
    numbers = [
        words(f"{tick:g}", across(tick), bottom + 16, class_="tick", text_anchor="middle")
        for tick in ticks
    ]
    middle = (across.start + across.end) / 2
    head = words(shorten(aspect, _CELL + _GAP), middle, 18, class_="head", text_anchor="middle")
    return tag("path", d=lines, class_="grid") + "".join(numbers) + head


def _cell(system: str, aspect: str, values: Array, across: Scale, y: float) -> str:
    if not len(values):
        return words("none", (across.start + across.end) / 2, y + 4, class_="tick",
                     text_anchor="middle")  # fmt: skip
    mean = float(values.mean())
    half = _NORMAL_95 * float(values.std(ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else 0
    counted = count_text(len(values), "rating")
    title = f"{system}, {aspect}: mean {number_text(mean, 2)}, ± {half:.2f}, {counted}"
    ends = [min(max(across(mean + side), across.start), across.end) for side in (-half, half)]
    line = f"M{short(ends[0])} {short(y)}H{short(ends[1])}"
    inside = [
        tag("title", escape(title)),
        tag("path", d=outline(values, across, y), class_="violin"),
        tag("path", d=line, class_="whisker"),
        tag("circle", cx=short(across(mean)), cy=short(y), r=2.75, class_="mean"),
    ]
    return tag("g", "".join(inside))


def outline(values: Array, across: Scale, y: float) -> str:
    """Path of a shape: bars for few different values, else a smooth outline."""
    distinct, counts = np.unique(values, return_counts=True)
    most = _ROW / 2 - 4
    if len(distinct) > _BARS:
        return _smooth(values, across, y, most)
    steps = np.diff(distinct)
    step = float(steps.min()) if len(steps) else 1.0
    half = min(step, 1.0) * abs(across(1) - across(0)) * 0.4
    tall = most * counts / counts.max()
    return "".join(
        f"M{short(across(value) - half)} {short(y - h)}h{short(2 * half)}v{short(2 * h)}"
        f"h{short(-2 * half)}Z"
        for value, h in zip(distinct.tolist(), tall.tolist(), strict=True)
    )


def _smooth(values: Array, across: Scale, y: float, most: float) -> str:
    """Outline by a Gaussian kernel (Silverman's width), mirrored at the ends of the scale."""
    spread = float(values.std(ddof=1)) or 0.1
    width = max(0.9 * spread * len(values) ** -0.2, 0.02 * (across.high - across.low))
    grid = np.linspace(across.low, across.high, 64)
    mirrored = np.concatenate([values, 2 * across.low - values, 2 * across.high - values])
    density = np.exp(-0.5 * ((grid[:, None] - mirrored[None, :]) / width) ** 2).sum(axis=1)
    tall = most * density / density.max()
    upper = [f"{short(across(at))} {short(y - h)}" for at, h in zip(grid, tall, strict=True)]
    lower = [f"{short(across(at))} {short(y + h)}" for at, h in zip(grid, tall, strict=True)]
    return f"M{'L'.join([*upper, *reversed(lower)])}Z"
