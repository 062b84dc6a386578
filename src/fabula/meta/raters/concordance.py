"""Kendall's W: how far raters put the stories into the same order."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.meta.arrays import Values, average_ranks, divide
from fabula.meta.raters.ratings import MANY, categories_of, category_counts
from fabula.meta.resampling import WeightedStatistic

Bools = np.ndarray[Any, np.dtype[np.bool_]]


def kendall_w(matrix: Values) -> WeightedStatistic:
    """Make W (Kendall and Babington Smith, 1939), corrected for ties, a function of weights.

    Only the stories that all raters rated count. From 0 to 1; undefined where no rater tells any
    two stories apart. With more than 200 distinct values the ranks are those without weights.
    """
    complete: Bools = np.logical_not(np.isnan(matrix).any(axis=1))
    values = matrix[complete]
    raters = values.shape[1]
    categories = categories_of(values)
    if len(categories) > MANY:
        return _of_ranks(average_ranks(values.T).T, complete)
    places = np.searchsorted(categories, values)
    chosen = [category_counts(values[:, [rater]], categories) for rater in range(raters)]

    def w(times: Values) -> Values:
        times = times[:, complete]
        total = times.sum(axis=1)
        ranks = np.zeros(times.shape)
        ties = np.zeros(len(times))
        for rater, one in enumerate(chosen):
            counts = times @ one  # (resamples, categories)
            middle = np.cumsum(counts, axis=1) - counts / 2
            ranks += middle[:, places[:, rater]]
            ties += (counts**3 - counts).sum(axis=1)
        apart = ranks - divide((times * ranks).sum(axis=1), total)[:, None]
        squares = (times * apart**2).sum(axis=1)
        return divide(12 * squares, raters**2 * (total**3 - total) - raters * ties)

    return w


def _of_ranks(ranks: Values, complete: Bools) -> WeightedStatistic:
    """W of ranks that stay as they are: variance of their sums over what it could be at most."""
    columns = np.column_stack([ranks, ranks.sum(axis=1)])
    columns -= columns.mean(axis=0)

    def w(times: Values) -> Values:
        times = times[:, complete]
        means = divide(times @ columns, times.sum(axis=1)[:, None])
        squares = times @ columns**2 - times.sum(axis=1)[:, None] * means**2
        return divide(squares[:, -1], ranks.shape[1] * squares[:, :-1].sum(axis=1))

    return w
