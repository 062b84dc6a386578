"""Columns of a release made again, beside the published ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.scoring.cache import ScoreCache
from fabula.scoring.catalogue import METRICS, columns_of_release
from fabula.scoring.engine import Engine
from fabula.scoring.s3_training import Agreement, agreement
from fabula.scoring.survey import survey

# Stories that slow metrics take.
SAMPLE = 96


# Scores by scorer and aspect, then by story.
_Found = dict[tuple[str, str], dict[str, Score]]


@dataclass(frozen=True)
class Column:
    """A published column and what became of it here.

    `values` are ours by story. Agreement is over the stories of machines: on all items, and on
    the later half of them, on which nothing was chosen.
    """

    name: str
    spec: str
    aspect: str
    model: str
    seconds: float
    values: dict[str, float]
    overall: Agreement | None
    later: Agreement | None
    note: str


def make_columns(
    release: Dataset,
    name: str,
    *,
    sample: int = SAMPLE,
    cache: ScoreCache | None = None,
    spent: dict[str, float] | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Column]:
    """Score all stories of a release with the metrics of its columns; the slow take a sample.

    What was scored before and is in the cache is not scored again. `spent` are the seconds that
    each metric took before; this run's are added, also where it is stopped.
    """
    wanted = columns_of_release(name)
    stories, machines = checked_stories(release), by_machines(release)
    metrics = {spec: METRICS.build(spec) for spec, _ in wanted.values()}
    few = sampled(machines, sample) if sample else stories
    found: _Found = {}
    seconds = {} if spent is None else spent
    for some, are_slow in ((stories, False), (few, True)):
        group = [one for one in metrics.values() if one.slow == are_slow]
        if group:
            engine = Engine(group, survey(some, group), cache=cache, jobs=jobs, progress=progress)
            _run(engine, some, found, seconds)
    theirs = _published(release)
    return [
        _column(
            column, metrics[spec], aspect, machines=machines, seconds=seconds[spec],
            ours=found[spec, aspect], theirs=theirs[column],
        )
        for column, (spec, aspect) in wanted.items()
    ]  # fmt: skip


def _run(engine: Engine, stories: list[Story], found: _Found, seconds: dict[str, float]) -> None:
    """Take in all scores, and the seconds even where it is stopped."""
    try:
        with closing(engine.run(stories)) as scores:
            for story, score in scores:
                found.setdefault((score.scorer, score.aspect), {})[story.id] = score
    finally:
        for spec, taken in engine.seconds.items():
            seconds[spec] = seconds.get(spec, 0.0) + taken


def checked_stories(release: Dataset) -> list[Story]:
    """Give the stories of a release that holds texts and published scores."""
    if not len(release.scores) or not any(story.text for story in release.stories):
        remedy = "see: fabula data show, for the files it needs"
        raise InputError("the release lacks its texts or its published scores", remedy)
    return list(release.stories)


def by_machines(release: Dataset) -> list[Story]:
    """Stories but those that are the references of the others, which metrics find equal."""
    return [one for one in release.stories if one.system not in release.card.reference_systems]


def sampled(stories: Sequence[Story], count: int) -> list[Story]:
    """One story of every item, the systems taking turns, until there are enough; 0 takes all."""
    systems = list(dict.fromkeys(story.system for story in stories))
    items = list(dict.fromkeys(story.item for story in stories))
    by_place = {(story.item, story.system): story for story in stories}
    turns = (
        by_place.get((item, systems[(place + turn) % len(systems)]))
        for turn in range(len(systems))
        for place, item in enumerate(items)
    )
    taken = [story for story in turns if story is not None]
    return taken[:count] if count else list(stories)


def later_half(stories: Sequence[Story]) -> list[Story]:
    """Stories of the later half of the items."""
    items = list(dict.fromkeys(story.item for story in stories))
    later = set(items[len(items) // 2 :])
    return [story for story in stories if story.item in later]


def _published(release: Dataset) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for score in release.scores:
        found.setdefault(score.scorer, {})[score.story] = score.value
    return found


def _column(
    name: str,
    metric: Metric,
    aspect: str,
    *,
    machines: Sequence[Story],
    seconds: float,
    ours: Mapping[str, Score],
    theirs: Mapping[str, float],
) -> Column:
    values = {story: score.value for story, score in ours.items() if not math.isnan(score.value)}
    return Column(
        name,
        metric.spec,
        aspect,
        getattr(metric, "model", ""),
        seconds,
        values,
        agreement(machines, values, theirs),
        agreement(later_half(machines), values, theirs),
        _note(list(ours.values()), len(machines)),
    )


def _note(scores: Sequence[Score], machines: int) -> str:
    """What a reader of the column has to know: why it is missing, or how much of it is."""
    absent = [score for score in scores if score.status is Status.MISSING_MODEL]
    if absent:
        return f"missing_model: {absent[0].note}"
    undefined = sum(math.isnan(score.value) for score in scores)
    parts = [f"a sample of {len(scores)}"] if len(scores) < machines else []
    return ", ".join(parts + ([f"{undefined} without a value"] if undefined else []))
