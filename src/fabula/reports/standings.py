"""Where the systems stand: means with intervals, which is best, how strong a cell is coloured."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fabula.core.card import Direction
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.meta.resampling import Estimates, Sample, estimate_means
from fabula.reports.numbers import decimals_for, number_text
from fabula.reports.run_data import (
    Array,
    ReportColumn,
    ReportData,
    ScoreColumns,
    StoryLabels,
    places_by_system,
)
from fabula.scoring.lazy_run import MOST_STORIES, LazyRun


def find_best(
    low: Sequence[float], high: Sequence[float], direction: Direction = "higher"
) -> int | None:
    """Give the place whose interval is better than every other: the one meaning of best.

    Nothing is best without a direction, on its own, or beside one that has no interval.
    """
    if direction == "descriptive" or len(low) < 2:
        return None
    # Turned so that more is better, each is at worst here and at best there.
    lower = direction == "lower"
    worst_case, best_case = (
        ([-end for end in high], [-end for end in low]) if lower else (low, high)
    )
    if not all(map(math.isfinite, (*low, *high))):
        return None
    first = max(range(len(low)), key=lambda place: worst_case[place])
    others = (end for place, end in enumerate(best_case) if place != first)
    return first if worst_case[first] > max(others) else None


@dataclass(frozen=True)
class Standings:
    """Means with intervals, systems × columns, and how many stories lack a value."""

    systems: list[str]
    columns: list[ReportColumn]
    estimates: Estimates
    left_out: Array
    by_item: bool

    @cached_property
    def best(self) -> list[int | None]:
        """Of each column the system whose interval is better than that of every other one."""
        return [self._best(number) for number in range(len(self.columns))]

    def _best(self, number: int) -> int | None:
        there = np.flatnonzero(np.isfinite(self.estimates.value[:, number]))
        low, high = (ends[there, number] for ends in (self.estimates.low, self.estimates.high))
        place = find_best(low.tolist(), high.tolist(), self.columns[number].direction)
        return None if place is None else int(there[place])

    @cached_property
    def best_cells(self) -> set[tuple[str, str, str]]:
        """Scorer, aspect and system of every cell that is best."""
        return {
            (column.scorer, column.aspect, self.systems[place])
            for column, place in zip(self.columns, self.best, strict=True)
            if place is not None
        }

    @cached_property
    def strengths(self) -> list[list[float | None]]:
        """Of each column how good the systems are: 0 is the worst here, None is unknown.

        The best is at 1, or below where differences are smaller than the usual interval, so
        that noise stays pale.
        """
        return [self._strengths(number) for number in range(len(self.columns))]

    def _strengths(self, number: int) -> list[float | None]:
        direction = self.columns[number].direction
        means = self.estimates.value[:, number] * (-1 if direction == "lower" else 1)
        there = np.isfinite(means)
        if direction == "descriptive" or there.sum() < 2:
            return [None] * len(means)
        worst = means[there].min()
        widths = (self.estimates.high - self.estimates.low)[:, number]
        usual = float(np.median(widths[np.isfinite(widths)])) if np.isfinite(widths).any() else 0.0
        span = max(float(means[there].max() - worst), usual) or math.inf
        return [float((mean - worst) / span) if np.isfinite(mean) else None for mean in means]

    def decimals(self, number: int) -> int:
        """As many decimals as the column's means deserve."""
        return decimals_for(map(float, self.estimates.value[:, number]))

    def number(self, value: float, column: int) -> str:
        """Write a value of a column; a dash where there is none."""
        return number_text(value, self.decimals(column))


def compute_standings(data: ReportData, *, seed: int) -> Standings:
    """Estimate the means of all systems of a run."""
    if data.whole:
        return _estimate_large(data.whole, data.columns, seed=seed)
    return _estimate(data.stories, data.columns, (data.values, data.statuses), seed=seed)


def _estimate_large(run: LazyRun, columns: list[ReportColumn], *, seed: int) -> Standings:
    """Estimate the means of a large run, a column after the other."""
    places = run.places()
    units = {system: run.units[own].tolist() for system, own in places.items()}
    rows, left_out = [], []
    for column in columns:
        number = run.keys.index((column.scorer, column.aspect))
        values, statuses = run.values(number), run.statuses(number)
        samples = [Sample(units[system], values[own][:, None]) for system, own in places.items()]
        estimates = estimate_means(samples, seed=seed)  # one of each system, for one column
        rows.append(estimates)
        asked = np.array([(statuses[own] > 0).sum() for own in places.values()])
        left_out.append(asked - np.array([int(estimate.n[0]) for estimate in estimates]))

    def stack(name: str) -> Array:
        return np.array([[getattr(one, name)[0] for one in row] for row in rows]).T

    estimates_of_all = Estimates(*map(stack, ("value", "low", "high", "n", "undefined")))
    return Standings(list(places), columns, estimates_of_all, np.array(left_out).T, run.by_item)


def _estimate(
    stories: Sequence[Story | StoryLabels],
    columns: list[ReportColumn],
    scores: tuple[Array, Array],
    *,
    seed: int,
) -> Standings:
    values, statuses = scores
    systems = places_by_system(stories)
    samples = [
        Sample(_units([stories[place] for place in places]), values[places])
        for places in systems.values()
    ]
    rows = estimate_means(samples, seed=seed)
    shape = (len(systems), len(columns))

    def stack(name: str) -> Array:
        return np.array([getattr(row, name) for row in rows]).reshape(shape)

    estimates = Estimates(*map(stack, ("value", "low", "high", "n", "undefined")))
    asked = [(statuses[places] > 0).sum(axis=0) for places in systems.values()]
    return Standings(
        list(systems),
        columns,
        estimates,
        left_out=np.array(asked).reshape(shape) - estimates.n,
        by_item=bool(stories) and all(story.item for story in stories),
    )


def _units(stories: Sequence[Story | StoryLabels]) -> list[str]:
    """What is drawn of a system: its items, or its stories where some have no item."""
    items = [story.item for story in stories if story.item]
    return items if len(items) == len(stories) else [story.id for story in stories]


class StreamedScores:
    """Scores held as a run gives them, story by story, until there are too many to be held."""

    def __init__(self, most: int = MOST_STORIES) -> None:
        self._most = most
        self._stories: list[StoryLabels] = []
        self._columns = ScoreColumns()
        self._latest: Story | None = None
        self.complete = True

    def add(self, story: Story, score: Score) -> None:
        """Take a score in; beyond the most stories, let all go."""
        if not self.complete:
            return
        if story is not self._latest:
            self._latest = story
            self._stories.append(StoryLabels(story.id, story.system, story.item))
            if len(self._stories) > self._most:
                self.complete, self._stories, self._columns = False, [], ScoreColumns()
                return
        self._columns.add(len(self._stories) - 1, score)

    def standings(self, directions: Mapping[str, Direction], *, seed: int = 0) -> Standings:
        """Estimate the means of all systems, as a report of the same run does."""
        keys = self._columns.keys
        columns = [ReportColumn(scorer, aspect, directions[scorer]) for scorer, aspect in keys]
        matrices = self._columns.matrices(keys, len(self._stories))
        return _estimate(self._stories, columns, matrices, seed=seed)
