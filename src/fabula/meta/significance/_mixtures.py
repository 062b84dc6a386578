"""Two metrics that trade places in some cells: how far either then agrees with the gold.

A mixture counts each value of either metric once or not at all. An item of few systems has few
mixtures: they are all correlated once and then looked up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fabula.meta.arrays import Values, mean_defined, round_digits
from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.levels import Level, means_of_systems
from fabula.meta.significance._weighted import Whole, weighted_correlations

Bools = np.ndarray[Any, np.dtype[np.bool_]]
# Gives the coefficients of both metrics after swaps (resamples, items, systems).
Mixing = Callable[[Bools], tuple[Values, Values]]

# An item of more systems has more mixtures than are worth a table.
_TABLE_SYSTEMS = 12


def mixing(x: Values, y: Values, gold: Values, *, level: Level, coefficient: Coefficient) -> Mixing:
    """Prepare two metrics and the gold, with the same cells missing, for any swaps."""
    if level == "system":
        return _system_mixing(x, y, gold, coefficient)
    if level == "pooled":
        return _pooled_mixing(x, y, gold, coefficient)
    groups = [
        _group_mixing(both[items][:, :, systems], coefficient, (items, systems))
        for both in [np.stack([x, y, gold], axis=1)]  # (items, 3, systems)
        for items, systems in _alike(~np.isnan(x))
    ]

    def mixed(swaps: Bools) -> tuple[Values, Values]:
        found = [group(swaps) for group in groups]
        if not found:
            return np.full(len(swaps), np.nan), np.full(len(swaps), np.nan)
        left, right = (np.concatenate(side, axis=0) for side in zip(*found, strict=True))
        return mean_defined(left.T), mean_defined(right.T)

    return mixed


def _alike(there: Bools) -> list[tuple[Whole, Whole]]:
    """Part the items by which systems they have; those with fewer than two say nothing."""
    groups: dict[bytes, list[int]] = {}
    for item, row in enumerate(there):
        groups.setdefault(row.tobytes(), []).append(item)
    systems = [np.flatnonzero(there[items[0]]) for items in groups.values()]
    found = zip(groups.values(), systems, strict=True)
    return [(np.array(items), columns) for items, columns in found if len(columns) > 1]


def _group_mixing(values: Values, coefficient: Coefficient, places: tuple[Whole, Whole]) -> Mixing:
    """Mix items that have the same systems.  values: (items, 3, systems)"""
    items, systems = places
    pool = values[:, :2].reshape(len(items), -1)
    gold = np.concatenate([values[:, 2], values[:, 2]], axis=1)
    count = len(systems)
    table = _table(pool, gold, coefficient) if count <= _TABLE_SYSTEMS else None

    def mixed(swaps: Bools) -> tuple[Values, Values]:
        whole = 2 * swaps[0].size == pool.size
        here = swaps if whole else swaps[:, items[:, None], systems]
        if table is None:
            return _each(here, pool, gold, coefficient)
        rows, codes = np.arange(len(items))[:, None], _codes(here).T
        return table[rows, codes], table[rows, 2**count - 1 - codes]

    return mixed


def _table(pool: Values, gold: Values, coefficient: Coefficient) -> Values:
    """Correlate every mixture of every item; the bits of its number say what was swapped."""
    count = pool.shape[1] // 2
    bits = np.arange(2**count)[:, None] >> np.arange(count) & 1
    return weighted_correlations(_chosen(bits == 1), pool, gold, coefficient=coefficient)


def _codes(swaps: Bools) -> Whole:
    """Number the mixtures of the items.  (resamples, items, systems) -> (resamples, items)"""
    powers = (2.0 ** np.arange(swaps.shape[-1])).astype(np.float32)
    codes: Whole = (swaps.astype(np.float32) @ powers).astype(np.intp)
    return codes


def _each(
    swaps: Bools, pool: Values, gold: Values, coefficient: Coefficient
) -> tuple[Values, Values]:
    """Correlate the mixtures item by item.  (items, resamples)"""
    sides: tuple[list[Values], list[Values]] = ([], [])
    for item in range(len(pool)):
        for side, swapped in zip(sides, (swaps[:, item], ~swaps[:, item]), strict=True):
            one = pool[item : item + 1], gold[item : item + 1]
            side.append(weighted_correlations(_chosen(swapped), *one, coefficient=coefficient))
    return np.concatenate(sides[0]), np.concatenate(sides[1])


def _chosen(swapped: Bools) -> Values:
    """Weigh the values of both metrics: what is swapped is taken from the second."""
    return np.concatenate([~swapped, swapped], axis=1).astype(np.float64)


def _system_mixing(x: Values, y: Values, gold: Values, coefficient: Coefficient) -> Mixing:
    there = ~np.isnan(x)
    some = there.any(0)
    moves = np.where(there, y - x, 0.0)[:, some]
    counts = there.sum(0)[some]
    mean_x, mean_y, goal = (means_of_systems(one, settle=True)[some] for one in (x, y, gold))

    def mixed(swaps: Bools) -> tuple[Values, Values]:
        moved = np.einsum("bis,is->bs", swaps[:, :, some], moves) / counts
        left, right = round_digits(mean_x + moved), round_digits(mean_y - moved)
        return correlate(left, goal, coefficient), correlate(right, goal, coefficient)

    return mixed


def _pooled_mixing(x: Values, y: Values, gold: Values, coefficient: Coefficient) -> Mixing:
    there = np.flatnonzero(~np.isnan(x))
    pool = np.concatenate([x.ravel()[there], y.ravel()[there]])[None]
    goal = np.concatenate([gold.ravel()[there]] * 2)[None]

    def mixed(swaps: Bools) -> tuple[Values, Values]:
        swapped = swaps.reshape(len(swaps), -1)[:, there]
        left, right = (
            weighted_correlations(_chosen(side), pool, goal, coefficient=coefficient)[0]
            for side in (swapped, ~swapped)
        )
        return left, right

    return mixed
