"""Counts and shares as bars: rows that may be made of parts, and columns of a histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fabula.reports.figures.colours import SERIES
from fabula.reports.figures.drawing import (
    Scale,
    bottom_axis,
    draw_figure,
    left_axis,
    short,
    shorten,
    width_of,
    words,
)
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, tag

_ROW, _BAR, _BELOW = 24, 14, 46
_LONGEST_NAME = 240
_LEFT, _TOP = 48, 26
_LEGEND, _LEGEND_LINE = 8, 20


@dataclass(frozen=True)
class Bar:
    """A row: what it is called, its parts by name, one after the other, and what is said of it
    under the pointer. A row without a finite part says its note in place of a bar; `text` stands
    before the bar where it is not the total."""

    label: str
    parts: Mapping[str, float] = field(default_factory=dict)
    note: str = ""
    text: str = ""

    @property
    def total(self) -> float:
        """All parts together; NaN where there is none."""
        there = [value for value in self.parts.values() if math.isfinite(value)]
        return sum(there) if there else math.nan


def draw_bars(
    rows: Sequence[Bar],
    *,
    title: str,
    x_label: str,
    high: float | None = None,
    decimals: int = 0,
    width: int = 860,
    series: Mapping[str, int] | None = None,
    totals: bool = True,
) -> str:
    """Draw a row a bar from zero on, in the order given, its total before it.

    Parts of several names are drawn side by side in a row, and a legend names their colours,
    which are those of the `series` given for a name.
    """
    paints = _choose_paints(rows, series or {})
    key, top = _legend(paints, width) if len(paints) > 1 else ("", _LEGEND)
    longest = min(_LONGEST_NAME, 0.34 * width)
    # Letters may be wider than they are guessed to be.
    name_room = 1.04 * max((width_of(shorten(row.label, longest)) for row in rows), default=0) + 4
    reached = [row.total for row in rows if math.isfinite(row.total)]
    texts = [row.text or (number_text(row.total, decimals) if totals else "") for row in rows]
    number_room = max((width_of(text) for text in texts), default=0) + 22
    left, bottom = name_room + number_room, top + _ROW * len(rows) + 4
    across = Scale(0, high or max([*reached, 0]) * 1.02 or 1, left, width - 12)
    most = 7 if width > 600 else 4
    parts = [key, bottom_axis(across, top, bottom, label=x_label, most=most)]
    for number, (row, text) in enumerate(zip(rows, texts, strict=True)):
        y = top + _ROW * number + _ROW / 2
        parts.append(words(shorten(row.label, longest), name_room, y + 4, text_anchor="end"))
        if not math.isfinite(row.total):
            parts.append(words(row.note or "undefined", name_room + 12, y + 4, class_="axis-name"))
            continue
        parts.append(words(text, left - 10, y + 4, text_anchor="end"))
        parts.append(_segments(row, paints, across, y, decimals))
    desc = "; ".join(_words(row, decimals) for row in rows)
    return draw_figure(width, bottom + _BELOW, "".join(parts), title=title, desc=desc, kind="bars")


def _choose_paints(rows: Sequence[Bar], series: Mapping[str, int]) -> dict[str, str]:
    """Give the class of every part by its name."""
    names = dict.fromkeys(name for row in rows for name in row.parts)
    return {name: f"bar s{series.get(name, at) % SERIES}" for at, name in enumerate(names)}


def _segments(row: Bar, paints: Mapping[str, str], across: Scale, y: float, decimals: int) -> str:
    drawn, begun = [], 0.0
    for name, value in row.parts.items():
        if not math.isfinite(value) or value <= 0:
            continue
        start, end = across(begun), min(across(begun + value), across.end)
        said = f"{row.label}, {name}" if len(paints) > 1 else row.label
        note = f". {row.note}" if row.note else ""
        drawn.append(
            tag(
                "rect",
                tag("title", escape(f"{said}: {number_text(value, decimals)}{note}")),
                x=short(start), y=short(y - _BAR / 2),
                # Something is never nothing.
                width=short(max(end - start, 1)), height=_BAR,
                class_=paints[name],
            )
        )  # fmt: skip
        begun += value
    return "".join(drawn)


def _words(row: Bar, decimals: int) -> str:
    if not math.isfinite(row.total):
        return f"{row.label} {row.note or 'undefined'}"
    total = f"{row.label} {number_text(row.total, decimals)}"
    if len(row.parts) < 2:
        return total
    named = [f"{name} {number_text(value, decimals)}" for name, value in row.parts.items()]
    return f"{total} ({', '.join(named)})"


def _legend(paints: Mapping[str, str], width: float) -> tuple[str, float]:
    """Name the colours, in as many lines as it takes; where what follows begins."""
    drawn, x, y = [], 0.0, 4.0
    for name, paint in paints.items():
        text = shorten(name, 0.6 * width, 11)
        reach = 18 + width_of(text, 11) + 18
        if x and x + reach > width:
            x, y = 0.0, y + _LEGEND_LINE
        drawn.append(
            tag("rect", x=short(x), y=short(y), width=12, height=12, class_=paint)
            + words(text, x + 18, y + 10, class_="tick")
        )  # fmt: skip
        x += reach
    return "".join(drawn), y + _LEGEND_LINE + _LEGEND


def draw_columns(
    labels: Sequence[str],
    values: Sequence[float],
    *,
    title: str,
    x_label: str,
    y_label: str,
    width: int = 860,
    height: int = 280,
) -> str:
    """Draw a column a value, such as a histogram; labels that would touch are left out."""
    bottom = height - _BELOW
    largest = max((value for value in values if math.isfinite(value)), default=0.0)
    down = Scale(0, largest * 1.04 or 1, bottom, _TOP)
    step = (width - 12 - _LEFT) / max(len(values), 1)
    thick = max(1.0, min(step * 0.8, 56.0))
    widest = max((width_of(label, 11) for label in labels), default=0) + 8
    every = max(1, math.ceil(widest / step))
    parts = [left_axis(down, _LEFT, width - 12, label=y_label, most=5)]
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        middle = _LEFT + (place + 0.5) * step
        if place % every == 0:
            parts.append(words(label, middle, bottom + 16, class_="tick", text_anchor="middle"))
        if math.isfinite(value) and value > 0:
            parts.append(
                tag(
                    "rect",
                    tag("title", escape(f"{label}: {number_text(value)}")),
                    x=short(middle - thick / 2), y=short(down(value)),
                    width=short(thick), height=short(max(bottom - down(value), 1)),
                    class_="bar s0",
                )
            )  # fmt: skip
    middle = (_LEFT + width - 12) / 2
    parts.append(words(x_label, middle, bottom + 36, class_="axis-name", text_anchor="middle"))
    pairs = zip(labels, values, strict=True)
    desc = "; ".join(f"{label}: {number_text(value)}" for label, value in pairs)
    return draw_figure(width, height, "".join(parts), title=title, desc=desc, kind="columns")
