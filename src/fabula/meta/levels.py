"""Correlation of metrics with the gold at three levels: item, system and pooled.

`item`: over the systems of each item, averaged over the items where it is defined (HANNA's "story
level"). `system`: of the systems' means. `pooled`: over all stories at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from fabula.meta.arrays import Values, round_digits
from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.cross import cross_correlate
from fabula.meta.grid import Grid

Level = Literal["item", "system", "pooled"]
LEVELS: tuple[Level, ...] = get_args(Level)
_PAIRS = 40_000_000
Counts = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Correlations:
    """Coefficients of metrics × gold columns; what each rests on and how many were undefined.

    `n` counts items (item), systems (system) or stories (pooled). `undefined` counts the items
    left out of the mean, or 1 where the one coefficient is undefined.
    """

    value: Values  # (metrics, gold)
    n: Counts
    undefined: Counts


def correlate_grids(
    metrics: Grid,
    gold: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    settle: bool = False,
) -> Correlations:
    """Correlate every column of one grid with every column of another of the same layout."""
    x, y = metrics.values, gold.values  # (columns, items, systems)
    if level == "item":
        return mean_correlations(*item_correlations(x, y, coefficient))
    if level == "system":
        x, y = means_of_systems(x, settle=settle), means_of_systems(y, settle=settle)
    else:
        x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    value = cross_correlate(x, y, coefficient)
    there = (~np.isnan(x)).astype(np.int64) @ (~np.isnan(y)).astype(np.int64).T
    return Correlations(value, there, np.isnan(value).astype(np.int64))


def correlation_table(
    metrics: Grid, gold: Grid, *, level: Level, coefficient: Coefficient
) -> Values:
    """Give the coefficients alone: metrics × gold columns, NaN where undefined."""
    return correlate_grids(metrics, gold, level=level, coefficient=coefficient).value


def item_correlations(x: Values, y: Values, coefficient: Coefficient) -> tuple[Values, Counts]:
    """Correlate over the systems of every item: (m, g, items), and how many items there were.

    An item of which fewer than two stories have both values is none to count.
    """
    each = cross_correlate(x, y, coefficient)
    pairs = np.einsum("mis,gis->mgi", ~np.isnan(x), ~np.isnan(y), dtype=np.int64)
    return each, (pairs > 1).sum(-1)


def correlate_pairs(x: Values, y: Values, *, level: Level, coefficient: Coefficient) -> Values:
    """Correlate one grid of values with another, pair by pair: (b, items, systems) to (b,)."""
    if level == "item":
        each = correlate(x, y, coefficient)  # (b, items)
        return _defined_mean(each)
    if level == "system":
        return correlate(means_of_systems(x), means_of_systems(y), coefficient)
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    rows = max(1, _PAIRS // x.shape[1] ** 2)  # Kendall's tau holds all pairs of stories
    parts = [
        correlate(x[start : start + rows], y[start : start + rows], coefficient)
        for start in range(0, len(x), rows)
    ]
    return np.concatenate(parts)


def _defined_mean(each: Values) -> Values:
    defined = ~np.isnan(each)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: Values = np.where(defined, each, 0.0).sum(-1) / defined.sum(-1)
    return mean


def mean_correlations(each: Values, items: Counts) -> Correlations:
    """Average the coefficients of items where they are defined: (m, g, items) to (m, g)."""
    count = (~np.isnan(each)).sum(-1)
    return Correlations(_defined_mean(each), count, items - count)


def means_of_systems(x: Values, *, settle: bool = False) -> Values:
    """Mean over the items where there is a value: (columns, items, systems) to (…, systems).

    Means that are equal may differ in the last digit by the order in which they were added up, and
    then they are no ties: HANNA's published ranks of systems rest on one such accident. `settle`
    rounds to 12 digits.
    """
    by_system = np.ascontiguousarray(np.swapaxes(x, -1, -2))
    there = ~np.isnan(by_system)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(there, by_system, 0.0).sum(-1) / there.sum(-1)
    means = np.clip(means, *system_ends(x))
    return round_digits(means) if settle else means


def system_ends(x: Values) -> tuple[Values, Values]:
    """Least and largest value of every system, beyond which rounding must not take a mean.

    Three times 0.1 is more than 0.3: without these ends a constant might have unlike means.
    """
    low: Values = np.fmin.reduce(x, axis=-2, initial=np.inf)
    high: Values = np.fmax.reduce(x, axis=-2, initial=-np.inf)
    return low, high


LEVEL_WORDS: Mapping[Level, str] = {
    "item": "over the systems of an item, then averaged over items",
    "system": "over the means of the systems",
    "pooled": "over all stories at once",
}
