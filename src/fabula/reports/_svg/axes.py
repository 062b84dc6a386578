"""Scales, round ticks and the numbers beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.reports._markup import tag
from fabula.reports._svg.drawing import short, words


@dataclass(frozen=True)
class Scale:
    """Puts values from `low` to `high` on a line from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 6) -> list[float]:
        """Round values on the line, no more than asked for."""
        step = round_step(self.high - self.low, most)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [number * step for number in range(first, last + 1)]


def round_step(reach: float, most: int) -> float:
    """Smallest step of 1, 2 or 5 times a power of ten that makes few enough ticks."""
    power = 10.0 ** math.floor(math.log10(reach / most))
    return next(step * power for step in (1, 2, 5, 10, 20) if reach / (step * power) <= most)


def reach_of(values: Iterable[float], *, room: float = 0.04) -> tuple[float, float]:
    """Ends of an axis for some values, with room beyond them; NaN are left out."""
    there = [value for value in values if math.isfinite(value)]
    if not there:
        return 0.0, 1.0
    low, high = min(there), max(there)
    more = (high - low) * room if high > low else max(abs(high) * 0.1, 0.5)
    return low - more, high + more


def tick_words(value: float, step: float) -> str:
    """Write a tick with the decimals its step needs."""
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return number_words(value, decimals)


def number_words(value: float, decimals: int) -> str:
    """Write a number with a true minus sign; what is not there is a dash."""
    if not math.isfinite(value):
        return "–"
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def bottom_axis(scale: Scale, top: float, bottom: float, *, label: str = "", most: int = 7) -> str:
    """Draw ticks as thin lines over the whole height, with numbers below and what they mean."""
    ticks = scale.ticks(most)
    step = round_step(scale.high - scale.low, most)
    lines = "".join(f"M{short(scale(tick))} {short(top)}V{short(bottom)}" for tick in ticks)
    numbers = [
        words(tick_words(tick, step), scale(tick), bottom + 16, class_="tick", text_anchor="middle")
        for tick in ticks
    ]
    middle = (scale.start + scale.end) / 2
    name = words(label, middle, bottom + 36, class_="axis-name", text_anchor="middle")
    return tag("path", d=lines, class_="grid") + "".join(numbers) + (name if label else "")


def left_axis(scale: Scale, left: float, right: float, *, label: str = "", most: int = 6) -> str:
    """Draw ticks as thin lines over the whole width, with numbers left of them."""
    ticks = scale.ticks(most)
    step = round_step(abs(scale.high - scale.low), most)
    lines = "".join(f"M{short(left)} {short(scale(tick))}H{short(right)}" for tick in ticks)
    numbers = [
        words(tick_words(tick, step), left - 8, scale(tick) + 4, class_="tick", text_anchor="end")
        for tick in ticks
    ]
    name = words(label, 0, 14, class_="axis-name")
    return tag("path", d=lines, class_="grid") + "".join(numbers) + (name if label else "")
