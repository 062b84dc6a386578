"""One ranking of metrics out of many columns of correlations: Borda's points, or the mean.

A column is one coefficient with one aspect at one level; what counts is its size, not its sign.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fabula.meta.arrays import Values, average_ranks

Ties = Literal["average", "stable"]
Places = np.ndarray[Any, np.dtype[np.int64]]
# Correlations that agree so far differ by rounding alone and are ties.
_DECIMALS = 10


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


def places(points: Values) -> Places:
    """Rank from 1, the highest first; equal ones share the better rank, NaN is last."""
    known = np.where(np.isnan(points), -np.inf, np.round(points, _DECIMALS))
    ranks: Places = 1 + (known[None, :] > known[:, None]).sum(axis=1)
    return ranks
