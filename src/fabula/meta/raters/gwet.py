"""Gwet's AC1 and AC2: agreement beyond chance that does not collapse where one category prevails.

Gwet (2008), British Journal of Mathematical and Statistical Psychology 61; AC2 with weights and
missing ratings: Gwet (2014), Handbook of Inter-Rater Reliability, chapters 4 and 5.
"""

from __future__ import annotations

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.raters.kappa import Weighting, agreement_weights, beyond_chance
from fabula.meta.raters.ratings import MANY, categories_of, category_counts
from fabula.meta.resampling import WeightedStatistic, always_undefined


def gwet(
    values: Values,
    *,
    weighting: Weighting = "identity",
    scale: tuple[float, float] | None = None,
) -> WeightedStatistic:
    """Make AC1 (identity weights) or AC2 of stories × raters a function of the stories' weights.

    Chance goes by the number of categories: those of the scale, or, where it is not given, those
    that somebody chose. With one category it is undefined.
    """
    categories = categories_of(values, scale)
    if len(categories) > MANY:
        return always_undefined
    weights = agreement_weights(categories, weighting)
    count = len(categories)

    def chance(shares: Values) -> Values:
        if count < 2:
            return np.ones(len(shares))
        spread: Values = weights.sum() * (shares * (1 - shares)).sum(axis=1)
        return spread / (count * (count - 1))

    return beyond_chance(category_counts(values, categories), weights, chance)
