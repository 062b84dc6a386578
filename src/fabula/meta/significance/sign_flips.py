"""Whether differences are more than chance: sign-flip tests, and p-values that are some of many.

Fisher (1935), The Design of Experiments, section 21: if two systems were equal, each difference
between them could as well have had the other sign. Items are taken to be independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.resampling import MOST_UNITS, group_units, sum_units

# Up to so many items, all signs are gone through.
EXACT_ITEMS = 12
# Cells of a matrix that is held at once: 32 MB of floats.
_CELLS = 4_000_000
# Sums of the same numbers in another order differ by rounding; they are to count as equal.
_ROUNDING = 1e-12


def sign_flip_p(differences: Values, *, resamples: int = 10_000, seed: int = 0) -> float:
    """Give the two-sided p of a mean difference if each could as well have the other sign.

    Exact where few items differ, else sampled: (hits + 1) / (resamples + 1), which never is 0
    (Phipson and Smyth, 2010). Of very many items, groups made by lot flip together: if each
    difference could have the other sign, so could the sum of a group.
    """
    # A difference of 0 has no sign to flip: leaving it out changes no sum.
    moving = differences[differences != 0]
    if len(moving) <= EXACT_ITEMS:
        return exact_p(moving)
    if len(moving) > MOST_UNITS:
        moving = sum_units(moving, group_units(len(moving), seed))[0]
    hits = sum(_count_hits(moving, bits) for bits in _draw_bits(len(moving), resamples, seed))
    return (hits + 1) / (resamples + 1)


def exact_p(differences: Values) -> float:
    """Give the same p by going through all 2**items signs."""
    bits = all_bits(len(differences))
    return _count_hits(differences, bits) / len(bits)


def least_p(differences: Values, *, resamples: int = 10_000) -> float:
    """Give the smallest p that these many items could have had, whatever their values."""
    moving = np.count_nonzero(differences)
    if moving <= EXACT_ITEMS:
        return min(1.0, 2.0 ** (1 - moving))
    return 1 / (resamples + 1)


def sign_flip_ps(differences: Values, bits: Values) -> Values:
    """Give the two-sided p of many studies at once, by the same flips: (studies, items).

    `bits` say which differences keep their sign: all ways where items are few, else a sample.
    """
    exact = differences.shape[1] <= EXACT_ITEMS
    hits = np.empty(len(differences))
    step = max(1, _CELLS // len(bits))
    for start in range(0, len(differences), step):
        studies = differences[start : start + step]
        totals = studies.sum(axis=1)
        sums = 2 * (bits @ studies.T) - totals  # (flips, studies)
        reach = np.abs(totals) - _ROUNDING * np.abs(studies).sum(axis=1)
        hits[start : start + step] = (np.abs(sums) >= reach).sum(axis=0)
    ps: Values = hits / len(bits) if exact else (hits + 1) / (len(bits) + 1)
    return ps


def pair_p(x: Values, *, resamples: int = 1000, seed: int = 0) -> Values:
    """Give the one-sided p that the first system of each pair is better, by flipping signs.

    (items, systems) -> (pairs,), with the pairs (0, 1), (0, 2) … and the same flips of items for
    all. Flips with just the observed sum, the observed one among them, count half: then the p of a
    pair and of the same pair named the other way round add up to 1. NaN without a shared item.
    """
    first, second = np.triu_indices(x.shape[1], 1)
    differences = x[:, first] - x[:, second]  # (items, pairs)
    there = ~np.isnan(differences)
    differences = np.where(there, differences, 0.0)
    observed, slack = differences.sum(0), _ROUNDING * np.abs(differences).sum(0)
    hits = np.full(len(first), 0.5)
    for bits in _draw_bits(len(x), resamples, seed):
        signs = 1.0 - 2.0 * bits.astype(np.float64)
        beyond = signs @ differences - observed  # (rows, pairs)
        hits += (beyond > slack).sum(0) + (np.abs(beyond) <= slack).sum(0) / 2
    return np.where(there.any(0), hits / (resamples + 1), np.nan)


def swap_ps(sums: Values, sizes: Values, *, resamples: int = 2000, seed: int = 0) -> Values:
    """Give the two-sided p of differences of two systems' means, by trading groups between them.

    `sums` and `sizes` of what each system got in each group: (groups, 2, columns) to (columns,). If
    the systems were equal, what one got in a group could as well be the other's, whether the group
    has both or, where each group is given to one of them by lot, one alone. Groups trade as a
    whole, so that values of one group need not be independent. A trade that leaves a system
    without any value is none. NaN where either has no value to begin with.
    """
    groups = len(sums)
    exact = groups <= EXACT_ITEMS
    blocks = [all_bits(groups)] if exact else _draw_bits(groups, resamples, seed)
    observed = _mean_differences(np.zeros((1, groups)), sums, sizes)[0]
    reach = np.abs(observed) - _ROUNDING * np.maximum(np.abs(observed), 1.0)
    hits, trades = np.zeros((2, sums.shape[2]))
    for bits in blocks:
        differences = _mean_differences(bits.astype(np.float64), sums, sizes)  # (rows, columns)
        hits += (np.abs(differences) >= reach).sum(axis=0)
        trades += (~np.isnan(differences)).sum(axis=0)
    # What was observed is one of all trades, but need not be one of a sample of them.
    more = 0 if exact else 1
    with np.errstate(invalid="ignore"):
        return np.where(np.isnan(observed), np.nan, (hits + more) / (trades + more))


def _mean_differences(swapped: Values, sums: Values, sizes: Values) -> Values:
    """First mean less second after trades: (rows, groups) to (rows, columns)."""
    # What the first has after trades; the second has the others.
    sums_after, sizes_after = (
        side[:, 0].sum(axis=0) + swapped @ (side[:, 1] - side[:, 0]) for side in (sums, sizes)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        first = sums_after / sizes_after
        second = (sums.sum(axis=(0, 1)) - sums_after) / (sizes.sum(axis=(0, 1)) - sizes_after)
        differences: Values = first - second
    return differences


def all_bits(items: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Give all ways to keep or flip the signs of so many items.  (2**items, items)"""
    return np.arange(2**items)[:, None] >> np.arange(items) & 1


