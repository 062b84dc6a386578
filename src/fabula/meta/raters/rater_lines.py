"""Rater by rater: how many ratings, how strict, and how far each follows the others."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.coefficients import correlate
from fabula.meta.distributions import t_tail
from fabula.meta.raters.ratings import Ratings

# With fewer, nothing is said of a rater or of an aspect without a warning.
FEW = 20


@dataclass(frozen=True)
class RaterLine:
    """One rater on one aspect.

    `bias` is the mean difference from the others' mean of the same story, `correlation` Pearson's
    with that mean, `exact` the share of the others' ratings of the same stories that are equal.
    `shared` counts the ratings of stories that others rated too: only they tell of agreement.
    `reliability` is for categories: how much more than habit the rater says (reliability.py).
    """

    rater: str
    aspect: str
    ratings: int
    shared: int
    mean: float
    spread: float = math.nan
    bias: float = math.nan
    correlation: float = math.nan
    exact: float = math.nan
    note: str = ""
    reliability: float = math.nan


def rater_lines(ratings: Ratings) -> list[RaterLine]:
    """Describe every rater of an aspect, in the order they came."""
    others, equal = _compare_with_others(ratings)
    order = np.argsort(ratings.rater, kind="stable")
    ends = np.cumsum(np.bincount(ratings.rater, minlength=len(ratings.raters)))
    return [
        _line(name, ratings.aspect, ratings.value[own], others[own], equal[own])
        for name, own in zip(ratings.raters, np.split(order, ends[:-1]), strict=True)
    ]


def _compare_with_others(ratings: Ratings) -> tuple[Values, Values]:
    """Mean of the others' ratings of the same story, and how many of them are equal; by rating."""
    sums = np.bincount(ratings.story, ratings.value, minlength=len(ratings.stories))
    other_count = (ratings.per_story[ratings.story] - 1).astype(np.float64)
    categories, chosen = np.unique(ratings.value, return_inverse=True)
    _, kind, counts = np.unique(
        ratings.story * len(categories) + chosen, return_inverse=True, return_counts=True
    )
    alike = counts[kind] - 1
    alone = other_count == 0
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(alone, np.nan, (sums[ratings.story] - ratings.value) / other_count)
        equal = np.where(alone, np.nan, alike / other_count)
    return means, equal


def _line(rater: str, aspect: str, own: Values, others: Values, equal: Values) -> RaterLine:
    shared = ~np.isnan(others)
    spread = float(own.std(ddof=1)) if len(own) > 1 else math.nan
    count = int(shared.sum())
    line = RaterLine(rater, aspect, len(own), count, float(own.mean()), spread)
    if not count:
        return RaterLine(**vars(line) | {"note": "no story that others rated"})
    r = float(correlate(own[shared], others[shared]))
    return RaterLine(
        **vars(line)
        | {
            "bias": float((own[shared] - others[shared]).mean()),
            "correlation": r,
            "exact": float(equal[shared].mean()),
            "note": _note(own, r, count),
        }
    )


def _note(own: Values, r: float, shared: int) -> str:
    if len(own) > 1 and (own == own[0]).all():
        return "gives one value only"
    if shared < FEW:
        return f"fewer than {FEW} ratings"
    if math.isnan(r):
        return "the others do not tell these stories apart"
    if abs(r) == 1:
        return "" if r > 0 else "rates against the others"
    t = r * math.sqrt((shared - 2) / (1 - r * r))
    if t_tail(np.float64(-t), shared - 2) < _LEVEL:
        return "rates against the others"
    return (
        ""
        if t_tail(np.float64(t), shared - 2) < _LEVEL
        else "follows the others no more than by chance"
    )


_LEVEL = 0.05
