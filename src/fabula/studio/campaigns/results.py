"""What a campaign has found so far: how long it takes, which systems differ, where a machine parts
from people, and what raters wrote."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations
from statistics import median
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.table import ScoreTable
from fabula.meta.arrays import average_ranks
from fabula.meta.coefficients import correlate
from fabula.meta.distributions import t_reach
from fabula.meta.plans.difference import items_for_power
from fabula.meta.resampling import Estimate
from fabula.studio.campaigns.definition import Question
from fabula.studio.campaigns.stopping import average_by_key, list_differences
from fabula.studio.campaigns.work import Work, WorkAssignment

POWER = 0.8
ALPHA = 0.05
# With fewer stories nothing is said of how a scorer and people go together.
_FEWEST = 3
# Stories on which a scorer and people are furthest apart that are shown.
_MOST_APART = 5


@dataclass(frozen=True)
class Pace:
    """Seconds that tasks took at most, by the gaps between submits, and the hourly rate of pay.

    `slow_s` is the time that nine of ten tasks stay below.
    """

    tasks: int
    median_s: float = math.nan
    slow_s: float = math.nan
    hourly: float = math.nan
    currency: str = ""


def measure_pace(work: Work, rater: str | None = None) -> Pace:
    """Measure how long raters, or one, take over a task; who left and came back is not counted.

    A gap longer than the lease is no time at work.
    """
    longest = 60 * work.definition.lease_minutes
    done = work.submitted if rater is None else work.by_rater[rater]
    gaps = [gap for one in done if 0 < (gap := work.gaps_s[one.id]) <= longest]
    if not gaps:
        return Pace(0)
    middle, pay = median(gaps), work.definition.pay
    hourly = pay.amount * 3600 / middle if pay.amount else math.nan
    return Pace(len(gaps), middle, float(np.quantile(gaps, 0.9)), hourly, pay.currency)


@dataclass(frozen=True)
class SystemGap:
    """How far two systems are apart on an aspect, over the items that both have.

    The interval allows for all pairs that are looked at (Bonferroni). `needed` is how many items
    would show a difference of this size 8 times in 10; None where there is none to show.
    """

    aspect: str
    better: str
    worse: str
    difference: Estimate
    needed: int | None

    @property
    def is_settled(self) -> bool:
        """Whether the interval leaves no doubt which is better."""
        return self.difference.low > 0


def compare_systems(dataset: Dataset, aspect: str) -> list[SystemGap]:
    """Compare every two systems on an aspect, the surest difference first."""
    by_system = _average_items(dataset, aspect)
    pairs = list(combinations(sorted(by_system), 2))
    gaps = [
        _measure_gap(aspect, pair, by_system, ALPHA / len(pairs))
        for pair in pairs
        if len(by_system[pair[0]].keys() & by_system[pair[1]].keys()) > 1
    ]
    return sorted(gaps, key=lambda gap: -gap.difference.low)


def _average_items(dataset: Dataset, aspect: str) -> Mapping[str, Mapping[str, float]]:
    """Mean rating by system and item; a story without an item is one of its own."""
    stories = {story.id: story for story in dataset.stories}
    rated = [(stories[name], value) for name, value in _list_values(dataset.ratings, aspect)]
    by_place = average_by_key(
        ((story.system or "", story.item or story.id), value) for story, value in rated
    )
    means: dict[str, dict[str, float]] = {}
    for (system, item), mean in by_place.items():
        means.setdefault(system, {})[item] = mean
    return means


def _list_values(ratings: ScoreTable, aspect: str) -> list[tuple[str, float]]:
    """What people said on an aspect, each with the id of its story."""
    return [(one.story, one.value) for one in ratings if one.aspect == aspect and one.ok]


def _measure_gap(
    aspect: str, pair: tuple[str, str], means: Mapping[str, Mapping[str, float]], alpha: float
) -> SystemGap:
    first, second = (means[system] for system in pair)
    values = np.array(list_differences(first, second))
    better, worse = pair if values.mean() >= 0 else pair[::-1]
    values = values if values.mean() >= 0 else -values
    mean, reach = float(values.mean()), t_reach(values, alpha)
    spread = float(values.std(ddof=1))
    needed = items_for_power(mean, spread, power=POWER, alpha=alpha) if mean > 0 else None
    estimate = Estimate(mean, mean - reach, mean + reach, len(values))
    return SystemGap(aspect, better, worse, estimate, needed)


@dataclass(frozen=True)
class Parting:
    """A scorer beside people on one of their aspects: Spearman's ρ over `n` stories, and the
    stories on which they are furthest apart: (story, rank by people, rank by the scorer) of 0–1.
    """

    scorer: str
    scorer_aspect: str
    aspect: str
    rho: float
    n: int
    furthest: tuple[tuple[str, float, float], ...] = ()


def compare_scorers(dataset: Dataset, aspect: str) -> list[Parting]:
    """Hold the scorers that stand in a campaign against people's mean rating on an aspect."""
    people = average_by_key(_list_values(dataset.ratings, aspect))
    columns: dict[tuple[str, str], dict[str, float]] = {}
    for score in dataset.scores:
        if score.ok and score.story in people:
            columns.setdefault((score.scorer, score.aspect), {})[score.story] = score.value
    return [_part(key, values, people, aspect) for key, values in columns.items()]


