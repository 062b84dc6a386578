"""Krippendorff's alpha, and Kendall's W for the order of stories alone.

Alpha is 1 less observed over expected disagreement: Krippendorff (2011), Computing Krippendorff's
Alpha-Reliability. Ratings may be missing; stories with fewer than two say nothing, and who gave
a rating does not matter. W says how far raters put the stories into the same order.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from fabula.meta.arrays import Flags, Values, average_ranks, divide
from fabula.meta.raters.ratings import MANY, categories_of, category_counts
from fabula.meta.resampling import WeightedStatistic, always_undefined

MeasurementLevel = Literal["nominal", "ordinal", "interval", "ratio"]
MEASUREMENT_LEVELS: tuple[MeasurementLevel, ...] = ("nominal", "ordinal", "interval", "ratio")


def krippendorff(values: Values, *, level: MeasurementLevel = "ordinal") -> WeightedStatistic:
    """Make alpha of stories × raters a function of the stories' weights.

    The level says how far two values are apart: by being unlike (nominal), by the ratings between
    them (ordinal), by their difference (interval), or by that over their sum (ratio). Of more than
    200 distinct values, ordinal alpha takes the ranks that the stories have without weights;
    nominal and ratio alpha are undefined.
    """
    categories = categories_of(values)
    if level == "interval" and len(categories):
        # In units of the range: alpha does not go by units, but what counts as 0 does.
        reach = float(categories[-1] - categories[0]) or 1.0
        return _squared_alpha((values - categories[0]) / reach)
    if len(categories) > MANY:
        return _squared_alpha(_rank_values(values)) if level == "ordinal" else always_undefined
    counts = category_counts(values, categories)
    sizes = counts.sum(axis=1)
    if level == "ordinal":
        return _ordinal_alpha(counts, sizes)
    return _fixed_alpha(counts, sizes, _distances(categories, level))


def _rank_values(values: Values) -> Values:
    """Ranks among all ratings of stories that have two, from 0 to 1."""
    alone = (~np.isnan(values)).sum(axis=1) < 2
    ranks = average_ranks(np.where(alone[:, None], np.nan, values).ravel()).reshape(values.shape)
    return ranks / max(1, ranks.size)


def _squared_alpha(values: Values) -> WeightedStatistic:
    """Alpha whose distances are squared differences of values; no table of categories is needed."""
    sizes = (~np.isnan(values)).sum(axis=1).astype(np.float64)
    paired = sizes >= 2
    values, sizes = np.nan_to_num(values[paired]), sizes[paired]
    sums, squares = values.sum(axis=1), (values**2).sum(axis=1)
    # Squared differences of all pairs: n times the sum of squares less the sum squared.
    within = (sizes * squares - sums**2) / (sizes - 1)

    def alpha(weights: Values) -> Values:
        weights = weights[:, paired]
        total = weights @ sizes
        expected = total * (weights @ squares) - (weights @ sums) ** 2
        return 1 - divide(weights @ within, expected / (total - 1))

    return alpha


def _distances(categories: Values, level: MeasurementLevel) -> Values:
    row, column = categories[:, None], categories[None, :]
    if level == "nominal":
        unlike: Values = (row != column).astype(np.float64)
        return unlike
    return divide((row - column) ** 2, (row + column) ** 2 + (row == column))


def _fixed_alpha(counts: Values, sizes: Values, distances: Values) -> WeightedStatistic:
    """Alpha whose distances are the same whatever the stories' weights."""
    paired = sizes >= 2
    counts, sizes = counts[paired], sizes[paired]
    within = ((counts @ distances) * counts).sum(axis=1) / (sizes - 1)  # (stories,)

    def alpha(weights: Values) -> Values:
        weights = weights[:, paired]
        margins = weights @ counts  # (resamples, categories)
        expected = ((margins @ distances) * margins).sum(axis=1) / (margins.sum(axis=1) - 1)
        return 1 - divide(weights @ within, expected)

    return alpha


def _ordinal_alpha(counts: Values, sizes: Values) -> WeightedStatistic:
    """Alpha whose distances are squared differences of mid-ranks, which go by the weights."""
    paired = sizes >= 2
    counts, sizes = counts[paired], sizes[paired]

    def alpha(weights: Values) -> Values:
        weights = weights[:, paired]
        margins = weights @ counts  # (resamples, categories)
        ranks = np.cumsum(margins, axis=1) - margins / 2
        total = margins.sum(axis=1)
        sums = (margins * ranks).sum(axis=1)
        expected = (total * (margins * ranks**2).sum(axis=1) - sums**2) / (total - 1)
        squares = (((weights * (sizes / (sizes - 1))) @ counts) * ranks**2).sum(axis=1)
        within = ((ranks @ counts.T) ** 2 * (weights / (sizes - 1))).sum(axis=1)
        return 1 - divide(squares - within, expected)

    return alpha


def kendall_w(matrix: Values) -> WeightedStatistic:
    """Make W (Kendall and Babington Smith, 1939), corrected for ties, a function of weights.

    Only the stories that all raters rated count. From 0 to 1; undefined where no rater tells any
    two stories apart. With more than 200 distinct values the ranks are those without weights.
    """
    complete: Flags = np.logical_not(np.isnan(matrix).any(axis=1))
    values = matrix[complete]
    raters = values.shape[1]
    categories = categories_of(values)
    if len(categories) > MANY:
        return _w_of_ranks(average_ranks(values.T).T, complete)
    places = np.searchsorted(categories, values)
    chosen = [category_counts(values[:, [rater]], categories) for rater in range(raters)]

    def w(times: Values) -> Values:
        times = times[:, complete]
        total = times.sum(axis=1)
        ranks = np.zeros(times.shape)
        ties = np.zeros(len(times))
        for rater, by_category in enumerate(chosen):
            counts = times @ by_category  # (resamples, categories)
            middle = np.cumsum(counts, axis=1) - counts / 2
            ranks += middle[:, places[:, rater]]
            ties += (counts**3 - counts).sum(axis=1)
        apart = ranks - divide((times * ranks).sum(axis=1), total)[:, None]
        squares = (times * apart**2).sum(axis=1)
        return divide(12 * squares, raters**2 * (total**3 - total) - raters * ties)

    return w


def _w_of_ranks(ranks: Values, complete: Flags) -> WeightedStatistic:
    """W of ranks that stay as they are: variance of their sums over what it could be at most."""
    columns = np.column_stack([ranks, ranks.sum(axis=1)])
    columns -= columns.mean(axis=0)

    def w(times: Values) -> Values:
        times = times[:, complete]
        means = divide(times @ columns, times.sum(axis=1)[:, None])
        squares = times @ columns**2 - times.sum(axis=1)[:, None] * means**2
        return divide(squares[:, -1], ranks.shape[1] * squares[:, :-1].sum(axis=1))

    return w
