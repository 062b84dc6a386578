"""Figures with bootstrap intervals; what belongs together (a prompt's stories) is drawn as one.

Of fewer than five groups no interval is given: it would say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.resampling import draw_counts
from fabula.replication.storyer._findings import Estimate

Array = np.ndarray[Any, np.dtype[Any]]
Figure = Callable[[Array], float]
_ALPHA = 0.05
_FEWEST = 5  # of fewer groups an interval would say nothing


def mean_estimate(
    values: Array, groups: Sequence[str], *, resamples: int, seed: int = 0
) -> Estimate:
    """Give the mean of values; missing ones are left out, groups are drawn as one."""
    there = ~np.isnan(values)
    values, numbers = (
        values[there],
        _numbers([g for g, ok in zip(groups, there, strict=True) if ok]),
    )
    if not len(values):
        return Estimate(float("nan"))
    sums, sizes = np.bincount(numbers, values), np.bincount(numbers)
    if len(sizes) < _FEWEST:
        return Estimate(float(values.mean()))
    counts = draw_counts(len(sizes), resamples, seed)
    return _estimate(float(values.mean()), (counts @ sums) / (counts @ sizes))


def figure_estimate(
    figure: Figure, groups: Sequence[str], *, resamples: int, seed: int = 0
) -> Estimate:
    """Give a figure of rows, by their numbers; groups of rows are drawn as one."""
    numbers = _numbers(groups)
    rows = [np.flatnonzero(numbers == one) for one in range(numbers.max(initial=-1) + 1)]
    if len(rows) < _FEWEST:
        return Estimate(figure(np.arange(len(numbers))))
    rng = np.random.default_rng(seed)
    drawn = [
        figure(np.concatenate([rows[one] for one in rng.integers(len(rows), size=len(rows))]))
        for _ in range(resamples)
    ]
    return _estimate(figure(np.arange(len(numbers))), np.array(drawn))


def correlation_estimate(
    x: Array,
    y: Array,
    groups: Sequence[str],
    *,
    coefficient: Coefficient = "spearman",
    resamples: int,
    seed: int = 0,
) -> tuple[Estimate, int]:
    """Correlate two columns where both are known; give the coefficient and the number of rows."""
    there = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[there], y[there]
    kept = [group for group, ok in zip(groups, there, strict=True) if ok]

    def figure(rows: Array) -> float:
        return float(correlate(x[rows], y[rows], coefficient))

    return figure_estimate(figure, kept, resamples=resamples, seed=seed), len(x)


def _numbers(groups: Sequence[str]) -> Array:
    place = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    return np.array([place[group] for group in groups], dtype=np.int64)


def _estimate(value: float, drawn: Array) -> Estimate:
    known = drawn[~np.isnan(drawn)]
    if len(known) < len(drawn) / 2 or not len(known):
        return Estimate(value)
    low, high = np.quantile(known, [_ALPHA / 2, 1 - _ALPHA / 2])
    return Estimate(value, float(low), float(high))