def _draw_bits(
    items: int, resamples: int, seed: int
) -> Iterator[np.ndarray[Any, np.dtype[np.int8]]]:
    """Draw which signs are kept or flipped, a block of resamples at a time.  (rows, items)"""
    rng = np.random.default_rng(seed)
    most = max(1, _CELLS // max(1, items))
    for start in range(0, resamples, most):
        yield rng.integers(0, 2, (min(most, resamples - start), items), dtype=np.int8)


def _count_hits(differences: Values, bits: np.ndarray[Any, np.dtype[Any]]) -> int:
    """Count the flips whose sum lies as far from 0 as that of the differences, or farther."""
    total = differences.sum()
    sums = 2 * (bits.astype(np.float64) @ differences) - total  # (rows,)
    reach = abs(total) - _ROUNDING * np.abs(differences).sum()
    return int((np.abs(sums) >= reach).sum())


def holm(p: Values) -> Values:
    """Adjust for the chance of any false finding (Holm, 1979); NaN is no comparison."""

    def step_down(ascending: Values) -> Values:
        return np.maximum.accumulate(ascending * np.arange(len(ascending), 0, -1))

    return _adjust(p, step_down)


def benjamini_hochberg(p: Values) -> Values:
    """Adjust for the share of false findings (Benjamini and Hochberg, 1995)."""

    def step_up(ascending: Values) -> Values:
        count = len(ascending)
        return np.minimum.accumulate((ascending * (count / np.arange(1, count + 1)))[::-1])[::-1]

    return _adjust(p, step_up)


CORRECTIONS: Mapping[str, Callable[[Values], Values]] = {"holm": holm, "bh": benjamini_hochberg}


def _adjust(p: Values, step: Callable[[Values], Values]) -> Values:
    """Adjust the values that are there, each in its place."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted[order] = np.minimum(step(p[order]), 1.0)
    return adjusted
