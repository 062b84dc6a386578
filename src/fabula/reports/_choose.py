"""Which stories a report shows in full: best, worst and middle ones, and some at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabula.core.story import Story
from fabula.reports.run_data import Array, ReportColumn, ReportData

# Share of the stories shown that is drawn at random, so that not only extremes are looked at.
_RANDOM_SHARE = 0.25


@dataclass(frozen=True)
class Budget:
    """How many stories, and how many characters with their prompts and references."""

    stories: int
    chars: float


def choose_stories(data: ReportData, budget: Budget, *, seed: int) -> list[int]:
    """Give the places of the stories to show, in the order of the run."""
    if budget.stories >= len(data.stories):
        return _fitting(data, iter(range(len(data.stories))), budget)
    telling = int(budget.stories * (1 - _RANDOM_SHARE))
    chosen = dict.fromkeys(_first(_telling(data), telling))
    rest = [place for place in range(len(data.stories)) if place not in chosen]
    random.Random(seed).shuffle(rest)
    return _fitting(data, iter([*chosen, *rest]), budget)


def _first(places: Iterator[int], most: int) -> list[int]:
    found: dict[int, None] = {}
    for place in places:
        if len(found) >= most:
            break
        found[place] = None
    return list(found)


def _telling(data: ReportData) -> Iterator[int]:
    """Best, worst and middle story by metric and system; the metrics before the baselines."""
    systems = list(data.places().values())
    for number, column in enumerate(data.columns):
        if column.main:
            ranked = [_ranked(places, data.values[:, number], column) for places in systems]
            for pick in (0, -1, None):
                for order in ranked:
                    if len(order):
                        yield int(order[len(order) // 2 if pick is None else pick])


def _ranked(places: Array, values: Array, column: ReportColumn) -> Array:
    """Places of stories that have a value, the best first."""
    there = places[np.isfinite(values[places])]
    sign = 1 if column.direction == "lower" else -1
    return there[np.argsort(sign * values[there], kind="stable")]


def _fitting(data: ReportData, places: Iterator[int], budget: Budget) -> list[int]:
    """Take what still fits; a reference or prompt that several stories share counts once."""
    taken: list[int] = []
    counted: set[str] = set()
    chars = 0
    for place in places:
        if len(taken) >= budget.stories:
            break
        texts = set(texts_of(data.stories[place])) - counted
        size = sum(map(len, texts))
        if chars + size <= budget.chars:
            taken.append(place)
            counted |= texts
            chars += size
    return sorted(taken)


def texts_of(story: Story) -> list[str]:
    """All that is to be read of a story: its text, prompt and references."""
    return [story.text, *([story.prompt] if story.prompt else []), *story.references]
