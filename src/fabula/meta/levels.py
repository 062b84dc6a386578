"""Correlation of metrics with the gold at three levels: item, system and pooled.

`item`: over the systems of each item, averaged over the items where it is defined (HANNA's "story
level"). `system`: of the systems' means. `pooled`: over all stories at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from fabula.core.errors import SettingError, closest
from fabula.meta.arrays import Counts, Values, mean_defined, round_digits
from fabula.meta.coefficients import COEFFICIENTS, Coefficient, correlate, cross_correlate
from fabula.meta.grid import Grid

Level = Literal["item", "system", "pooled"]
LEVELS: tuple[Level, ...] = get_args(Level)
LEVEL_WORDS: Mapping[Level, str] = {
    "item": "over the systems of an item, then averaged over items",
    "system": "over the means of the systems",
    "pooled": "over all stories at once",
}
# Values of stories that are correlated at once.
_CELLS = 4_000_000


@dataclass(frozen=True)
class CorrelationTable:
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
    round_ties: bool = False,
) -> CorrelationTable:
    """Correlate every column of one grid with every column of another of the same layout."""
    x, y = metrics.values, gold.values  # (columns, items, systems)
    if level == "item":
        return average_items(*correlate_items(x, y, coefficient))
    if level == "system":
        x, y = average_systems(x, round_ties=round_ties), average_systems(y, round_ties=round_ties)
    else:
        x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    value = cross_correlate(x, y, coefficient)
    there = (~np.isnan(x)).astype(np.int64) @ (~np.isnan(y)).astype(np.int64).T
    return CorrelationTable(value, there, np.isnan(value).astype(np.int64))


def correlation_table(
    metrics: Grid, gold: Grid, *, level: Level, coefficient: Coefficient
) -> Values:
    """Give the coefficients alone: metrics × gold columns, NaN where undefined."""
    return correlate_grids(metrics, gold, level=level, coefficient=coefficient).value


def correlate_items(x: Values, y: Values, coefficient: Coefficient) -> tuple[Values, Counts]:
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
        return mean_defined(each)
    if level == "system":
        return correlate(average_systems(x), average_systems(y), coefficient)
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    rows = max(1, _CELLS // x.shape[1])
    parts = [
        correlate(x[start : start + rows], y[start : start + rows], coefficient)
        for start in range(0, len(x), rows)
    ]
    return np.concatenate(parts)


def average_items(each: Values, items: Counts) -> CorrelationTable:
    """Average the coefficients of items where they are defined: (m, g, items) to (m, g)."""
    count = (~np.isnan(each)).sum(-1)
    return CorrelationTable(mean_defined(each), count, items - count)


def average_systems(x: Values, *, round_ties: bool = False) -> Values:
    """Mean over the items where there is a value: (columns, items, systems) to (…, systems).

    Means that are equal may differ in the last digit by the order in which they were added up, and
    then they are no ties: HANNA's published ranks of systems rest on one such accident.
    `round_ties` rounds to 12 digits.
    """
    by_system = np.ascontiguousarray(np.swapaxes(x, -1, -2))
    there = ~np.isnan(by_system)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(there, by_system, 0.0).sum(-1) / there.sum(-1)
    means = np.clip(means, *system_bounds(x))
    return round_digits(means) if round_ties else means


def system_bounds(x: Values) -> tuple[Values, Values]:
    """Least and largest value of every system, beyond which rounding must not take a mean.

    Three times 0.1 is more than 0.3: without these ends a constant might have unlike means.
    """
    low: Values = np.fmin.reduce(x, axis=-2, initial=np.inf)
    high: Values = np.fmax.reduce(x, axis=-2, initial=-np.inf)
    return low, high


def check_choice(what: str, choice: str, choices: Collection[str]) -> None:
    """Refuse a setting that is none of the choices."""
    if choice not in choices:
        raise SettingError(f"no {what} is called {choice!r}", closest(choice, choices))


def check_level(level: str, coefficient: str = "pearson") -> None:
    """Refuse a level or a coefficient that does not exist."""
    check_choice("level", level, LEVELS)
    check_choice("coefficient", coefficient, COEFFICIENTS)


def correlate_cells(x: Values, gold: Values, *, level: Level, coefficient: Coefficient) -> float:
    """Correlate two arrays at a level; means of systems that differ by rounding alone are ties."""
    rows = vectors_at(np.stack([x, gold]), level)
    return float(mean_defined(correlate(rows[0], rows[1], coefficient)))


def vectors_at(columns: Values, level: Level) -> Values:
    """Give the vectors that a level correlates: (columns, items, systems) to (columns, rows, n).

    A row is an item at level `item`; there is but one at the others. Rows with fewer than two
    values are left out.
    """
    if level == "system":
        columns = average_systems(columns, round_ties=True)[:, None]
    elif level == "pooled":
        columns = columns.reshape(len(columns), 1, -1)
    enough = (~np.isnan(columns[0])).sum(-1) > 1
    rows: Values = columns[:, enough]
    return rows


def correlate_top_k(
    metrics: Grid, gold: Grid, *, sizes: Sequence[int], coefficient: Coefficient = "pearson"
) -> Values:
    """Correlate the means of the best k systems, for every k: (metrics, gold columns, sizes).

    The best are those with the highest mean on each gold column. Signed; NaN where undefined.
    """
    count = len(gold.layout.systems)
    for size in sizes:
        if not 2 <= size <= count:
            raise SettingError(f"k={size} will not do", f"give 2 to {count}, the number of systems")
    means, gold_means = average_systems(metrics.values), average_systems(gold.values)
    curves = np.empty((len(metrics.columns), len(gold.columns), len(sizes)))
    for place, truth in enumerate(gold_means):
        order = order_best_first(truth)
        for k, size in enumerate(sizes):
            best = order[:size]
            table = cross_correlate(means[:, best], truth[None, best], coefficient)
            curves[:, place, k] = table[:, 0]
    return curves


def order_best_first(means: Values) -> list[int]:
    """Places of the systems from best to worst, by their means to two decimals.

    Of systems that agree so far the later one comes first, as in HANNA's release: a k that parts
    such systems is arbitrary. One without a mean comes last.
    """
    rounded = np.where(np.isnan(means), -np.inf, np.round(means, 2))
    return [int(place) for place in np.argsort(rounded, kind="stable")[::-1]]
