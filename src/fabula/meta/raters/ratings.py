"""Ratings of one aspect: who said what of which story, as a matrix or as counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.core.score import Score
from fabula.meta.arrays import Values

HUMAN = "human:"
# More distinct values than this are no categories but a continuous scale.
MANY = 200

Places = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class Ratings:
    """Ratings of one aspect, one after the other; only stories with a rating are counted."""

    aspect: str
    stories: tuple[str, ...]
    raters: tuple[str, ...]
    story: Places  # (ratings,) place in `stories`
    rater: Places  # (ratings,) place in `raters`
    value: Values  # (ratings,)

    @property
    def matrix(self) -> Values:
        """Stories × raters; NaN where a rater said nothing."""
        values = np.full((len(self.stories), len(self.raters)), np.nan)
        values[self.story, self.rater] = self.value
        return values

    @property
    def packed(self) -> Values:
        """Stories × places: a story's ratings in its first places, whoever gave them.

        For what depends only on which values a story has, not on who gave them.
        """
        order = np.argsort(self.story, kind="stable")
        story = self.story[order]
        sizes = self.per_story
        place = np.arange(len(story)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        values = np.full((len(self.stories), int(sizes.max(initial=0))), np.nan)
        values[story, place] = self.value[order]
        return values

    def align(self, slots: Sequence[str]) -> Values:
        """Stories × slots: those named in columns of their own, all others in the free ones.

        As HANNA's Table 3 has it, where three raters gave most ratings: others take the free
        columns of a story in the order they came. A rating for which no column is free is dropped.
        """
        column = {name: place for place, name in enumerate(slots)}
        values = np.full((len(self.stories), len(slots)), np.nan)
        own = np.array([column.get(name, -1) for name in self.raters], dtype=np.int64)[self.rater]
        named = own >= 0
        values[self.story[named], own[named]] = self.value[named]
        for story, value in zip(self.story[~named], self.value[~named], strict=True):
            free = np.flatnonzero(np.isnan(values[story]))
            if len(free):
                values[story, free[0]] = value
        return values

    def list_busiest(self, count: int) -> tuple[str, ...]:
        """Give the raters with the most ratings, of equals the one who came first."""
        order = np.argsort(-np.bincount(self.rater, minlength=len(self.raters)), kind="stable")
        return tuple(self.raters[place] for place in order[:count])

    @property
    def per_story(self) -> Places:
        """How many ratings every story has."""
        return np.bincount(self.story, minlength=len(self.stories))


def ratings_of(scores: Iterable[Score]) -> list[Ratings]:
    """Part the scores of raters (`human:<rater>`) by aspect, in the order they came.

    Scores of metrics and scores without a value are passed over.
    """
    parted: dict[str, dict[tuple[str, str], float]] = {}
    for score in scores:
        if not score.ok or not score.scorer.startswith(HUMAN):
            continue
        cell = score.story, score.scorer.removeprefix(HUMAN)
        cells = parted.setdefault(score.aspect, {})
        if cell in cells:
            raise InputError(
                f"rater {cell[1]!r} rated story {cell[0]!r} twice"
                + (f" on {score.aspect!r}" if score.aspect else ""),
                "keep one of the two",
            )
        cells[cell] = score.value
    if not parted:
        remedy = "name the columns that hold them (--gold); choices between stories: fabula rank"
        raise InputError("there are no ratings here", remedy)
    return [_ratings(aspect, cells) for aspect, cells in parted.items()]


def _ratings(aspect: str, cells: dict[tuple[str, str], float]) -> Ratings:
    stories = {name: i for i, name in enumerate(dict.fromkeys(story for story, _ in cells))}
    raters = {name: i for i, name in enumerate(dict.fromkeys(rater for _, rater in cells))}
    return Ratings(
        aspect,
        tuple(stories),
        tuple(raters),
        np.array([stories[story] for story, _ in cells], dtype=np.int64),
        np.array([raters[rater] for _, rater in cells], dtype=np.int64),
        np.array(list(cells.values()), dtype=np.float64),
    )


def complete_rows(matrix: Values) -> Values:
    """Give the rows without a missing value."""
    complete: Values = matrix[~np.isnan(matrix).any(axis=1)]
    return complete


def categories_of(values: Values, scale: tuple[float, float] | None = None) -> Values:
    """Give the values that could have been chosen, in order.

    Those of the scale where it is known and all values are whole numbers on it, else those seen.
    """
    seen = np.unique(values[~np.isnan(values)])
    if scale is None or not len(seen):
        return seen
    low, high = scale
    whole = np.array_equal(seen, np.round(seen)) and low == round(low) and high == round(high)
    if not whole or seen[0] < low or seen[-1] > high or high - low > _MOST_STEPS:
        return seen
    return np.arange(low, high + 1, dtype=np.float64)


# A longer scale is a slider: steps that nobody chose are no categories.
_MOST_STEPS = 20


def category_counts(values: Values, categories: Values) -> Values:
    """Count how often a story was put into each category: stories × categories."""
    there = ~np.isnan(values)
    rows = np.nonzero(there)[0]
    columns = np.searchsorted(categories, values[there])
    counts = np.zeros((len(values), len(categories)))
    np.add.at(counts, (rows, columns), 1.0)
    return counts
