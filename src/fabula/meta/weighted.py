"""Coefficients of weighted values: many resamples of one set of values at once.

A draw of the bootstrap counts each value so many times, and a mixture of two metrics counts each
value of either once or not at all: rows of weights over the same values. Nothing is copied, and all
resamples together are a few products of matrices. Weights are whole numbers, so that sums of ranks
and of signs are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fabula.meta.arrays import Flags, Places, Values
from fabula.meta.coefficients import Coefficient, Discordance, deviations

# Where so little of the squares is left after the mean is taken out, sums are not to be trusted.
_UNSURE = 1e-4
# Up to so many values, ranks are had from all comparisons at once rather than by sorting.
_FEW = 64
# Cells of a block of comparisons that is held at once.
_CELLS = 4_000_000
_ALL = slice(None)
# Of more values, pairs in the wrong order are counted by sorting: all pairs would be too many.
_MANY = 4096
# Products of columns that are held at once.
_COLUMNS = 40_000_000
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
        return _blockwise_pearson(weights, _scale(x), _scale(z))
    correlate = _BY_RANK[coefficient]
    rows = [correlate(weights, x_row, z_row) for x_row, z_row in zip(x, z, strict=True)]
    return np.array(rows).reshape(len(x), len(weights))


def pooled_draws(x: Values, y: Values, coefficient: Coefficient, counts: Values) -> Values:
    """Correlate all stories in every draw of items: (m, items, systems), (g, …) to (draws, m, g).

    A story counts as often as its item was drawn. Kendall's tau-c has no such draws: NaN.
    """
    draws = np.full((len(counts), len(x), len(y)), np.nan)
    if coefficient not in _CROSSED:
        return draws
    items = np.repeat(np.arange(x.shape[1]), x.shape[2])
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    for there, columns, golds in _group_by_gaps(x, y):
        step = max(1, _CELLS // int(there.sum()))
        for start in range(0, len(counts), step):
            weights = counts[start : start + step, items[there]]  # (draws, stories)
            part = _CROSSED[coefficient](
                weights, x[columns][:, there], y[golds][:, there], items[there]
            )
            draws[start : start + step, np.array(columns)[:, None], golds] = part
    return draws


def _group_by_gaps(x: Values, y: Values) -> list[tuple[Flags, list[int], list[int]]]:
    """Group the pairs of columns by which stories have both values, so that each group is whole."""
    groups: dict[tuple[bytes, bytes], tuple[list[int], list[int]]] = {}
    for place, row in enumerate(~np.isnan(x)):
        for number, other in enumerate(~np.isnan(y)):
            columns, golds = groups.setdefault((row.tobytes(), other.tobytes()), ([], []))
            if place not in columns:
                columns.append(place)
            if number not in golds:
                golds.append(number)
    wholes = []
    for (row, other), (columns, golds) in groups.items():
        there = np.frombuffer(row, dtype=bool) & np.frombuffer(other, dtype=bool)
        if there.any():
            wholes.append((there, columns, golds))
    return wholes


def _blockwise_pearson(weights: Values, x: Values, z: Values) -> Values:
    rows = max(1, _PRODUCT // (5 * weights.size))
    draws = max(1, _PRODUCT // (5 * weights.shape[1]))
    table = np.empty((len(x), len(weights)))
    for row in range(0, len(x), rows):
        block = slice(row, row + rows)
        for draw in range(0, len(weights), draws):
            part = weights[draw : draw + draws]
            table[block, draw : draw + draws] = _row_pearson(part, x[block], z[block])
    return table


def _row_pearson(weights: Values, x: Values, z: Values) -> Values:
    """Correlate row by row, by sums, and with more care where these are not to be trusted."""
    total = weights.sum(1)
    sums = np.concatenate([x, z, x * x, z * z, x * z]) @ weights.T
    sum_x, sum_z, squares_x, squares_z, products = np.split(sums, 5)
    mean_x, mean_z = sum_x / total, sum_z / total
    spread_x, spread_z = squares_x - total * mean_x**2, squares_z - total * mean_z**2
    unsure = (spread_x <= _UNSURE * squares_x) | (spread_z <= _UNSURE * squares_z)
    with np.errstate(divide="ignore", invalid="ignore"):
        shared = products - total * mean_x * mean_z
        r: Values = np.clip(shared / np.sqrt(spread_x * spread_z), -1.0, 1.0)
    for row in np.flatnonzero(unsure.any(1)):
        places = np.flatnonzero(unsure[row])
        r[row, places] = _careful_pearson(weights[places], x[[row]], z[[row]])[:, 0, 0]
    return r


def _cross_pearson(weights: Values, x: Values, y: Values, items: Places) -> Values:
    """Correlate every column with every other, by sums, and with more care where a draw needs it.

    (draws, n), (m, n), (g, n) -> (draws, m, g)
    """
    del items
    a, b = deviations(x), deviations(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = weights.sum(1)[:, None]
        mean_a, mean_b = weights @ a.T / total, weights @ b.T / total  # (draws, columns)
        square_a, square_b = weights @ (a * a).T / total, weights @ (b * b).T / total
        var_a, var_b = square_a - mean_a**2, square_b - mean_b**2
        products = _weigh_products(weights, a, b) / total[..., None]
        covariance = products - mean_a[:, :, None] * mean_b[:, None, :]
        r: Values = np.clip(covariance / np.sqrt(var_a[:, :, None] * var_b[:, None, :]), -1.0, 1.0)
    unsure = (var_a <= _UNSURE * square_a) | (var_b <= _UNSURE * square_b).any(1, keepdims=True)
    for place in np.flatnonzero(unsure.any(0)):
        draws = np.flatnonzero(unsure[:, place])
        r[draws, place] = _careful_pearson(weights[draws], x[[place]], y)[:, 0]
    return r


def _weigh_products(weights: Values, a: Values, b: Values) -> Values:
    """Sum the products of every two columns by weight, a bounded number of them at a time."""
    step = max(1, _COLUMNS // b.size)
    parts = [
        np.einsum("bn,mn,gn->bmg", weights, a[start : start + step], b, optimize=True)
        for start in range(0, len(a), step)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)


def _scale(x: Values) -> Values:
    """Centre rows on their mean and bring them to the unit; constant rows are NaN."""
    centred = x - x.mean(-1, keepdims=True)
    centred[(x == x[:, :1]).all(1)] = np.nan
    scaled: Values = centred / np.abs(centred).max(-1, keepdims=True)
    return scaled


def _careful_pearson(weights: Values, x: Values, y: Values) -> Values:
    """Correlate by deviations, draw by draw.  (draws, n), (m, n), (g, n) -> (draws, m, g)"""
    return _cosines(weights, x, y, _unit_values)


def _cross_spearman(weights: Values, x: Values, y: Values, items: Places) -> Values:
    del items
    return _cosines(weights, x, y, _unit_ranks)


def _cosines(
    weights: Values, x: Values, y: Values, units_of: Callable[[Values, Values], Values]
) -> Values:
    golds = [units_of(weights, row) for row in y]
    products = np.empty((len(weights), len(x), len(y)))
    for place, row in enumerate(x):
        units = units_of(weights, row)
        for number, gold in enumerate(golds):
            products[:, place, number] = np.einsum("bn,bn->b", units, gold)
    return np.clip(products, -1.0, 1.0)


def _unit_values(weights: Values, row: Values) -> Values:
    """Deviations of one column in every resample, as vectors of length one.  (resamples, n)"""
    if np.isnan(row[0]):
        return np.full(weights.shape, np.nan)
    row = row / np.ldexp(1.0, np.frexp(np.abs(row).max())[1] - 1)
    low = np.where(weights > 0, row, np.inf).min(1)
    high = np.where(weights > 0, row, -np.inf).max(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = weights @ row / weights.sum(1)
        # A resample that is constant has no deviations, whatever rounding made of its mean.
        reach = np.where(low < high, np.maximum(high - means, means - low), np.nan)
        centred = np.where(weights > 0, (row - means[:, None]) / reach[:, None], 0.0)
    return _to_unit_length(np.sqrt(weights) * centred)


def _unit_ranks(weights: Values, row: Values) -> Values:
    """Average ranks of one column in every resample, as vectors of length one.  (resamples, n)"""
    return _to_unit_length(np.sqrt(weights) * _centred_ranks(weights, row))


def _to_unit_length(x: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        units: Values = x / np.sqrt((x * x).sum(1))[:, None]
    return units


def _row_spearman(weights: Values, x: Values, z: Values) -> Values:
    ranks_x, ranks_z = _centred_ranks(weights, x), _centred_ranks(weights, z)
    heavy = weights * ranks_x
    norms = _row_products(heavy, ranks_x) * _row_products(weights * ranks_z, ranks_z)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho: Values = _row_products(heavy, ranks_z) / np.sqrt(norms)
    return rho


def _row_kendall(weights: Values, x: Values, z: Values) -> Values:
    untied = _count_untied_pairs(weights, x) * _count_untied_pairs(weights, z)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = _excess(weights, x, z) / np.sqrt(untied)
    return tau


def _row_kendall_c(weights: Values, x: Values, z: Values) -> Values:
    distinct = [(_group_sums(weights, row) > 0).sum(1) for row in (x, z)]
    least = np.minimum(*distinct)
    count = weights.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau = _excess(weights, x, z) * least / (count**2 * (least - 1))
    return np.where(least > 1, tau, np.nan)


def _cross_kendall(weights: Values, x: Values, y: Values, items: Places) -> Values:
    """Sum signs between items once; a draw weighs them by its counts on either side."""
    if x.shape[1] > _MANY:
        sorted_tau = [[_row_kendall(weights, column, gold) for gold in y] for column in x]
        return np.moveaxis(np.array(sorted_tau), 2, 0)
    starts = np.flatnonzero(np.diff(items, prepend=-1))
    by_item = weights[:, starts]  # (draws, items)
    signs_y = [_signs(row).astype(np.int8) for row in y]
    untied_y = [_count_untied_pairs(weights, row) for row in y]
    tau = np.empty((len(weights), len(x), len(y)))
    for place, row in enumerate(x):
        signs, untied = _signs(row).astype(np.int8), _count_untied_pairs(weights, row)
        for number, gold_signs in enumerate(signs_y):
            rows = np.add.reduceat(signs * gold_signs, starts, axis=0, dtype=np.int32)
            between = np.add.reduceat(rows, starts, axis=1).astype(np.float64)  # (items, items)
            excess = _row_products(by_item @ between, by_item)
            with np.errstate(divide="ignore", invalid="ignore"):
                tau[:, place, number] = excess / np.sqrt(untied * untied_y[number])
    return tau


_BY_RANK: Mapping[str, Callable[[Values, Values, Values], Values]] = {
    "spearman": _row_spearman,
    "kendall": _row_kendall,
    "kendall_c": _row_kendall_c,
}
_CROSSED: Mapping[str, Callable[[Values, Values, Values, Places], Values]] = {
    "pearson": _cross_pearson,
    "spearman": _cross_spearman,
    "kendall": _cross_kendall,
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


def _tie_groups(x: Values) -> tuple[Places, Places, Places]:
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


def _count_untied_pairs(weights: Values, x: Values) -> Values:
    """Count ordered pairs of unlike values in each resample."""
    sums = _group_sums(weights, x)
    pairs: Values = weights.sum(1) ** 2 - _row_products(sums, sums)
    return pairs


def _excess(weights: Values, x: Values, z: Values) -> Values:
    """Count concordant less discordant ordered pairs in each resample."""
    if len(x) > _MANY:
        return _sorted_excess(weights, x, z)
    light = weights.astype(np.float32)
    excess = np.zeros(len(weights))
    step = max(1, _CELLS // len(x))
    for start in range(0, len(x), step):
        columns = slice(start, start + step)
        agree = light @ (_signs(x, columns) * _signs(z, columns))
        excess += _row_products(agree.astype(np.float64), weights[:, columns])
    return excess


def _sorted_excess(weights: Values, x: Values, z: Values) -> Values:
    """Count the same by sorting: all that are no ties in either, less the discordant twice over."""
    discordance = Discordance(x, z)
    # Pairs of equal x and z alike are groups of one number each.
    both = _number_values(x) * (len(z) + 1.0) + _number_values(z)
    untied = _count_untied_pairs(weights, x) + _count_untied_pairs(weights, z)
    untied -= _count_untied_pairs(weights, both)
    excess = np.empty(len(weights))
    step = max(1, _CELLS // len(x))
    for start in range(0, len(weights), step):
        block = np.ascontiguousarray(weights[start : start + step].T)  # (n, draws)
        excess[start : start + step] = discordance.weigh(block)
    # Each pair of unlike values was counted in both orders.
    return untied - 4 * excess


def _number_values(x: Values) -> Values:
    """Number the different values from 0 on, in order."""
    return np.unique(x, return_inverse=True)[1].astype(np.float64)
