"""Noise ceilings: how far even a perfect metric could correlate with the mean of k ratings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.score import Score
from fabula.meta.arrays import Flags, Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid, Layout
from fabula.meta.levels import Level, correlate_pairs
from fabula.meta.raters.icc import spearman_brown
from fabula.meta.raters.ratings import ratings_of

Correlate = Callable[[Values, Values], Values]  # (splits, items, systems), twice, to (splits,)
_SPLITS = 50  # of the gold of a study
# Ratings times splits that are held at once.
_CELLS = 8_000_000


@dataclass(frozen=True)
class Ceiling:
    """Reliability of a gold, and the correlation with it that its noise allows.

    Both are NaN where fewer than two stories have two ratings; the ceiling alone where the halves
    do not agree at all.
    """

    reliability: float
    ceiling: float


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
    √reliability: what the true score itself would reach. For ranks, and for means over few systems,
    all this is an approximation: it holds for Pearson's coefficient.
    """
    if splits < 1:
        raise SettingError(f"splits={splits} will not do", "give 1 or more")
    reliability = _reliability(_split(ratings, splits, by_rater, seed), correlate)
    return Ceiling(reliability, math.sqrt(reliability) if reliability >= 0 else math.nan)


def _split(ratings: Values, splits: int, by_rater: bool, seed: int) -> Iterator[_Halves]:
    """Split the ratings in halves, a bounded number of splits at a time; none that say nothing."""
    if ((~np.isnan(ratings)).sum(0) > 1).sum() < 2:
        return
    rng = np.random.default_rng(seed)
    split = _rater_halves if by_rater else _story_halves
    step = splits if by_rater else max(1, _CELLS // ratings.size)
    for start in range(0, splits, step):
        if (halves := split(ratings, min(step, splits - start), rng)) is not None:
            yield halves


def _reliability(blocks: Iterable[_Halves], correlate: Correlate) -> float:
    halves, parts = None, []
    for halves in blocks:
        parts.append(correlate(halves.first, halves.second))
    if halves is None:
        return math.nan
    # Stories that are split by themselves have halves of the same sizes in every split.
    coefficients = np.concatenate(parts)
    defined = coefficients[~np.isnan(coefficients)]
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


def _halves(ratings: Values, first: Flags, second: Flags, how: str) -> _Halves | None:
    """Average the ratings on either side; a story with nothing on one of them is left out."""
    there = ~np.isnan(ratings)
    values = np.where(there, ratings, 0.0)
    sums = [np.einsum(how, side.astype(np.float64), values) for side in (first, second)]
    counts = [
        np.einsum(how, side.astype(np.float64), there.astype(np.float64))
        for side in (first, second)
    ]
    both = (counts[0] > 0) & (counts[1] > 0)
    if both.sum() < 2:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        first_mean, second_mean = (
            np.where(both, total / count, np.nan) for total, count in zip(sums, counts, strict=True)
        )
    a, b, k = (_harmonic(side[both]) for side in (*counts, counts[0] + counts[1]))
    return _Halves(first_mean, second_mean, a, b, k)


def _harmonic(sizes: Values) -> float:
    return 1 / float((1 / sizes).mean())


def gold_ceilings(
    ratings: Iterable[Score],
    gold: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    raters_known: bool = True,
) -> dict[str, float]:
    """Give what a perfect metric could reach on each aspect; NaN where raters were alone.

    Where the raters are not known their strictness counts as noise, and the ceilings are too low.
    """
    correlate = partial(correlate_pairs, level=level, coefficient=coefficient)
    wanted = {column.aspect for column in gold.columns}
    return {
        rated.aspect: noise_ceiling(
            _lay_out(rated.matrix if raters_known else rated.packed, rated.stories, gold.layout),
            correlate,
            by_rater=raters_known,
            splits=_SPLITS,
        ).ceiling
        for rated in ratings_of(ratings)
        if rated.aspect in wanted
    }


def _lay_out(matrix: Values, stories: Sequence[str], layout: Layout) -> Values:
    """Stories × raters as raters × items × systems."""
    values = np.full((matrix.shape[1], *layout.shape), np.nan)
    for story, given in zip(stories, matrix, strict=True):
        if place := layout.places.get(story):
            values[:, *place] = given
    return values
