"""Kappas and Gwet's AC: agreement beyond what the raters' habits would give by chance.

Fleiss (1971), Psychological Bulletin 76; Cohen (1960, 1968); Light (1971). Gwet (2008), British
Journal of Mathematical and Statistical Psychology 61; AC2 with weights and missing ratings: Gwet
(2014), Handbook of Inter-Rater Reliability, chapters 4 and 5. They are for categories: of more than
200 distinct values they are undefined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Literal

import numpy as np

from fabula.meta.arrays import Values, divide
from fabula.meta.raters.ratings import MANY, categories_of, category_counts
from fabula.meta.resampling import WeightedStatistic, always_undefined, value_of

Weighting = Literal["identity", "linear", "quadratic"]


def agreement_weights(categories: Values, weighting: Weighting) -> Values:
    """Say how far two categories agree: 1 where they are the same, 0 at the ends of the scale.

    Distances are those of the values, so that a category nobody chose changes none.
    """
    apart = np.abs(categories[:, None] - categories[None, :])
    share = apart / apart.max(initial=0) if len(categories) > 1 else apart
    if weighting == "identity":
        share = np.ceil(share)
    weights: Values = 1 - (share**2 if weighting == "quadratic" else share)
    return weights


def observed_agreement(counts: Values, weights: Values) -> Values:
    """Share of a story's pairs of ratings that agree, story by story; NaN with fewer than two."""
    sizes = counts.sum(axis=1)
    agreeing = (counts * (counts @ weights - 1)).sum(axis=1)
    return divide(agreeing, sizes * (sizes - 1))


def fleiss(values: Values) -> WeightedStatistic:
    """Make Fleiss' kappa of stories × raters a function of the stories' weights.

    With unlike numbers of ratings it is Gwet's generalisation: agreement over the stories with at
    least two, chance by the mean share of each category over all stories with at least one.
    """
    categories = categories_of(values)
    if len(categories) > MANY:
        return always_undefined
    counts = category_counts(values, categories)

    def chance(shares: Values) -> Values:
        squares: Values = (shares**2).sum(axis=1)
        return squares

    return beyond_chance(counts, agreement_weights(categories, "identity"), chance)


def beyond_chance(counts: Values, weights: Values, chance: WeightedStatistic) -> WeightedStatistic:
    """Make (observed - chance) / (1 - chance); `chance` goes by the shares of the categories."""
    sizes = counts.sum(axis=1)
    rated, paired = sizes > 0, sizes > 1
    shares = counts[rated] / sizes[rated, None]
    agreement = observed_agreement(counts[paired], weights)

    def coefficient(times: Values) -> Values:
        once, more = times[:, rated], times[:, paired]
        observed = divide(more @ agreement, more.sum(axis=1))
        expected = chance(divide(once @ shares, once.sum(axis=1)[:, None]))
        return divide(observed - expected, 1 - expected)

    return coefficient


def cohen(a: Values, b: Values, *, weighting: Weighting = "identity") -> WeightedStatistic:
    """Make Cohen's kappa of two raters a function of the stories' weights.

    Stories that either did not rate are left out.
    """
    both = ~(np.isnan(a) | np.isnan(b))
    categories = categories_of(np.concatenate([a[both], b[both]]))
    if len(categories) > MANY:
        return always_undefined
    weights = agreement_weights(categories, weighting)
    of_a, of_b = (category_counts(x[both][:, None], categories) for x in (a, b))
    agreement = ((of_a @ weights) * of_b).sum(axis=1)  # (stories,)

    def kappa(times: Values) -> Values:
        times = times[:, both]
        total = times.sum(axis=1)
        observed = divide(times @ agreement, total)
        left, right = (divide(times @ chosen, total[:, None]) for chosen in (of_a, of_b))
        expected = ((left @ weights) * right).sum(axis=1)
        return divide(observed - expected, 1 - expected)

    return kappa


def cohen_pairs(matrix: Values, *, weighting: Weighting = "identity") -> list[float]:
    """Give Cohen's kappa of every two raters who share two stories; NaN where undefined."""
    return [
        value_of(cohen(matrix[:, i], matrix[:, j], weighting=weighting), len(matrix))
        for i, j in sharing_pairs(matrix)
    ]


def light(matrix: Values, *, weighting: Weighting = "identity") -> WeightedStatistic:
    """Make Light's kappa, the mean of Cohen's over the pairs of raters, a function of weights.

    Pairs for which it is undefined are left out of the mean.
    """
    if len(categories_of(matrix)) > MANY:
        return always_undefined
    kappas = [
        cohen(matrix[:, i], matrix[:, j], weighting=weighting) for i, j in sharing_pairs(matrix)
    ]

    def mean(times: Values) -> Values:
        if not kappas:
            return np.full(len(times), math.nan)
        values = np.stack([kappa(times) for kappa in kappas])
        defined = ~np.isnan(values)
        return divide(np.where(defined, values, 0).sum(axis=0), defined.sum(axis=0))

    return mean


def sharing_pairs(matrix: Values) -> Sequence[tuple[int, int]]:
    """Pairs of raters who rated at least two stories both."""
    rated = (~np.isnan(matrix)).astype(np.float64)
    shared = rated.T @ rated
    return [(i, j) for i, j in combinations(range(matrix.shape[1]), 2) if shared[i, j] >= 2]


def gwet(
    values: Values,
    *,
    weighting: Weighting = "identity",
    scale: tuple[float, float] | None = None,
) -> WeightedStatistic:
    """Make AC1 (identity weights) or AC2 of stories × raters a function of the stories' weights.

    Chance goes by the number of categories: those of the scale, or, where it is not given, those
    that somebody chose. With one category it is undefined. Unlike kappa it does not collapse where
    one category prevails.
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
