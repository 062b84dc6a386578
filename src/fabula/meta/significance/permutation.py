"""Whether one metric agrees with the gold better than another: tests by permutation.

PERM-BOTH, PERM-INPUT and PERM-SYS of Deutsch, Dror and Roth (2021), A Statistical Analysis of
Summarization Evaluation Metrics Using Resampling Methods. If both metrics agreed equally with the
gold, it would not matter which of them scored a story. So cells (`both`), whole items (`item`,
PERM-INPUT) or whole systems (`system`, PERM-SYS) trade places between the metrics, each with
probability 1/2, and the difference of the two correlations is looked at again.

Metrics of unlike scales cannot be mixed: each is standardised first, by its mean and standard
deviation over all cells. Metrics for which lower is better have to be turned by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np

from fabula.core.protocols import Progress, track
from fabula.meta.arrays import Values, keep_shared, round_digits
from fabula.meta.bootstrap import Drawn, resampled_correlations
from fabula.meta.cells import check_choice, check_level, correlate_cells
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Column, Grid, Layout
from fabula.meta.levels import Level
from fabula.meta.resampling import percentile_interval
from fabula.meta.significance._mixtures import Bools, mixing

Scheme = Literal["both", "item", "system"]
Alternative = Literal["two-sided", "greater", "less"]

# Differences that are equal but for rounding are to count as equal.
_ROUNDING = 1e-10
# Cells swapped at once.
_CELLS = 1_000_000


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
    swaps: Iterable[Bools],
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
    found = np.full((len(values), len(values)), np.nan)
    pairs = list(combinations(range(len(values)), 2))
    chunks = list(draw_swaps(gold.shape, scheme=scheme, resamples=resamples, seed=seed))
    for one, other in track(pairs, progress):
        both = values[one], values[other]
        observed, drawn = _differences(*both, gold, chunks, level, coefficient)
        found[one, other] = _p(observed, drawn, alternative)
        found[other, one] = _p(-observed, -drawn, alternative)
    return found


def difference_interval(
    x: Values,
    y: Values,
    gold: Values,
    *,
    level: Level,
    coefficient: Coefficient,
    drawn: Drawn = "items",
    resamples: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
) -> tuple[float, float]:
    """Give the bootstrap interval of r(x, gold) - r(y, gold), both from the same draws.

    Items are drawn again, or with `both` systems and items (Deutsch, Dror and Roth's BOOT-BOTH).
    """
    check_level(level, coefficient)
    check_choice("kind of draw", drawn, get_args(Drawn))
    x, y, gold = keep_shared(x, y, gold)
    items, systems = gold.shape
    layout = Layout(tuple(map(str, range(items))), tuple(map(str, range(systems))), {})
    found = resampled_correlations(
        Grid(layout, (Column("x"), Column("y")), np.stack([x, y])),
        Grid(layout, (Column("gold"),), gold[None]),
        level=level,
        coefficient=coefficient,
        drawn=drawn,
        resamples=resamples,
        seed=seed,
    )
    low, high = percentile_interval(found[:, 0] - found[:, 1], alpha)
    return float(low[0]), float(high[0])


def draw_swaps(
    shape: tuple[int, ...], *, scheme: Scheme, resamples: int, seed: int
) -> Iterator[Bools]:
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
    swaps: Iterable[Bools],
    level: Level,
    coefficient: Coefficient,
) -> tuple[float, Values]:
    """Give the observed difference, and that after each of the swaps where it is defined."""
    check_level(level, coefficient)
    x, y, gold = keep_shared(x, y, gold)
    x, y = _standardised(x), _standardised(y)
    of_x = correlate_cells(x, gold, level=level, coefficient=coefficient)
    of_y = correlate_cells(y, gold, level=level, coefficient=coefficient)
    if math.isnan(of_x - of_y):
        return math.nan, np.empty(0)
    mixed = mixing(x, y, gold, level=level, coefficient=coefficient)
    drawn = np.concatenate([np.subtract(*mixed(chunk)) for chunk in swaps])
    return of_x - of_y, drawn[~np.isnan(drawn)]


def _standardised(x: Values) -> Values:
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
