"""Noise ceilings: how far even a perfect metric could correlate with the mean of k ratings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fabula.core.errors import SettingError
from fabula.meta.arrays import Values
from fabula.meta.raters.icc import spearman_brown

Chosen = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Correlate = Callable[[Values, Values], Values]  # (splits, items, systems), twice, to (splits,)


@dataclass(frozen=True)
class Ceiling:
    """Reliability of a gold, and the correlation with it that its noise allows.

    `low` and `high` are the 95 % interval of the ceiling, where it was asked for. All are NaN where
    fewer than two stories have two ratings; the ceiling alone where the halves do not agree at all.
    """

    reliability: float
    ceiling: float
    low: float
    high: float
    splits: int


@dataclass(frozen=True)
class _Halves:
    """Means of either half, (splits, items, systems), and how many ratings stand behind them."""

    first: Values
    second: Values
    a: float
    b: float
    k: float


def noise_ceiling(
    ratings: Values,
    correlate: Correlate,
    *,
    by_rater: bool = False,
    splits: int = 200,
    seed: int = 0,
    interval: bool = True,
) -> Ceiling:
    """Split the ratings at random into halves, correlate their means, and step up.

    `ratings` are raters × items × systems, NaN where there is none; `correlate` is given many
    splits at once. With `by_rater` a rater is on the same side for all stories: whoever is strict
    with all stories does no harm to the order of their means, and none to the ceiling. Without,
    the first axis is but a list of ratings and every story is split by itself, so that the raters'
    strictness counts as noise: the ceiling is then too low where the same people rated all.

    Halves of a and b ratings correlate by r = p √(ab / ((1 + (a-1) p)(1 + (b-1) p))), where p is
    the reliability of a single rating (Spearman and Brown, for unlike halves); that is solved for
    p, with r the mean over the splits, and the reliability of the gold is k p / (1 + (k-1) p).
    Where stories have unlike numbers of ratings, a, b and k are harmonic means. The ceiling is
    √reliability: what the true score itself would reach.

    The interval is a bootstrap over items with one split each, and so a little wide. For ranks, and
    for means over few systems, all this is an approximation: it holds for Pearson's coefficient.
    """
    if splits < 1:
        raise SettingError(f"splits={splits} will not do", "give 1 or more")
    rng = np.random.default_rng(seed)
    split = _rater_halves if by_rater else _story_halves
    halves = split(ratings, splits, rng)
    if halves is None:
        return Ceiling(math.nan, math.nan, math.nan, math.nan, splits)
    reliability = _reliability(halves, correlate)
    low = high = math.nan
    if interval:
        items = ratings.shape[1]
        drawn = [split(ratings[:, rng.integers(0, items, items)], 1, rng) for _ in range(splits)]
        low, high = _interval([_reliability(one, correlate) for one in drawn if one])
    return Ceiling(reliability, _root(reliability), low, high, splits)


def _reliability(halves: _Halves, correlate: Correlate) -> float:
    found = correlate(halves.first, halves.second)
    defined = found[~np.isnan(found)]
    if not len(defined):
        return math.nan
    single = single_reliability(float(defined.mean()), halves.a, halves.b)
    if 1 + (halves.k - 1) * single <= 0:
        return -math.inf  # halves that contradict each other
    return spearman_brown(single, halves.k)


def single_reliability(r: float, a: float, b: float) -> float:
    """Reliability of one rating, from the correlation of the means of a and of b ratings."""
    square = r * r
    # (ab - r²(a-1)(b-1)) p² - r²(a+b-2) p - r² = 0; the root that has the sign of r.
    leading = a * b - square * (a - 1) * (b - 1)
    linear = square * (a + b - 2)
    root = math.sqrt(linear * linear + 4 * leading * square)
    return (linear + math.copysign(root, r)) / (2 * leading)


def _story_halves(ratings: Values, splits: int, rng: np.random.Generator) -> _Halves | None:
    """Split every story by itself; of an odd number of ratings the first half is the smaller."""
    there = np.broadcast_to(~np.isnan(ratings)[:, None], (len(ratings), splits, *ratings.shape[1:]))
    # Ratings in random order, missing ones last: the place in that order says which half.
    keys = np.where(there, rng.random(there.shape), 2.0)
    places = np.argsort(np.argsort(keys, axis=0), axis=0)
    first = there & (places < there.sum(axis=0) // 2)
    return _halves(ratings, first, there & ~first, "rbis,ris->bis")


def _rater_halves(ratings: Values, splits: int, rng: np.random.Generator) -> _Halves | None:
    """Put every rater on one side, for all stories alike."""
    count = len(ratings)
    side = np.argsort(rng.random((count, splits)), axis=0) < count // 2  # (raters, splits)
    return _halves(ratings, side, ~side, "rb,ris->bis")


def _halves(ratings: Values, first: Chosen, second: Chosen, how: str) -> _Halves | None:
    """Average the ratings on either side; a story with nothing on one of them is left out."""
    there = ~np.isnan(ratings)
    values = np.where(there, ratings, 0.0)
    sums = [np.einsum(how, one.astype(np.float64), values) for one in (first, second)]
    counts = [
        np.einsum(how, one.astype(np.float64), there.astype(np.float64)) for one in (first, second)
    ]
    both = (counts[0] > 0) & (counts[1] > 0)
    if both.sum() < 2:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        first_mean, second_mean = (
            np.where(both, total / count, np.nan) for total, count in zip(sums, counts, strict=True)
        )
    a, b, k = (_harmonic(one[both]) for one in (*counts, counts[0] + counts[1]))
    return _Halves(first_mean, second_mean, a, b, k)


def _harmonic(sizes: Values) -> float:
    return 1 / float((1 / sizes).mean())


def _root(reliability: float) -> float:
    return math.sqrt(reliability) if reliability >= 0 else math.nan


def _interval(reliabilities: list[float]) -> tuple[float, float]:
    """Give the 95 % interval of the ceiling; a negative reliability is one of 0 there."""
    roots = [math.sqrt(max(0.0, one)) for one in reliabilities if not math.isnan(one)]
    if not roots:
        return math.nan, math.nan
    low, high = np.quantile(roots, [0.025, 0.975])
    return float(low), float(high)
