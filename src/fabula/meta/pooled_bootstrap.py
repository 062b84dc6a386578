"""Pooled correlations of many draws at once: a drawn item counts as often as it was drawn.

Nothing is copied: with weights, Pearson's r needs only sums by item, Spearman's rho the weighted
ranks, and Kendall's tau-b the sums of signs between every two items.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient, deviations

Array = np.ndarray[Any, np.dtype[Any]]
# Where so little of the squares is left after the mean is taken out, sums are not to be trusted.
_UNSURE = 1e-4


def pooled_resamples(x: Values, y: Values, coefficient: Coefficient, counts: Values) -> Values:
    """Correlate all stories in every draw: (m, items, systems) and (g, …) to (draws, m, g)."""
    ways = {"pearson": _pearson, "spearman": _spearman, "kendall": _kendall}
    if coefficient not in ways:
        return np.full((len(counts), len(x), len(y)), np.nan)
    items = np.repeat(np.arange(x.shape[1]), x.shape[2])
    x, y = x.reshape(len(x), -1), y.reshape(len(y), -1)
    found = np.full((len(counts), len(x), len(y)), np.nan)
    for there, columns, golds in _alike(x, y):
        drawn = counts[:, items[there]]  # (draws, stories)
        part = ways[coefficient](x[columns][:, there], y[golds][:, there], drawn, items[there])
        found[:, np.array(columns)[:, None], golds] = part
    return found


def _alike(x: Values, y: Values) -> list[tuple[Array, list[int], list[int]]]:
    """Part the pairs of columns by which stories have both values, so that each part is whole."""
    parts: dict[tuple[bytes, bytes], tuple[list[int], list[int]]] = {}
    for place, row in enumerate(~np.isnan(x)):
        for number, other in enumerate(~np.isnan(y)):
            columns, golds = parts.setdefault((row.tobytes(), other.tobytes()), ([], []))
            if place not in columns:
                columns.append(place)
            if number not in golds:
                golds.append(number)
    return [
        (np.frombuffer(one, dtype=bool) & np.frombuffer(other, dtype=bool), *places)
        for (one, other), places in parts.items()
        if (np.frombuffer(one, dtype=bool) & np.frombuffer(other, dtype=bool)).any()
    ]


def _pearson(x: Values, y: Values, drawn: Values, items: object) -> Values:
    """Correlate by sums, and with more care where a draw lacks what made the spread."""
    del items
    a, b = deviations(x), deviations(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = drawn.sum(1)[:, None]
        mean_a, mean_b = drawn @ a.T / total, drawn @ b.T / total  # (draws, columns)
        square_a, square_b = drawn @ (a * a).T / total, drawn @ (b * b).T / total
        var_a, var_b = square_a - mean_a**2, square_b - mean_b**2
        products = np.einsum("bn,mn,gn->bmg", drawn, a, b, optimize=True) / total[..., None]
        covariance = products - mean_a[:, :, None] * mean_b[:, None, :]
        found: Values = np.clip(
            covariance / np.sqrt(var_a[:, :, None] * var_b[:, None, :]), -1.0, 1.0
        )
    unsure = (var_a <= _UNSURE * square_a) | (var_b <= _UNSURE * square_b).any(1, keepdims=True)
    for place in np.flatnonzero(unsure.any(0)):
        draws = np.flatnonzero(unsure[:, place])
        found[draws, place] = _cosines(x[[place]], y, drawn[draws], _unit_values)[:, 0]
    return found


def _spearman(x: Values, y: Values, drawn: Values, items: object) -> Values:
    del items
    return _cosines(x, y, drawn, _unit_ranks)


def _cosines(
    x: Values, y: Values, drawn: Values, units_of: Callable[[Values, Values], Values]
) -> Values:
    golds = [units_of(row, drawn) for row in y]
    found = np.empty((len(drawn), len(x), len(y)))
    for place, row in enumerate(x):
        units = units_of(row, drawn)
        for number, gold in enumerate(golds):
            found[:, place, number] = np.einsum("bn,bn->b", units, gold)
    return np.clip(found, -1.0, 1.0)


def _unit_values(row: Values, drawn: Values) -> Values:
    """Deviations of one column in every draw, as vectors of length one.  (draws, stories)"""
    row = row / np.ldexp(1.0, np.frexp(np.abs(row).max())[1] - 1)
    low = np.where(drawn > 0, row, np.inf).min(1)
    high = np.where(drawn > 0, row, -np.inf).max(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = drawn @ row / drawn.sum(1)
        reach = np.where(low < high, np.maximum(high - means, means - low), np.nan)
        centred = np.where(drawn > 0, (row - means[:, None]) / reach[:, None], 0.0)
    return _units(np.sqrt(drawn) * centred)


def _unit_ranks(row: Values, drawn: Values) -> Values:
    """Average ranks of one column in every draw, as vectors of length one.  (draws, stories)"""
    _, group = np.unique(row, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    sizes = np.add.reduceat(drawn[:, order], starts, axis=1)  # (draws, distinct values)
    ranks = (sizes.cumsum(1) - sizes / 2)[:, group]
    # Ranks so counted have half the number of stories as their mean.
    return _units(np.sqrt(drawn) * (ranks - drawn.sum(1)[:, None] / 2))


def _units(x: Values) -> Values:
    with np.errstate(divide="ignore", invalid="ignore"):
        units: Values = x / np.sqrt((x * x).sum(1))[:, None]
    return units


def _kendall(x: Values, y: Values, drawn: Values, items: Array) -> Values:
    """Sum signs between items once; a draw weighs them: its counts on either side."""
    starts = np.flatnonzero(np.diff(items, prepend=-1))
    weights = drawn[:, starts]  # (draws, items)
    signs_y = [_signs(row) for row in y]
    untied_y = np.stack([_quadratic(weights, _by_item(np.abs(s), starts)) for s in signs_y], axis=1)
    found = np.empty((len(drawn), len(x), len(y)))
    for place, row in enumerate(x):
        signs = _signs(row)
        untied = _quadratic(weights, _by_item(np.abs(signs), starts))
        for number, other in enumerate(signs_y):
            excess = _quadratic(weights, _by_item(signs * other, starts))
            with np.errstate(divide="ignore", invalid="ignore"):
                found[:, place, number] = excess / np.sqrt(untied * untied_y[:, number])
    return found


def _signs(row: Values) -> Array:
    return np.sign(row[:, None] - row).astype(np.int8)


def _by_item(signs: Array, starts: Array) -> Values:
    """Add up what lies between the stories of every two items."""
    rows = np.add.reduceat(signs, starts, axis=0, dtype=np.int32)
    return np.add.reduceat(rows, starts, axis=1).astype(np.float64)


def _quadratic(weights: Values, between: Values) -> Values:
    found: Values = np.einsum("bi,bi->b", weights @ between, weights)
    return found
