"""Krippendorff's alpha: 1 less observed over expected disagreement.

Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. Ratings may be missing; stories
with fewer than two say nothing. Who gave a rating does not matter.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from fabula.meta.arrays import Values, average_ranks, divide
from fabula.meta.raters.ratings import MANY, categories_of, category_counts
from fabula.meta.resampling import WeightedStatistic, always_undefined

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")


def krippendorff(values: Values, *, level: Level = "ordinal") -> WeightedStatistic:
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
        return _squared((values - categories[0]) / reach)
    if len(categories) > MANY:
        return _squared(_ranked(values)) if level == "ordinal" else always_undefined
    counts = category_counts(values, categories)
    sizes = counts.sum(axis=1)
    if level == "ordinal":
        return _ordinal(counts, sizes)
    return _fixed(counts, sizes, _distances(categories, level))


def _ranked(values: Values) -> Values:
    """Ranks among all ratings of stories that have two, from 0 to 1."""
    alone = (~np.isnan(values)).sum(axis=1) < 2
    ranks = average_ranks(np.where(alone[:, None], np.nan, values).ravel()).reshape(values.shape)
    return ranks / max(1, ranks.size)


def _squared(values: Values) -> WeightedStatistic:
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


def _distances(categories: Values, level: Level) -> Values:
    one, other = categories[:, None], categories[None, :]
    if level == "nominal":
        unlike: Values = (one != other).astype(np.float64)
        return unlike
    return divide((one - other) ** 2, (one + other) ** 2 + (one == other))


def _fixed(counts: Values, sizes: Values, distances: Values) -> WeightedStatistic:
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


def _ordinal(counts: Values, sizes: Values) -> WeightedStatistic:
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
