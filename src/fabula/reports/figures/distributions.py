"""Distributions as small multiples: one panel a metric, one row a system, inline SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fabula.core.card import ARROWS
from fabula.reports.pages import escape, tag
from fabula.reports.run_data import Array, ReportColumn, ReportData

_WIDTH, _LEFT, _RIGHT = 340, 96, 330
_TOP, _ROW = 6, 28
_BINS = 56
# So many stories of a system are drawn one by one; more are drawn as an outline.
_DOTS = 80
_LONGEST_NAME = 13


def draw_distributions(data: ReportData) -> str:
    """Draw the panels of all columns, those of the baselines last."""
    panels = [
        _panel(column, data.systems, data.values_by_system(number))
        for number, column in enumerate(data.columns)
    ]
    return "\n".join(panels)


def _panel(column: ReportColumn, systems: Sequence[str], rows: Sequence[Array]) -> str:
    kind = "panel baseline" if column.is_baseline else "panel"
    kind += "" if column.main else " other-aspect"
    label = tag("span", escape(column.title), title=column.label)
    sign = tag("span", ARROWS[column.direction], class_="arrow", aria_hidden="true")
    caption = tag("figcaption", f"{label} {sign}")
    low, high = _reach(np.concatenate(rows))
    if low > high:
        drawing = tag("p", "no value", class_="quiet")
    else:
        drawing = _drawing(column, systems, rows, (low, high))
    return tag("figure", caption + drawing, class_=kind)


def _reach(values: Array) -> tuple[float, float]:
    """Ends of the axis; of many stories the outermost half percent on either side lie beyond."""
    if not len(values):
        return 1.0, 0.0
    ends = [0.5, 99.5] if len(values) > 200 else [0, 100]
    low, high = (float(end) for end in np.percentile(values, ends))
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _drawing(
    column: ReportColumn, systems: Sequence[str], rows: Sequence[Array], reach: tuple[float, float]
) -> str:
    bottom = _TOP + _ROW * len(systems)
    parts = [_axis(reach, bottom)]
    for place, (system, values) in enumerate(zip(systems, rows, strict=True)):
        y = _TOP + _ROW * place + _ROW / 2
        parts.append(_name(system, y))
        if len(values):
            parts += [_stories(values, reach, y), _box(values, reach, y)]
    title = tag("title", escape(_words(column, systems, rows)))
    box = f"0 0 {_WIDTH} {bottom + 20}"
    return tag("svg", title + "".join(parts), viewBox=box, role="img")


def _words(column: ReportColumn, systems: Sequence[str], rows: Sequence[Array]) -> str:
    """Say what the panel shows to those who cannot see it."""
    medians = [
        f"{system or 'all'} {np.median(values):.3g}" if len(values) else f"{system or 'all'} none"
        for system, values in zip(systems, rows, strict=True)
    ]
    return f"{column.title}, medians: {', '.join(medians)}"


def _name(system: str, y: float) -> str:
    text = system or "all"
    short = text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
    return tag("text", escape(short), x=_LEFT - 8, y=f"{y + 3.5:.1f}", class_="name")


def _axis(reach: tuple[float, float], bottom: int) -> str:
    line = f"M{_LEFT} {bottom + 1}H{_RIGHT}"
    ends = zip(reach, (_LEFT, _RIGHT), ("start", "end"), strict=True)
    words = [
        tag("text", _tick(value, reach), x=x, y=bottom + 14, text_anchor=anchor)
        for value, x, anchor in ends
    ]
    return tag("path", d=line, class_="axis") + "".join(words)


def _tick(value: float, reach: tuple[float, float]) -> str:
    """Write an end of the axis with no more digits than its length can tell apart."""
    digits = 2 - math.floor(math.log10(reach[1] - reach[0]))
    return f"{round(value, digits) + 0.0:.4g}".replace("-", "−")


def _x(values: Array, reach: tuple[float, float]) -> Array:
    share = (np.clip(values, *reach) - reach[0]) / (reach[1] - reach[0])
    return _LEFT + share * (_RIGHT - _LEFT)


def _stories(values: Array, reach: tuple[float, float], y: float) -> str:
    if len(values) > _DOTS:
        return _outline(values, reach, y)
    # Every other dot a little higher or lower, so that equal values do not hide one another.
    lifts = (-7.0, -3.5, -9.0, -5.0)
    dots = [f"M{x:.1f} {y + lifts[n % 4]:.1f}h0" for n, x in enumerate(_x(values, reach))]
    return tag("path", d="".join(dots), class_="dots")


def _outline(values: Array, reach: tuple[float, float], y: float) -> str:
    counts, _ = np.histogram(np.clip(values, *reach), bins=_BINS, range=reach)
    smooth = np.convolve(counts, np.array([1, 4, 6, 4, 1]) / 16, mode="same")
    heights = 13 * smooth / smooth.max()
    centres = _LEFT + (np.arange(_BINS) + 0.5) * (_RIGHT - _LEFT) / _BINS
    points = "".join(f"L{x:.1f} {y - h:.1f}" for x, h in zip(centres, heights, strict=True))
    return tag("path", d=f"M{_LEFT} {y:.1f}{points}L{_RIGHT} {y:.1f}Z", class_="outline")


def _box(values: Array, reach: tuple[float, float], y: float) -> str:
    quantiles = np.percentile(values, [5, 25, 50, 75, 95])
    ends = [f"{x:.1f}" for x in _x(quantiles, reach)]
    base = y + 4
    thin = tag("path", d=f"M{ends[0]} {base:.1f}H{ends[4]}", class_="whisker")
    thick = tag("path", d=f"M{ends[1]} {base:.1f}H{ends[3]}", class_="middle")
    tick = tag("path", d=f"M{ends[2]} {base - 4:.1f}v8", class_="median")
    return thin + thick + tick
