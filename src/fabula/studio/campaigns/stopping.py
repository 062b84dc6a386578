"""Enough is enough: whether what is asked is known as exactly as a campaign wants it.

The arithmetic is that of `fabula plan`: a system's stories are its sample, the mean of a story's
accepted ratings is one value of it, and the interval of the system's mean (or of the mean of the
differences of two systems, item by item) is Student's. As long as one interval is wider than
`half_width`, or has too few stories to have one, tasks are given out up to `raters`; once all are
narrow enough no task is given to more than `least_raters`. That is looked at again as ratings come
in or are rejected, so a campaign that was settled goes on if it no longer is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean
from typing import Any, TypeVar

import numpy as np
from sqlalchemy import Connection, func, select

from fabula.meta.distributions import t_reach
from fabula.models.reading.state_cache import LruCache
from fabula.studio.campaigns.definition import Stop
from fabula.studio.campaigns.opening import Campaign
from fabula.studio.tables import campaign_assignments, campaign_stories, campaign_tasks

# Work that comes in between two looks, as a share of what is there: each look reads it all.
_LOOK_EVERY = 0.02
_looks: LruCache[tuple[int, bool]] = LruCache(64)
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class Interval:
    """How exactly a mean is known, or a difference of two: ± `half_width`, NaN where stories are
    too few to say."""

    systems: tuple[str, ...]
    mean: float
    half_width: float
    stories: int


@dataclass(frozen=True)
class RatedStory:
    """What a story got: the mean of its accepted ratings."""

    system: str
    item: str
    mean: float


def find_cap(db: Connection, campaign: Campaign) -> int | None:
    """Say how many raters a task is given to at most because enough is known; None: not yet."""
    stop = campaign.definition.stop
    if stop is None:
        return None
    work = campaign_assignments
    is_accepted = (work.c.state == "submitted") & work.c.rejected_at.is_(None)
    counted = select(func.count()).where(work.c.campaign_id == campaign.id, is_accepted)
    count = db.scalar(counted) or 0
    known = _looks.find([campaign.id]).get(campaign.id)
    if known is None or abs(count - known[0]) > known[0] * _LOOK_EVERY:
        intervals = measure_intervals(read_rated(db, campaign, stop), stop)
        known = (count, is_settled(intervals, stop))
        _looks.put({campaign.id: known})
    return stop.least_raters if known[1] else None


def is_settled(intervals: Iterable[Interval], stop: Stop) -> bool:
    """Whether there are intervals, and all are narrow enough."""
    widths = [interval.half_width for interval in intervals]
    # NaN is not narrow.
    return bool(widths) and all(width <= stop.half_width for width in widths)


def measure_intervals(rated: Iterable[RatedStory], stop: Stop) -> list[Interval]:
    """Give the interval of every system's mean, or of every difference between two systems."""
    by_system: dict[str, list[RatedStory]] = defaultdict(list)
    for story in rated:
        by_system[story.system].append(story)
    if stop.of == "mean":
        return [
            _measure((system,), [story.mean for story in by_system[system]], stop)
            for system in sorted(by_system)
        ]
    items = {
        system: average_by_key((story.item, story.mean) for story in stories)
        for system, stories in by_system.items()
    }
    return [
        _measure(pair, list_differences(items[pair[0]], items[pair[1]]), stop)
        for pair in combinations(sorted(items), 2)
    ]


def _measure(systems: tuple[str, ...], values: list[float], stop: Stop) -> Interval:
    reach = t_reach(np.array(values, dtype=np.float64), 1 - stop.confidence)
    return Interval(systems, fmean(values) if values else math.nan, reach, len(values))


def list_differences(first: Mapping[str, float], second: Mapping[str, float]) -> list[float]:
    """Give how much more the one has than the other, item by item where both have it."""
    return [first[item] - second[item] for item in first if item in second]


def average_by_key(pairs: Iterable[tuple[T, float]]) -> dict[T, float]:
    """Give the mean of the values of every key, in the order of their first."""
    values: dict[T, list[float]] = defaultdict(list)
    for key, value in pairs:
        values[key].append(value)
    return {key: fmean(several) for key, several in values.items()}


def read_rated(db: Connection, campaign: Campaign, stop: Stop) -> list[RatedStory]:
    """Read the mean of the accepted ratings of every story that has any, by one question."""
    work, tasks, stories = campaign_assignments, campaign_tasks, campaign_stories
    named = {
        row.id: row
        for row in db.execute(
            select(stories.c.id, stories.c.name, stories.c.system, stories.c.item).where(
                stories.c.campaign_id == campaign.id, stories.c.is_planted.is_(False)
            )
        )
    }
    accepted = (
        select(work.c.answers)
        .join(tasks, tasks.c.id == work.c.task_id)
        .where(
            work.c.campaign_id == campaign.id,
            work.c.state == "submitted",
            work.c.rejected_at.is_(None),
            tasks.c.kind == "story",
        )
    )
    given = (answers.get(stop.question) for answers in db.scalars(accepted))
    means = average_by_key(pair for answer in given for pair in _read_values(answer))
    return [
        RatedStory(named[story].system or "", named[story].item or named[story].name, mean)
        for story, mean in sorted(means.items())
        if story in named
    ]


def _read_values(answer: Any) -> Iterable[tuple[str, float]]:
    """The numbers given to stories; other kinds of answers have none."""
    if isinstance(answer, Mapping):
        for story, value in answer.items():
            if type(value) is int:
                yield story, float(value)
