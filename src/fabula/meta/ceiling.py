"""Noise ceilings: how far even a perfect metric could correlate with the mean of k ratings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fabula.core.errors import SettingError
from fabula.meta.icc import spearman_brown
from fabula.meta.paired import Values

Correlate = Callable[[Values, Values], float]  # items × systems, twice


@dataclass(frozen=True)
class Ceiling:
    """Reliability of a gold, and the correlation with it that its noise allows.

    `low` and `high` are the 95 % interval of the ceiling. NaN where fewer than two stories have
    two ratings; the ceiling alone is NaN where the halves do not agree at all.
    """

    reliability: float
    ceiling: float
    low: float
    high: float
    splits: int


def noise_ceiling(
    ratings: Values, correlate: Correlate, *, splits: int = 200, seed: int = 0
) -> Ceiling:
    """Split every story's ratings at random into halves, correlate their means, and step up.

    `ratings` are places × items × systems, NaN where there is none. Halves of a and b ratings
    correlate by r = p √(ab / ((1 + (a-1) p)(1 + (b-1) p))), where p is the reliability of a single
    rating (Spearman and Brown, for unlike halves); that is solved for p, with r the mean over the
    splits, and the reliability of the gold is k p / (1 + (k-1) p). Where stories have unlike
    numbers of ratings, a, b and k are harmonic means. The ceiling is √reliability: what the true
    score itself would reach.

    The interval is a bootstrap over items with one split each, and so a little wide. For Kendall's
    and Spearman's coefficients, and for means of correlations over few systems, these steps are an
    approximation: they hold for Pearson's.
    """
    if splits < 1:
        raise SettingError(f"splits={splits} will not do", "give 1 or more")
    rng = np.random.default_rng(seed)
    sizes = _sizes(ratings)
    if sizes is None:
        return Ceiling(math.nan, math.nan, math.nan, math.nan, splits)
    found = [_split(ratings, correlate, rng) for _ in range(splits)]
    reliability = _stepped(_mean(found), *sizes)
    items = ratings.shape[1]
    again = [
        _split(ratings[:, rng.integers(0, items, items)], correlate, rng) for _ in range(splits)
    ]
    # Halves that contradict each other share nothing: their reliability is at most 0.
    low, high = _interval([0.0 if one <= 0 else _stepped(one, *sizes) for one in again])
    return Ceiling(reliability, _root(reliability), low, high, splits)


def single_reliability(r: float, a: float, b: float) -> float:
    """Reliability of one rating, from the correlation of the means of a and of b ratings."""
    square = r * r
    # (ab - r²(a-1)(b-1)) p² - r²(a+b-2) p - r² = 0; the root that has the sign of r.
    leading = a * b - square * (a - 1) * (b - 1)
    linear = square * (a + b - 2)
    root = math.sqrt(linear * linear + 4 * leading * square)
    return (linear + math.copysign(root, r)) / (2 * leading)


def _sizes(ratings: Values) -> tuple[float, float, float] | None:
    """Harmonic means of the halves' sizes and of the number of ratings."""
    counts = (~np.isnan(ratings)).sum(axis=0).astype(np.float64)
    counts = counts[counts >= 2]
    if len(counts) < 2:
        return None
    small, large = np.floor(counts / 2), np.ceil(counts / 2)
    a, b, k = (1 / float((1 / sizes).mean()) for sizes in (small, large, counts))
    return a, b, k


def _split(ratings: Values, correlate: Correlate, rng: np.random.Generator) -> float:
    """Correlate the means of random halves; of an odd number, the first half is the smaller."""
    there = ~np.isnan(ratings)
    # Ratings in random order, missing ones last: the place in that order says which half.
    keys = np.where(there, rng.random(ratings.shape), 2.0)
    places = np.argsort(np.argsort(keys, axis=0), axis=0)
    counts = there.sum(axis=0)
    border = counts // 2
    first = there & (places < border) & (counts >= 2)
    second = there & (places >= border) & (counts >= 2)
    return correlate(_half_mean(ratings, first), _half_mean(ratings, second))


def _half_mean(ratings: Values, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Values:
    sums = np.where(chosen, ratings, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        means: Values = sums / chosen.sum(axis=0)
    return means


def _mean(found: list[float]) -> float:
    defined = [one for one in found if not math.isnan(one)]
    return sum(defined) / len(defined) if defined else math.nan


def _stepped(r: float, a: float, b: float, k: float) -> float:
    return math.nan if math.isnan(r) else spearman_brown(single_reliability(r, a, b), k)


def _root(reliability: float) -> float:
    return math.sqrt(reliability) if reliability >= 0 else math.nan


def _interval(reliabilities: list[float]) -> tuple[float, float]:
    roots = [math.sqrt(one) for one in reliabilities if not math.isnan(one)]
    if not roots:
        return math.nan, math.nan
    low, high = np.quantile(roots, [0.025, 0.975])
    return float(low), float(high)
