"""One ranking of metrics out of many columns of correlations: Borda's points, the mean, Kemeny's.

A column is one coefficient with one aspect at one level; what counts is its size, not its sign.
Kemeny's (1959) ranking disagrees least with all columns; it is found exactly, for few metrics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fabula.core.errors import InputError
from fabula.meta.arrays import Counts, Places, Values, average_ranks

Ties = Literal["average", "stable"]
# Correlations that agree so far differ by rounding alone and are ties.
_DECIMALS = 10
# All subsets of the metrics are gone through: 2**16 of them take a tenth of a second.
MOST_METRICS = 16


def borda(correlations: Values, *, ties: Ties = "average") -> Values:
    """Points of every metric: (metrics, columns) to (metrics,); the more the better.

    In each column the metric with the smallest absolute correlation has 0 points, the next 1, and
    so on; undefined is last. Metrics that tie share the mean of their points. With `stable`, as in
    HANNA's release, the one that comes first has fewer: its printed numbers at the level of
    systems rest on an unstable sort (numpy before 1.25) and cannot be had again.
    """
    strengths = column_strengths(correlations).T  # (columns, metrics)
    if ties == "stable":
        points = np.argsort(np.argsort(strengths, axis=1, kind="stable"), axis=1).astype(np.float64)
    else:
        points = average_ranks(strengths) - 1
    total: Values = points.sum(axis=0)
    return total


def mean_strength(correlations: Values) -> Values:
    """Mean absolute correlation of every metric over the columns that are defined for any.

    NaN where one of these is undefined for the metric: a mean over fewer would not compare.
    """
    defined = ~np.isnan(correlations).all(axis=0)
    if not defined.any():
        return np.full(len(correlations), np.nan)
    means: Values = np.abs(correlations[:, defined]).mean(axis=1)
    return means


def column_strengths(correlations: Values) -> Values:
    """Absolute correlations, rounded so that ties are ties; -1, the least, where undefined."""
    rounded = np.round(np.abs(correlations), _DECIMALS)
    return np.where(np.isnan(rounded), -1.0, rounded)


def rank_places(points: Values) -> Places:
    """Rank from 1, the highest first; equal ones share the better rank, NaN is last."""
    known = np.where(np.isnan(points), -np.inf, np.round(points, _DECIMALS))
    ranks: Places = 1 + (known[None, :] > known[:, None]).sum(axis=1)
    return ranks


@dataclass(frozen=True)
class Kemeny:
    """A best ranking, and what all best rankings have in common.

    `order` is that best ranking in which metrics stand as they came, as far as possible.
    `distance` counts the pairs of metrics that it ranks against a column, summed over columns;
    pairs that tie in a column count nowhere. `solutions` is how many rankings are as good;
    `first` and `last` are the best and worst place of each metric in any of them, from 1.
    """

    order: tuple[int, ...]
    distance: int
    solutions: int
    first: tuple[int, ...]
    last: tuple[int, ...]


def kemeny(correlations: Values) -> Kemeny:
    """Rank metrics by their absolute correlations: (metrics, columns). Undefined is last.

    Dynamic programming over all sets of metrics that may stand at the top.
    """
    count = len(correlations)
    if count > MOST_METRICS:
        raise InputError(
            f"the Kemeny ranking of {count} metrics is out of reach",
            f"choose at most {MOST_METRICS} of them, or rank by borda",
        )
    added = _added_costs(disagreements(correlations))  # (metrics, sets)
    above = _least_costs(added)  # (sets,)
    below = _least_costs_below(added)
    return _solve(added, above, below)


def disagreements(correlations: Values) -> Counts:
    """In how many columns the second of two metrics is stronger: (metrics, metrics)."""
    strengths = column_strengths(correlations)
    costs: Counts = (strengths[None, :, :] > strengths[:, None, :]).sum(-1, dtype=np.int64)
    return costs


def _added_costs(costs: Counts) -> Counts:
    """What it costs to put a metric right below a set: the sum over the set, for every set."""
    count = len(costs)
    added = np.zeros((count, 1 << count), dtype=np.int64)
    for metric in range(count):
        half = 1 << metric
        added[:, half : 2 * half] = added[:, :half] + costs[metric][:, None]
    return added


def _sets_by_size(count: int) -> list[Places]:
    sets = np.arange(1 << count)
    sizes = ((sets[:, None] >> np.arange(count)) & 1).sum(1)
    return [sets[sizes == size] for size in range(count + 1)]


def _least_costs(added: Counts) -> Counts:
    """Least cost of ranking the metrics of every set at the top."""
    count = len(added)
    least = np.full(1 << count, np.iinfo(np.int64).max // 2)
    least[0] = 0
    for sets in _sets_by_size(count)[:-1]:
        for metric in range(count):
            free = sets[(sets >> metric) & 1 == 0]
            joined = free | 1 << metric
            least[joined] = np.minimum(least[joined], least[free] + added[metric, free])
    return least


def _least_costs_below(added: Counts) -> Counts:
    """Least cost of ranking all other metrics below every set."""
    count = len(added)
    least = np.full(1 << count, np.iinfo(np.int64).max // 2)
    least[-1] = 0
    for sets in reversed(_sets_by_size(count)[:-1]):
        for metric in range(count):
            free = sets[(sets >> metric) & 1 == 0]
            joined = free | 1 << metric
            least[free] = np.minimum(least[free], least[joined] + added[metric, free])
    return least


def _solve(added: Counts, above: Counts, below: Counts) -> Kemeny:
    """Go through the steps that lie on a best ranking: count them, and note who stands where."""
    count, distance = len(added), int(above[-1])
    ways = np.zeros(1 << count, dtype=np.int64)
    ways[0] = 1
    first, last = [count] * count, [1] * count
    for size, sets in enumerate(_sets_by_size(count)[:-1]):
        for metric in range(count):
            free = sets[(sets >> metric) & 1 == 0]
            joined = free | 1 << metric
            best = above[free] + added[metric, free] + below[joined] == distance
            if best.any():
                ways[joined[best]] += ways[free[best]]
                first[metric] = min(first[metric], size + 1)
                last[metric] = max(last[metric], size + 1)
    order = _first_order(added, above, below)
    return Kemeny(order, distance, int(ways[-1]), tuple(first), tuple(last))


def _first_order(added: Counts, above: Counts, below: Counts) -> tuple[int, ...]:
    count, chosen = len(added), 0
    order: list[int] = []
    for _ in range(count):
        for metric in range(count):
            joined = chosen | 1 << metric
            step = above[chosen] + added[metric, chosen] + below[joined]
            if joined != chosen and step == above[-1]:
                order.append(metric)
                chosen = joined
                break
    return tuple(order)
