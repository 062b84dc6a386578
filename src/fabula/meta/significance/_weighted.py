"""Coefficients of weighted values: many resamples of one set of values at once.

A mixture of two metrics counts each value of either once or not at all, as a bootstrap sample
counts each so many times: rows of weights over the same values. All of them together are a few
products of matrices. Weights are whole numbers, and sums of ranks and signs are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient

Whole = np.ndarray[Any, np.dtype[np.intp]]

# Where so little of the squares is left after the mean is taken out, sums are not to be trusted.
_UNSURE = 1e-4
# Up to so many values, ranks are had from all comparisons at once rather than by sorting.
_FEW = 64
# Cells of a block of comparisons that is held at once.
_CELLS = 4_000_000
_ALL = slice(None)
# Larger products are parted among threads, which on a busy machine wait for each other for longer
# than the product takes.
_PRODUCT = 250_000


def weighted_correlations(
    weights: Values, x: Values, z: Values, *, coefficient: Coefficient
) -> Values:
    """Correlate rows of x with rows of z under every row of weights.

    (resamples, n), (rows, n), (rows, n) -> (rows, resamples)
    """
    if coefficient == "pearson":
        return _blockwise_pearson(weights, _scaled(x), _scaled(z))
    correlate = _BY_RANK[coefficient]
    rows = [correlate(weights, one, other) for one, other in zip(x, z, strict=True)]
    return np.array(rows).reshape(len(x), len(weights))


def _blockwise_pearson(weights: Values, x: Values, z: Values) -> Values:
    rows = max(1, _PRODUCT // (5 * weights.size))
    draws = max(1, _PRODUCT // (5 * weights.shape[1]))
    found = np.empty((len(x), len(weights)))
    for row in range(0, len(x), rows):
        some = slice(row, row + rows)
        for draw in range(0, len(weights), draws):
            part = weights[draw : draw + draws]
            found[some, draw : draw + draws] = _pearson(part, x[some], z[some])
    return found


def _pearson(weights: Values, x: Values, z: Values) -> Values:
    total = weights.sum(1)
    sums = np.concatenate([x, z, x * x, z * z, x * z]) @ weights.T
    sum_x, sum_z, squares_x, squares_z, products = np.split(sums, 5)
    mean_x, mean_z = sum_x / total, sum_z / total
    spread_x, spread_z = squares_x - total * mean_x**2, squares_z - total * mean_z**2
    unsure = (spread_x <= _UNSURE * squares_x) | (spread_z <= _UNSURE * squares_z)
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = products - total * mean_x * mean_z
        found: Values = np.clip(shared / np.sqrt(spread_x * spread_z), -1.0, 1.0)
    for row in np.flatnonzero(unsure.any(1)):
        places = np.flatnonzero(unsure[row])
        found[row, places] = _careful_pearson(weights[places], x[row], z[row])
    return found


def _scaled(x: Values) -> Values:
    """Centre rows on their mean and bring them to the unit; constant rows are NaN."""
    centred = x - x.mean(-1, keepdims=True)
    centred[(x == x[:, :1]).all(1)] = np.nan
    scaled: Values = centred / np.abs(centred).max(-1, keepdims=True)
    return scaled


def _careful_pearson(weights: Values, x: Values, z: Values) -> Values:
    if np.isnan(x[0]) or np.isnan(z[0]):
        return np.full(len(weights), np.nan)
    dx, dz = _weighted_deviations(weights, x), _weighted_deviations(weights, z)
    norms = (weights * dx * dx).sum(1) * (weights * dz * dz).sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Values = np.clip((weights * dx * dz).sum(1) / np.sqrt(norms), -1.0, 1.0)
    return found


def _weighted_deviations(weights: Values, x: Values) -> Values:
    """Differences from each resample's mean, 0 where it is constant.  (resamples, n)"""
    chosen = weights > 0
    low = np.where(chosen, x, np.inf).min(1, keepdims=True)
    high = np.where(chosen, x, -np.inf).max(1, keepdims=True)
    means = (weights @ x / weights.sum(1))[:, None]
    deviations = np.where(low == high, 0.0, x - means)
    reach = np.maximum(high - means, means - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(low == high, 0.0, deviations / reach)


def _spearman(weights: Values, x: Values, z: Values) -> Values:
    ranks_x, ranks_z = _centred_ranks(weights, x), _centred_ranks(weights, z)
    heavy = weights * ranks_x
    norms = _row_products(heavy, ranks_x) * _row_products(weights * ranks_z, ranks_z)
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Values = _row_products(heavy, ranks_z) / np.sqrt(norms)
    return found


def _kendall(weights: Values, x: Values, z: Values) -> Values:
    untied = _untied(weights, x) * _untied(weights, z)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = _excess(weights, x, z) / np.sqrt(untied)
    return tau


def _kendall_c(weights: Values, x: Values, z: Values) -> Values:
    distinct = [(_group_sums(weights, one) > 0).sum(1) for one in (x, z)]
    least = np.minimum(*distinct)
    count = weights.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = _excess(weights, x, z) * least / (count**2 * (least - 1))
    return np.where(least > 1, tau, np.nan)


_BY_RANK: Mapping[str, Callable[[Values, Values, Values], Values]] = {
    "spearman": _spearman,
    "kendall": _kendall,
    "kendall_c": _kendall_c,
}


def _row_products(a: Values, b: Values) -> Values:
    products: Values = np.einsum("ij,ij->i", a, b)
    return products


def _signs(x: Values, columns: slice = _ALL) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Which of two values is the larger, for all values against some.  (n, columns)"""
    a, b = x[:, None], x[None, columns]
    return (a > b).astype(np.float32) - (a < b).astype(np.float32)


def _centred_ranks(weights: Values, x: Values) -> Values:
    """Give each value's average rank in each resample, less the mean rank.  (resamples, n)"""
    if len(x) <= _FEW:
        few: Values = weights @ _signs(x).T.astype(np.float64) / 2
        return few
    order, starts, groups = _tie_groups(x)
    sums = np.add.reduceat(weights[:, order], starts, axis=1)
    last = sums.cumsum(1)
    middle = last - sums / 2 - last[:, -1:] / 2
    ranks = np.empty_like(weights)
    ranks[:, order] = middle[:, groups]
    return ranks


def _tie_groups(x: Values) -> tuple[Whole, Whole, Whole]:
    """Order values; say where each group of equal ones starts and which group each is of."""
    order = np.argsort(x, kind="stable")
    fresh = np.concatenate([[True], np.diff(x[order]) != 0])
    return order, np.flatnonzero(fresh), fresh.cumsum() - 1


def _group_sums(weights: Values, x: Values) -> Values:
    order, starts, groups = _tie_groups(x)
    if len(x) > _FEW:
        sums: Values = np.add.reduceat(weights[:, order], starts, axis=1)
        return sums
    members = np.zeros((len(x), len(starts)))
    members[order, groups] = 1.0
    few: Values = weights @ members
    return few


def _untied(weights: Values, x: Values) -> Values:
    """Count ordered pairs of unlike values in each resample."""
    sums = _group_sums(weights, x)
    pairs: Values = weights.sum(1) ** 2 - _row_products(sums, sums)
    return pairs


def _excess(weights: Values, x: Values, z: Values) -> Values:
    """Count concordant less discordant ordered pairs in each resample."""
    light = weights.astype(np.float32)
    found = np.zeros(len(weights))
    step = max(1, _CELLS // len(x))
    for start in range(0, len(x), step):
        columns = slice(start, start + step)
        agree = light @ (_signs(x, columns) * _signs(z, columns))
        found += _row_products(agree.astype(np.float64), weights[:, columns])
    return found
