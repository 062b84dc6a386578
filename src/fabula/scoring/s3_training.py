"""A regressor of S3 from people's ratings, and how well it does on items it has not seen."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, closest
from fabula.core.story import Story
from fabula.metrics.s3 import S3
from fabula.metrics.s3_regression.regressor import Regressor, fit

_PARTS = 4


@dataclass(frozen=True)
class Correlations:
    """Pearson's r and Spearman's ρ of our values with others of the same stories."""

    r: float
    rho: float
    n: int


@dataclass(frozen=True)
class FittedRegressor:
    """A regressor fitted on all stories, and the agreement of others with the ratings.

    Each of those others was fitted on the items of the other parts: no story is predicted by a
    regressor that has seen its item.
    """

    regressor: Regressor
    unseen: Correlations | None
    stories: int


def fit_rated(dataset: Dataset, aspect: str = "", *, seed: int = 0) -> FittedRegressor:
    """Fit a regressor to the mean rating of an aspect; stories without a reference are left out."""
    wanted = _choose_aspect(dataset, aspect)
    ratings: dict[str, list[float]] = {}
    for score in dataset.ratings:
        if score.aspect == wanted and not math.isnan(score.value):
            ratings.setdefault(score.story, []).append(score.value)
    known = [
        story
        for story in dataset.stories
        if story.id in ratings
        and story.text.strip()
        and any(map(str.strip, story.references))
        and story.system not in dataset.card.reference_systems
    ]
    if not known:
        raise InputError(f"no story rated for {wanted!r} has a reference", "S3 needs one each")
    means = {story.id: fmean(ratings[story.id]) for story in known}
    predicted = _predict_unseen(known, means, seed)
    gold = [means[story.id] for story in known]
    # Ratings are noisy: a regressor of them may lean on nearly every story.
    whole = fit(known, gold, seed=seed, target=wanted, most_vectors=len(known))
    return FittedRegressor(whole, correlate_by_story(known, predicted, means), len(known))


def correlate_by_story(
    stories: Sequence[Story], ours: Mapping[str, float], theirs: Mapping[str, float]
) -> Correlations | None:
    """Correlate our values with theirs over some stories; None where that is undefined."""
    import numpy as np

    from fabula.meta.coefficients import pearson, spearman

    ids = [story.id for story in stories if story.id in ours and story.id in theirs]
    left, right = (np.array([side[name] for name in ids], dtype=float) for side in (ours, theirs))
    if len(ids) < 3 or not np.ptp(left) or not np.ptp(right):
        return None
    return Correlations(float(pearson(left, right)), float(spearman(left, right)), len(ids))


def _choose_aspect(dataset: Dataset, aspect: str) -> str:
    """The aspect asked for, or the only one."""
    known = list(dict.fromkeys(score.aspect for score in dataset.ratings))
    if aspect in known:
        return aspect
    if not aspect and len(known) == 1:
        return known[0]
    problem = f"no rating is of {aspect!r}" if aspect else "several aspects are rated"
    raise InputError(problem, closest(aspect, known))


def _predict_unseen(
    stories: Sequence[Story], means: dict[str, float], seed: int
) -> dict[str, float]:
    """Predict every story by a regressor that has seen nothing of its item."""
    items = sorted({story.item or story.id for story in stories})
    part = {item: place % _PARTS for place, item in enumerate(items)}
    predicted: dict[str, float] = {}
    for number in range(_PARTS):
        inside = [story for story in stories if part[story.item or story.id] != number]
        outside = [story for story in stories if part[story.item or story.id] == number]
        gold = [means[story.id] for story in inside]
        fitted = fit(inside, gold, seed=seed, most_vectors=len(inside))
        scores = S3.with_regressor(fitted).score(outside)
        predicted |= {score.story: score.value for score in scores if not math.isnan(score.value)}
    return predicted