def _part(
    key: tuple[str, str], values: Mapping[str, float], people: Mapping[str, float], aspect: str
) -> Parting:
    names = sorted(values)
    if len(names) < _FEWEST:
        return Parting(*key, aspect, math.nan, len(names))
    machine, human = (np.array([side[name] for name in names]) for side in (values, people))
    rho = float(correlate(machine, human, "spearman"))
    # From 0, the lowest, to 1; ties share their places.
    ranks = [(average_ranks(side) - 1) / (len(names) - 1) for side in (human, machine)]
    order = np.argsort(-abs(ranks[0] - ranks[1]), kind="stable")[:_MOST_APART]
    furthest = tuple((names[at], float(ranks[0][at]), float(ranks[1][at])) for at in order)
    return Parting(*key, aspect, rho, len(names), furthest)


@dataclass(frozen=True)
class Remark:
    """Words of a rater: about which story, in answer to what; `quote` is the passage meant."""

    rater: str
    story: str
    system: str
    question: str
    text: str
    assignment: str
    at: datetime
    quote: str = ""
    is_rejected: bool = False


def list_remarks(work: Work) -> list[Remark]:
    """List what raters wrote, the newest first."""
    remarks = [remark for one in work.submitted for remark in _read_remarks(work, one)]
    return remarks[::-1]


def _read_remarks(work: Work, one: WorkAssignment) -> Iterator[Remark]:
    assert one.submitted_at is not None
    rater = work.raters[one.rater].name
    for question in work.definition.questions:
        if question.compares:
            continue
        for place in one.shown:
            story = work.stories[place].story
            for title, text, quote in _find_words(question, one.answer(question, place)):
                if text.strip():
                    yield Remark(
                        rater, story.id, story.system or "", title, text, one.id,
                        one.submitted_at, _cut(story.text, quote), one.is_rejected,
                    )  # fmt: skip


def _find_words(question: Question, answer: Any) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Give title, words and passage of whatever a rater wrote in an answer."""
    title = question.title or question.name
    if question.kind == "text" and isinstance(answer, str):
        yield title, answer, (0, 0)
    elif question.kind == "spans" and isinstance(answer, list):
        for span in answer:
            label = f"{title}: {span['label']}" if span.get("label") else title
            yield label, span.get("reason", ""), (span["start"], span["stop"])
    elif question.kind == "aspects" and isinstance(answer, Mapping):
        for aspect, given in answer.items():
            yield f"{aspect} ({given['rating']})", given.get("reason", ""), (0, 0)


def _cut(text: str, span: tuple[int, int]) -> str:
    return text[span[0] : span[1]]
