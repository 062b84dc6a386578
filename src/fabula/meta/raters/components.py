"""Where the variance of a rating comes from: its item, its story, and the rater's noise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.story import Story
from fabula.meta.arrays import Values
from fabula.meta.grid import Layout
from fabula.meta.raters.ratings import Ratings


@dataclass(frozen=True)
class Components:
    """Variances of one rating within a system: of items, of stories of an item, and of noise.

    `noise` is what two raters of the same story differ by, strictness included.
    """

    item: float
    story: float
    noise: float
    note: str = ""

    @classmethod
    def of_icc(cls, icc: float, sd: float = 1.0) -> Components:
        """Take the ICC(1,1) and the standard deviation of one rating; items do not matter then."""
        if not 0 < icc < 1:
            raise SettingError(f"icc={icc} will not do", "give a number between 0 and 1")
        if not (sd > 0 and math.isfinite(sd)):
            raise SettingError(f"sd={sd} will not do", "give a number above 0")
        return cls(0.0, icc * sd * sd, (1 - icc) * sd * sd)

    @property
    def sd(self) -> float:
        """Standard deviation of one rating."""
        return math.sqrt(self.item + self.story + self.noise)

    @property
    def icc(self) -> float:
        """Share of the variance that lies between the stories of a system."""
        return (self.item + self.story) / (self.item + self.story + self.noise)

    def difference_sd(self, raters: float) -> float:
        """Spread of the difference of two systems on an item, each rated by so many raters.

        The item is the same for both and drops out.
        """
        return math.sqrt(2 * (self.story + self.noise / raters))


def estimate_components(ratings: Ratings, stories: Iterable[Story]) -> Components:
    """Estimate the variances of an aspect by analysis of variance.

    Items × systems where at least two items have stories of all systems; else stories within
    systems, with nothing put down to items. What comes out negative is 0; a note says
    where stories seem not to differ, which understates power if raters differ in strictness.
    """
    noise, inverse = _noise(ratings)
    means = _story_means(ratings, stories)
    complete = means[~np.isnan(means).any(axis=1)]
    if complete.shape[0] >= 2 and complete.shape[1] >= 2:
        item, story = _two_way(complete)
    else:
        item, story = 0.0, _within_systems(means)
    story -= noise * inverse
    note = "" if story > 0 else "stories of a system differ by no more than noise"
    components = Components(max(0.0, item), max(0.0, story), noise, note)
    if components.sd == 0:
        raise InputError("all ratings are the same", "no study can be planned from them")
    return components


def _noise(ratings: Ratings) -> tuple[float, float]:
    """Variance within stories, and the mean over stories of 1 / number of ratings."""
    packed = ratings.packed
    sizes = ratings.per_story
    free = int((sizes - 1).sum())
    if free < 1:
        raise InputError(
            "no story has two ratings, so that noise cannot be told from quality",
            "take ratings of several raters, or give --icc",
        )
    apart = packed - (np.nansum(packed, axis=1) / sizes)[:, None]
    return float(np.nansum(apart**2)) / free, float((1 / sizes).mean())


def _story_means(ratings: Ratings, stories: Iterable[Story]) -> Values:
    """Mean rating of every story: items × systems, NaN where there is none."""
    rated = set(ratings.stories)
    layout = Layout.of(story for story in stories if story.id in rated)
    means = np.full(layout.shape, np.nan)
    sums = np.bincount(ratings.story, ratings.value, minlength=len(ratings.stories))
    for story, mean in zip(ratings.stories, sums / ratings.per_story, strict=True):
        means[layout.places[story]] = mean
    return means


def _two_way(means: Values) -> tuple[float, float]:
    items, systems = means.shape
    rows = means.mean(axis=1, keepdims=True)
    left = means - rows - means.mean(axis=0, keepdims=True) + means.mean()
    story = float((left**2).sum()) / ((items - 1) * (systems - 1))
    of_rows = systems * float(((rows - means.mean()) ** 2).sum()) / (items - 1)
    return (of_rows - story) / systems, story


def _within_systems(means: Values) -> float:
    there = ~np.isnan(means)
    counts = there.sum(axis=0)
    free = int((counts[counts > 0] - 1).sum())
    if free < 1:
        raise InputError("each system has but one rated story", "plan with --icc instead")
    with np.errstate(invalid="ignore"):
        apart = means - np.nansum(means, axis=0) / counts
    return float(np.nansum(apart**2)) / free
