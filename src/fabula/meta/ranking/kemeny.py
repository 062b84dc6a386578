"""The ranking that disagrees least with all columns (Kemeny, 1959), exactly, for few metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.meta.arrays import Values
from fabula.meta.ranking.borda import column_strengths

Costs = np.ndarray[Any, np.dtype[np.int64]]
# All subsets of the metrics are gone through: 2**16 of them take a tenth of a second.
MOST_METRICS = 16


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
    return _solved(added, above, below)


def disagreements(correlations: Values) -> Costs:
    """In how many columns the second of two metrics is stronger: (metrics, metrics)."""
    strengths = column_strengths(correlations)
    costs: Costs = (strengths[None, :, :] > strengths[:, None, :]).sum(-1, dtype=np.int64)
    return costs


def _added_costs(costs: Costs) -> Costs:
    """What it costs to put a metric right below a set: the sum over the set, for every set."""
    count = len(costs)
    added = np.zeros((count, 1 << count), dtype=np.int64)
    for one in range(count):
        half = 1 << one
        added[:, half : 2 * half] = added[:, :half] + costs[one][:, None]
    return added


def _sets_by_size(count: int) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    sets = np.arange(1 << count)
    sizes = ((sets[:, None] >> np.arange(count)) & 1).sum(1)
    return [sets[sizes == size] for size in range(count + 1)]


def _least_costs(added: Costs) -> Costs:
    """Least cost of ranking the metrics of every set at the top."""
    count = len(added)
    least = np.full(1 << count, np.iinfo(np.int64).max // 2)
    least[0] = 0
    for sets in _sets_by_size(count)[:-1]:
        for one in range(count):
            free = sets[(sets >> one) & 1 == 0]
            joined = free | 1 << one
            least[joined] = np.minimum(least[joined], least[free] + added[one, free])
    return least


def _least_costs_below(added: Costs) -> Costs:
    """Least cost of ranking all other metrics below every set."""
    count = len(added)
    least = np.full(1 << count, np.iinfo(np.int64).max // 2)
    least[-1] = 0
    for sets in reversed(_sets_by_size(count)[:-1]):
        for one in range(count):
            free = sets[(sets >> one) & 1 == 0]
            joined = free | 1 << one
            least[free] = np.minimum(least[free], least[joined] + added[one, free])
    return least


def _solved(added: Costs, above: Costs, below: Costs) -> Kemeny:
    """Go through the steps that lie on a best ranking: count them, and note who stands where."""
    count, distance = len(added), int(above[-1])
    ways = np.zeros(1 << count, dtype=np.int64)
    ways[0] = 1
    first, last = [count] * count, [1] * count
    for size, sets in enumerate(_sets_by_size(count)[:-1]):
        for one in range(count):
            free = sets[(sets >> one) & 1 == 0]
            joined = free | 1 << one
            best = above[free] + added[one, free] + below[joined] == distance
            if best.any():
                ways[joined[best]] += ways[free[best]]
                first[one], last[one] = min(first[one], size + 1), max(last[one], size + 1)
    order = _first_order(added, above, below)
    return Kemeny(order, distance, int(ways[-1]), tuple(first), tuple(last))


def _first_order(added: Costs, above: Costs, below: Costs) -> tuple[int, ...]:
    count, chosen = len(added), 0
    order: list[int] = []
    for _ in range(count):
        for one in range(count):
            joined = chosen | 1 << one
            step = above[chosen] + added[one, chosen] + below[joined]
            if joined != chosen and step == above[-1]:
                order.append(one)
                chosen = joined
                break
    return tuple(order)
