"""Where the systems stand: means with intervals, which is best, how strong a cell is coloured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabula.meta.resampling import Sample, estimate_means
from fabula.reports._report_data import Array, Column, ReportData
from fabula.reports.numbers import decimals_for, number_text


@dataclass(frozen=True)
class Standings:
    """Systems × columns: mean, interval, and how many stories have a value or lack one."""

    systems: list[str]
    columns: list[Column]
    mean: Array
    low: Array
    high: Array
    scored: Array
    left_out: Array
    by_item: bool

    @cached_property
    def best(self) -> list[int | None]:
        """Of each column the system whose interval is better than that of every other one."""
        return [self._best(number) for number in range(len(self.columns))]

    def _best(self, number: int) -> int | None:
        there = np.flatnonzero(np.isfinite(self.mean[:, number]))
        worst_case, best_case = (ends[there] for ends in self._oriented(number))
        if len(there) < 2 or not np.isfinite(worst_case).all():
            return None
        first = int(np.argmax(worst_case))
        others = np.delete(best_case, first)
        return int(there[first]) if worst_case[first] > others.max() else None

    def _oriented(self, number: int) -> tuple[Array, Array]:
        """Interval ends such that more is better; NaN where no way is better."""
        low, high = self.low[:, number], self.high[:, number]
        sign = {"higher": 1.0, "lower": -1.0}.get(self.columns[number].direction, math.nan)
        ends = (low, high) if sign > 0 else (high, low)
        return sign * ends[0], sign * ends[1]

    @cached_property
    def strengths(self) -> list[list[float | None]]:
        """Of each column how good the systems are: 0 is the worst here, None is unknown.

        The best is at 1, or below where differences are smaller than the usual interval, so
        that noise stays pale.
        """
        return [self._strengths(number) for number in range(len(self.columns))]

    def _strengths(self, number: int) -> list[float | None]:
        direction = self.columns[number].direction
        means = self.mean[:, number] * (-1 if direction == "lower" else 1)
        there = np.isfinite(means)
        if direction == "descriptive" or there.sum() < 2:
            return [None] * len(means)
        worst = means[there].min()
        widths = (self.high - self.low)[:, number]
        usual = float(np.median(widths[np.isfinite(widths)])) if np.isfinite(widths).any() else 0.0
        span = max(float(means[there].max() - worst), usual) or math.inf
        return [float((mean - worst) / span) if np.isfinite(mean) else None for mean in means]

    def decimals(self, number: int) -> int:
        """As many decimals as the column's means deserve."""
        return decimals_for(map(float, self.mean[:, number]))

    def number(self, value: float, column: int) -> str:
        """Write a value of a column; a dash where there is none."""
        return number_text(value, self.decimals(column))


def stand(data: ReportData, *, seed: int) -> Standings:
    """Work the means and intervals of all systems out."""
    places = data.places().values()
    samples = [Sample(_units(data, found), data.values[found]) for found in places]
    estimates = estimate_means(samples, seed=seed)
    width = len(data.columns)
    scored = _stacked([one.n for one in estimates], width)
    asked = _stacked([(data.statuses[found] > 0).sum(axis=0) for found in places], width)
    return Standings(
        data.systems,
        data.columns,
        _stacked([one.value for one in estimates], width),
        _stacked([one.low for one in estimates], width),
        _stacked([one.high for one in estimates], width),
        scored=scored,
        left_out=asked - scored,
        by_item=bool(data.stories) and all(story.item for story in data.stories),
    )


def _units(data: ReportData, places: Array) -> list[str]:
    """What is resampled of a system: its items, or its stories where some have no item."""
    stories = [data.stories[place] for place in places]
    items = [story.item for story in stories]
    return [item for item in items if item] if all(items) else [story.id for story in stories]


def _stacked(rows: Sequence[Array], width: int) -> Array:
    return np.array(rows).reshape(len(rows), width)
