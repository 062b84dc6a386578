"""Whether one metric agrees with the gold better than another: tests by permutation.

PERM-BOTH, PERM-INPUT and PERM-SYS of Deutsch, Dror and Roth (2021), A Statistical Analysis of
Summarization Evaluation Metrics Using Resampling Methods. If both metrics agreed equally with the
gold, it would not matter which of them scored a story. So cells (`both`), whole items (`item`,
PERM-INPUT) or whole systems (`system`, PERM-SYS) trade places between the metrics, each with
probability 1/2, and the difference of the two correlations is looked at again.

A mixture of two metrics counts each value of either once or not at all. An item of few systems
has few mixtures: they are all correlated once and then looked up.

Metrics of unlike scales cannot be mixed: each is standardised first, by its mean and standard
deviation over all cells. Metrics for which lower is better have to be turned by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from fabula.core.protocols import Progress, track
from fabula.meta.arrays import Flags, Places, Values, keep_shared, mean_defined, round_digits
from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.levels import Level, average_systems, check_choice, check_level, correlate_cells
from fabula.meta.weighted import weighted_correlations

Scheme = Literal["both", "item", "system"]
Alternative = Literal["two-sided", "greater", "less"]

# Differences that are equal but for rounding are to count as equal.
_ROUNDING = 1e-10
# Cells swapped at once.
_CELLS = 1_000_000
# Gives the coefficients of both metrics after swaps (resamples, items, systems).
Mixing = Callable[[Flags], tuple[Values, Values]]
# An item of more systems has more mixtures than are worth a table.
_TABLE_SYSTEMS = 12


@dataclass(frozen=True)
class Permuted:
    """Difference of two correlations with the gold, its p, and the resamples that p rests on.

    A resample in which either correlation is undefined is none.
    """

    difference: float
    p: float
    resamples: int


def perm_test(
    x: Values,
    y: Values,
    gold: Values,
    *,
    level: Level,
    coefficient: Coefficient,
    scheme: Scheme = "both",
    alternative: Alternative = "two-sided",
    resamples: int = 1000,
    seed: int = 0,
) -> Permuted:
    """Test whether x and y agree equally with the gold; all are items × systems.

    p is (hits + 1) / (resamples + 1); `greater` asks whether x agrees better. Cells that any of
    the three lacks are left out. A constant metric has no p.
    """
    swaps = draw_swaps(gold.shape, scheme=scheme, resamples=resamples, seed=seed)
    return swap_test(
        x, y, gold, swaps=swaps, level=level, coefficient=coefficient, alternative=alternative
    )


def swap_test(
    x: Values,
    y: Values,
    gold: Values,
    *,
    swaps: Iterable[Flags],
    level: Level,
    coefficient: Coefficient,
    alternative: Alternative = "two-sided",
) -> Permuted:
    """Give the same test for swaps that were drawn already, in chunks (rows, items, systems)."""
    check_choice("alternative", alternative, get_args(Alternative))
    observed, drawn = _differences(x, y, gold, swaps, level, coefficient)
    return Permuted(observed, _p(observed, drawn, alternative), len(drawn))


def perm_matrix(
    values: Values,
    gold: Values,
    *,
    level: Level,
    coefficient: Coefficient,
    scheme: Scheme = "both",
    alternative: Alternative = "greater",
    resamples: int = 1000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Values:
    """Test every two of the metrics (m, items, systems) with the same swaps: p, (m, m).

    With `greater` a cell holds the p of "the row's metric agrees better than the column's". The
    diagonal is NaN, as is whatever a constant metric takes part in.
    """
    check_choice("alternative", alternative, get_args(Alternative))
    p = np.full((len(values), len(values)), np.nan)
    pairs = list(combinations(range(len(values)), 2))
    chunks = list(draw_swaps(gold.shape, scheme=scheme, resamples=resamples, seed=seed))
    for first, second in track(pairs, progress):
        both = values[first], values[second]
        observed, drawn = _differences(*both, gold, chunks, level, coefficient)
        p[first, second] = _p(observed, drawn, alternative)
        p[second, first] = _p(-observed, -drawn, alternative)
    return p


def draw_swaps(
    shape: tuple[int, ...], *, scheme: Scheme, resamples: int, seed: int
) -> Iterator[Flags]:
    """Say which cells trade places, a chunk of resamples at a time.  (rows, items, systems)"""
    check_choice("scheme", scheme, get_args(Scheme))
    items, systems = shape
    rng = np.random.default_rng(seed)
    drawn = (1 if scheme == "system" else items, 1 if scheme == "item" else systems)
    most = max(1, _CELLS // max(1, items * systems))
    for start in range(0, resamples, most):
        rows = min(most, resamples - start)
        swaps = rng.integers(0, 2, (rows, *drawn), dtype=np.bool_)
        yield np.broadcast_to(swaps, (rows, items, systems))


def _differences(
    x: Values,
    y: Values,
    gold: Values,
    swaps: Iterable[Flags],
    level: Level,
    coefficient: Coefficient,
) -> tuple[float, Values]:
    """Give the observed difference, and that after each of the swaps where it is defined."""
    check_level(level, coefficient)
    x, y, gold = keep_shared(x, y, gold)
    x, y = standardise(x), standardise(y)
    of_x = correlate_cells(x, gold, level=level, coefficient=coefficient)
    of_y = correlate_cells(y, gold, level=level, coefficient=coefficient)
    if math.isnan(of_x - of_y):
        return math.nan, np.empty(0)
    mix = prepare_mixtures(x, y, gold, level=level, coefficient=coefficient)
    drawn = np.concatenate([np.subtract(*mix(chunk)) for chunk in swaps])
    return of_x - of_y, drawn[~np.isnan(drawn)]


def standardise(x: Values) -> Values:
    """Subtract the mean, divide by the standard deviation; NaN throughout where all are equal."""
    there = x[~np.isnan(x)]
    if not len(there) or (there == there[0]).all():
        return np.full(x.shape, np.nan)
    return round_digits((x - there.mean()) / there.std())


def _p(observed: float, drawn: Values, alternative: Alternative) -> float:
    if math.isnan(observed):
        return math.nan
    if alternative == "two-sided":
        observed, drawn = abs(observed), np.abs(drawn)
    elif alternative == "less":
        observed, drawn = -observed, -drawn
    hits = int(np.count_nonzero(drawn >= observed - _ROUNDING))
    return (hits + 1) / (len(drawn) + 1)


def prepare_mixtures(
    x: Values, y: Values, gold: Values, *, level: Level, coefficient: Coefficient
) -> Mixing:
    """Prepare two metrics and the gold, with the same cells missing, for any swaps."""
    if level == "system":
        return _system_mixing(x, y, gold, coefficient)
    if level == "pooled":
        return _pooled_mixing(x, y, gold, coefficient)
    groups = [
        _group_mixing(both[items][:, :, systems], coefficient, (items, systems))
        for both in [np.stack([x, y, gold], axis=1)]  # (items, 3, systems)
        for items, systems in _group_by_systems(~np.isnan(x))
    ]

    def mix(swaps: Flags) -> tuple[Values, Values]:
        parts = [group(swaps) for group in groups]
        if not parts:
            return np.full(len(swaps), np.nan), np.full(len(swaps), np.nan)
        left, right = (np.concatenate(side, axis=0) for side in zip(*parts, strict=True))
        return mean_defined(left.T), mean_defined(right.T)

    return mix


def _group_by_systems(there: Flags) -> list[tuple[Places, Places]]:
    """Group the items by which systems they have; those with fewer than two say nothing."""
    groups: dict[bytes, list[int]] = {}
    for item, row in enumerate(there):
        groups.setdefault(row.tobytes(), []).append(item)
    systems = [np.flatnonzero(there[items[0]]) for items in groups.values()]
    pairs = zip(groups.values(), systems, strict=True)
    return [(np.array(items), columns) for items, columns in pairs if len(columns) > 1]


def _group_mixing(
    values: Values, coefficient: Coefficient, places: tuple[Places, Places]
) -> Mixing:
    """Mix items that have the same systems.  values: (items, 3, systems)"""
    items, systems = places
    pool = values[:, :2].reshape(len(items), -1)
    gold = np.concatenate([values[:, 2], values[:, 2]], axis=1)
    count = len(systems)
    table = _tabulate(pool, gold, coefficient) if count <= _TABLE_SYSTEMS else None

    def mix(swaps: Flags) -> tuple[Values, Values]:
        whole = 2 * swaps[0].size == pool.size
        here = swaps if whole else swaps[:, items[:, None], systems]
        if table is None:
            return _correlate_each(here, pool, gold, coefficient)
        rows, codes = np.arange(len(items))[:, None], _number_mixtures(here).T
        return table[rows, codes], table[rows, 2**count - 1 - codes]

    return mix


def _tabulate(pool: Values, gold: Values, coefficient: Coefficient) -> Values:
    """Correlate every mixture of every item; the bits of its number say what was swapped."""
    count = pool.shape[1] // 2
    bits = np.arange(2**count)[:, None] >> np.arange(count) & 1
    return weighted_correlations(_weigh_swapped(bits == 1), pool, gold, coefficient=coefficient)


def _number_mixtures(swaps: Flags) -> Places:
    """Number the mixtures of the items.  (resamples, items, systems) -> (resamples, items)"""
    powers = (2.0 ** np.arange(swaps.shape[-1])).astype(np.float32)
    codes: Places = (swaps.astype(np.float32) @ powers).astype(np.intp)
    return codes


def _correlate_each(
    swaps: Flags, pool: Values, gold: Values, coefficient: Coefficient
) -> tuple[Values, Values]:
    """Correlate the mixtures item by item.  (items, resamples)"""
    sides: tuple[list[Values], list[Values]] = ([], [])
    for item in range(len(pool)):
        for side, swapped in zip(sides, (swaps[:, item], ~swaps[:, item]), strict=True):
            rows = pool[item : item + 1], gold[item : item + 1]
            side.append(
                weighted_correlations(_weigh_swapped(swapped), *rows, coefficient=coefficient)
            )
    return np.concatenate(sides[0]), np.concatenate(sides[1])


def _weigh_swapped(swapped: Flags) -> Values:
    """Weigh the values of both metrics: what is swapped is taken from the second."""
    return np.concatenate([~swapped, swapped], axis=1).astype(np.float64)


def _system_mixing(x: Values, y: Values, gold: Values, coefficient: Coefficient) -> Mixing:
    there = ~np.isnan(x)
    rated = there.any(0)
    moves = np.where(there, y - x, 0.0)[:, rated]
    counts = there.sum(0)[rated]
    mean_x, mean_y, goal = (
        average_systems(column, round_ties=True)[rated] for column in (x, y, gold)
    )

    def mix(swaps: Flags) -> tuple[Values, Values]:
        moved = np.einsum("bis,is->bs", swaps[:, :, rated], moves) / counts
        left, right = round_digits(mean_x + moved), round_digits(mean_y - moved)
        return correlate(left, goal, coefficient), correlate(right, goal, coefficient)

    return mix


def _pooled_mixing(x: Values, y: Values, gold: Values, coefficient: Coefficient) -> Mixing:
    there = np.flatnonzero(~np.isnan(x))
    pool = np.concatenate([x.ravel()[there], y.ravel()[there]])[None]
    goal = np.concatenate([gold.ravel()[there]] * 2)[None]

    def mix(swaps: Flags) -> tuple[Values, Values]:
        swapped = swaps.reshape(len(swaps), -1)[:, there]
        left, right = (
            weighted_correlations(_weigh_swapped(side), pool, goal, coefficient=coefficient)[0]
            for side in (swapped, ~swapped)
        )
        return left, right

    return mix
