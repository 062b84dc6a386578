"""Values with their intervals, one row each: which scorers are any good, and how sure is that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from fabula.reports.figures.drawing import (
    Scale,
    bottom_axis,
    draw_figure,
    reach_of,
    short,
    shorten,
    width_of,
    words,
)
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, tag

_ROW, _BELOW = 20, 46
_LONGEST_NAME = 240
_GROUP = 28
# Room for the value, which stands between name and line so that a phone shows it at once.
_NUMBER = 74


@dataclass(frozen=True)
class Interval:
    """A value with its lower and upper end; a `baseline` is drawn in another shape."""

    label: str
    value: float
    low: float = math.nan
    high: float = math.nan
    kind: Literal["metric", "baseline"] = "metric"
    group: str = ""
    note: str = ""


@dataclass(frozen=True)
class Band:
    """A stretch of the axis with a name, such as the noise ceiling."""

    low: float
    high: float
    label: str


@dataclass(frozen=True)
class _Placed:
    interval: Interval
    y: float


def draw_intervals(
    rows: Sequence[Interval],
    *,
    title: str,
    x_label: str,
    band: Band | None = None,
    low: float | None = None,
    high: float | None = None,
    sort: bool = True,
    decimals: int = 3,
    kind_names: tuple[str, str] = ("metric", "trivial baseline"),
    width: int = 860,
) -> str:
    """Draw rows from the highest value to the lowest, group by group as they come.

    A row without a value comes last and says undefined, or its own note. Where both kinds are
    there, a legend calls them by `kind_names`.
    """
    kinds = {row.kind for row in rows}
    top = 40 if band else 28 if len(kinds) > 1 else 6
    placed, heads, bottom = _place_rows(_sort_rows(rows) if sort else list(rows), top)
    longest = min(_LONGEST_NAME, 0.3 * width)
    names = max((width_of(shorten(row.label, longest)) for row in rows), default=0)
    left, right = names + _NUMBER, width - 12.0
    ends = [end for row in rows for end in (row.value, row.low, row.high)]
    reach = reach_of(ends + ([band.low, band.high] if band else []))
    first, last = (reach[0] if low is None else low), (reach[1] if high is None else high)
    across = Scale(first, last, left, right)
    parts = [
        _stripes(placed, width),
        _band(band, across, top, bottom) if band else "",
        bottom_axis(across, top, bottom, label=x_label, most=7 if width > 600 else 4),
        _zero(across, top, bottom),
        *(words(shorten(name, 0.9 * width), 0, y, class_="head") for name, y in heads),
        *(_row(one, across, left, longest, decimals) for one in placed),
        _legend(*kind_names) if len(kinds) > 1 else "",
    ]
    desc = "; ".join(_words(one.interval, decimals) for one in placed)
    height = bottom + _BELOW
    return draw_figure(width, height, "".join(parts), title=title, desc=desc, kind="intervals")


def _sort_rows(rows: Sequence[Interval]) -> list[Interval]:
    groups = list(dict.fromkeys(row.group for row in rows))
    return sorted(
        rows,
        key=lambda row: (
            groups.index(row.group),
            not math.isfinite(row.value),
            -row.value if math.isfinite(row.value) else 0.0,
        ),
    )


def _place_rows(
    rows: Sequence[Interval], top: float
) -> tuple[list[_Placed], list[tuple[str, float]], float]:
    """Places of rows and of the names of groups, and where they end."""
    placed, heads, y = [], [], top
    for group, members in groupby(rows, lambda row: row.group):
        if group:
            heads.append((group, y + _GROUP - 9))
            y += _GROUP
        for row in members:
            placed.append(_Placed(row, y + _ROW / 2))
            y += _ROW
    return placed, heads, y + 4


def _words(row: Interval, decimals: int) -> str:
    if not math.isfinite(row.value):
        return f"{row.label} {row.note or 'undefined'}"
    if not math.isfinite(row.low):
        return f"{row.label} {number_text(row.value, decimals)}"
    ends = f"{number_text(row.low, decimals)} to {number_text(row.high, decimals)}"
    return f"{row.label} {number_text(row.value, decimals)} ({ends})"


def _stripes(placed: Sequence[_Placed], width: float) -> str:
    """Shade every other row, so that the eye keeps to its line."""
    return "".join(
        tag("rect", x=0, y=short(row.y - _ROW / 2), width=width, height=_ROW, class_="stripe")
        for row in placed[1::2]
    )


def _band(band: Band, across: Scale, top: float, bottom: float) -> str:
    ends = [min(max(across(end), across.start), across.end) for end in (band.low, band.high)]
    thick = max(ends[1] - ends[0], 2)
    box = {
        "x": short(ends[0]),
        "y": short(top),
        "width": short(thick),
        "height": short(bottom - top),
    }
    middle = sum(ends) / 2
    half = width_of(band.label, 11) / 2
    x = min(max(middle, half), across.end + 10 - half)
    name = words(band.label, x, top - 8, class_="tick", text_anchor="middle")
    ends_words = f"{number_text(band.low, 3)} to {number_text(band.high, 3)}"
    title = tag("title", escape(f"{band.label}: {ends_words}"))
    return tag("rect", title, **box, class_="band") + name


def _zero(across: Scale, top: float, bottom: float) -> str:
    if not across.low < 0 < across.high:
        return ""
    return tag("path", d=f"M{short(across(0))} {short(top)}V{short(bottom)}", class_="zero")


def _row(placed: _Placed, across: Scale, left: float, longest: float, decimals: int) -> str:
    row, y = placed.interval, placed.y
    quiet = "quiet-words" if row.kind == "baseline" else None
    name = words(
        shorten(row.label, longest),
        left - _NUMBER + 4,
        y + 4,
        text_anchor="end",
        class_=quiet,
    )
    if not math.isfinite(row.value):
        return name + words(row.note or "undefined", left - _NUMBER + 16, y + 4, class_="axis-name")
    text = number_text(row.value, decimals)
    number = words(text, left - 14, y + 4, text_anchor="end", class_=quiet)
    drawn = _title(row, decimals) + _whisker(row, y, across) + _mark(row, y, across)
    return name + tag("g", drawn) + number


def _title(row: Interval, decimals: int) -> str:
    note = f". {row.note}" if row.note else ""
    return tag("title", escape(_words(row, decimals) + note))


def _whisker(row: Interval, y: float, across: Scale) -> str:
    if not (math.isfinite(row.low) and math.isfinite(row.high)):
        return ""
    ends = [min(max(across(end), across.start), across.end) for end in (row.low, row.high)]
    line = f"M{short(ends[0])} {short(y)}H{short(ends[1])}"
    kind = "whisker faint" if row.kind == "baseline" else "whisker"
    return tag("path", d=line, class_=kind)


def _mark(row: Interval, y: float, across: Scale) -> str:
    x = min(max(across(row.value), across.start), across.end)
    if row.kind == "baseline":
        diamond = f"M{short(x)} {short(y - 5.5)}l5 5.5l-5 5.5l-5 -5.5Z"
        return tag("path", d=diamond, class_="trivial")
    return tag("circle", cx=short(x), cy=short(y), r=4.5, class_="dot")


def _legend(metric: str, baseline: str) -> str:
    """Say what the two shapes are."""
    drawn = tag("circle", cx=7, cy=10, r=4.5, class_="dot") + words(metric, 17, 14, class_="tick")
    x = 17 + width_of(metric, 11) + 20
    drawn += tag("path", d=f"M{short(x)} 4.5l5 5.5l-5 5.5l-5 -5.5Z", class_="trivial")
    return drawn + words(baseline, x + 10, 14, class_="tick")
