"""Coefficients of correlation along the last axis: Pearson, Spearman, Kendall's tau-b and tau-c.

Whole stacks of vectors are correlated at once. A coefficient is undefined (NaN) where a vector is
constant or has fewer than two values; a value that is missing takes its partner with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from fabula.meta.arrays import Values, average_ranks

Coefficient = Literal["pearson", "spearman", "kendall", "kendall_c"]


def correlate(x: Values, y: Values, coefficient: Coefficient = "pearson") -> Values:
    """Correlate along the last axis; the other axes are broadcast against each other."""
    shape = np.broadcast_shapes(x.shape, y.shape)
    both = np.isnan(x) | np.isnan(y) if np.isnan(x).any() or np.isnan(y).any() else None
    if both is None or not both.any():
        return COEFFICIENTS[coefficient](x, y)
    x, y = np.broadcast_to(x, shape).reshape(-1, shape[-1]), np.broadcast_to(y, shape)
    y = y.reshape(-1, shape[-1])
    there = ~np.broadcast_to(both, shape).reshape(-1, shape[-1])
    found = np.full(len(x), np.nan)
    for place in np.flatnonzero(there.sum(-1) > 1):
        ok = there[place]
        found[place] = COEFFICIENTS[coefficient](x[place, ok], y[place, ok])
    return found.reshape(shape[:-1])


def pearson(x: Values, y: Values) -> Values:
    """Pearson's r of vectors without missing values."""
    dx, dy = deviations(x), deviations(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (dx * dy).sum(-1) / np.sqrt((dx * dx).sum(-1) * (dy * dy).sum(-1))
    clipped: Values = np.clip(found, -1.0, 1.0)
    return clipped


def spearman(x: Values, y: Values) -> Values:
    """Spearman's rho: Pearson's r of the average ranks."""
    return pearson(average_ranks(x), average_ranks(y))


def kendall(x: Values, y: Values) -> Values:
    """Kendall's tau-b: concordant less discordant pairs, over those that are no ties in either."""
    sx, sy = pair_signs(x), pair_signs(y)
    untied = np.sqrt(np.abs(sx).sum(-1, dtype=np.float64) * np.abs(sy).sum(-1, dtype=np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = (sx * sy).sum(-1, dtype=np.float64) / untied
    return tau


def kendall_c(x: Values, y: Values) -> Values:
    """Kendall's (Stuart's) tau-c, for scales of unlike numbers of values."""
    least = np.minimum(_distinct(x), _distinct(y))
    count = x.shape[-1]
    excess = (pair_signs(x) * pair_signs(y)).sum(-1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        tau: Values = np.where(least > 1, 2 * excess * least / (count**2 * (least - 1)), np.nan)
    return tau


COEFFICIENTS: Mapping[str, Callable[[Values, Values], Values]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall": kendall,
    "kendall_c": kendall_c,
}


def pair_signs(x: Values) -> np.ndarray[Any, np.dtype[np.int8]]:
    """Which of every two values is the larger: 1, -1, or 0 for a tie.  (..., n) -> (..., pairs)"""
    one, other = np.triu_indices(x.shape[-1], 1)
    a, b = x[..., one], x[..., other]
    return (a > b).view(np.int8) - (a < b).view(np.int8)


def deviations(x: Values) -> Values:
    """Differences from the mean, scaled so that their squares neither vanish nor overflow."""
    count = x.shape[-1]
    if count < 2:
        return np.full(x.shape, np.nan)
    # A power of two, so that no digit is lost.
    x = x / np.ldexp(1.0, np.frexp(np.abs(x).max(-1, keepdims=True))[1] - 1)
    constant = (x == x[..., :1]).all(-1, keepdims=True)
    deviations = np.where(constant, 0.0, x - x.mean(-1, keepdims=True))
    reach = np.abs(deviations).max(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled: Values = deviations / reach
    return scaled


def _distinct(x: Values) -> Values:
    ordered = np.sort(x, axis=-1)
    count: Values = 1.0 + (ordered[..., 1:] != ordered[..., :-1]).sum(-1)
    return count
