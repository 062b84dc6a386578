"""What a report is made of: a run's record, its stories, and their scores as columns."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np

from fabula.core.card import Direction
from fabula.core.errors import InputError, SpecError
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.score import STATUSES, Score, Summary
from fabula.core.settings import parse_spec
from fabula.core.story import Story
from fabula.core.table import read_scores, read_stories
from fabula.scoring.catalogue import choose_metrics, label_scorers
from fabula.scoring.evaluate import evaluate
from fabula.scoring.folder import read_run
from fabula.scoring.lazy_run import LazyRun

Array = np.ndarray[Any, np.dtype[Any]]

_CODES = {status: code for code, status in enumerate(STATUSES)}


@dataclass(frozen=True)
class ReportColumn:
    """One scorer and aspect. `main` is the aspect shown first, `added` what the run left out.

    `called` is what people call it, where that is known.
    """

    scorer: str
    aspect: str
    direction: Direction = "descriptive"
    family: str = ""
    main: bool = True
    added: bool = False
    called: str = ""

    @property
    def title(self) -> str:
        """What tables call it: as people do, or else scorer and aspect."""
        return self.called or self.label

    @property
    def label(self) -> str:
        """Scorer and aspect."""
        return f"{self.scorer} {self.aspect}".strip()

    @property
    def is_baseline(self) -> bool:
        """Whether it stands among the trivial baselines."""
        return self.family == "baseline"


@dataclass(frozen=True)
class ReportData:
    """A run as arrays: `values` and `statuses` are stories × columns.

    Of a large run the stories are those that a page shows.
    """

    record: dict[str, Any]
    metrics: list[dict[str, Any]]
    stories: list[Story]
    columns: list[ReportColumn]
    values: Array
    statuses: Array
    summary: Summary
    whole: LazyRun | None = None
    """The run, where it is too large to be held and the stories here are some of it."""

    @property
    def count(self) -> int:
        """How many stories the run has."""
        return self.whole.count if self.whole else len(self.stories)

    @property
    def systems(self) -> list[str]:
        """Systems, in the order they came."""
        if self.whole:
            return self.whole.systems
        return list(dict.fromkeys(story.system or "" for story in self.stories))

    @property
    def items(self) -> int:
        """How many items there are."""
        if self.whole:
            return self.whole.items
        return len({story.item for story in self.stories if story.item})

    def values_by_system(self, number: int) -> list[Array]:
        """Give the values of a column that are there, of all stories, system by system."""
        column = self.columns[number]
        values, places = self.values[:, number], self.places()
        if self.whole:
            values = self.whole.values(self.whole.keys.index((column.scorer, column.aspect)))
            places = self.whole.places()
        rows = [values[own] for own in places.values()]
        return [row[np.isfinite(row)] for row in rows]

    def places(self) -> dict[str, Array]:
        """Where the stories of each system are."""
        return places_by_system(self.stories)


class StoryLabels(NamedTuple):
    """What standings need of a story; its text may be long."""

    id: str
    system: str | None
    item: str | None


def places_by_system(stories: Sequence[Story | StoryLabels]) -> dict[str, Array]:
    """Where the stories of each system are, the systems in the order they came."""
    places: dict[str, list[int]] = {}
    for place, story in enumerate(stories):
        places.setdefault(story.system or "", []).append(place)
    return {system: np.array(numbers) for system, numbers in places.items()}


def read_report_data(folder: Path, progress: Progress | None = None) -> ReportData:
    """Read a run folder; baselines that the run did not include are computed from its stories."""
    record = read_run(folder)
    stories = list(read_stories(folder))
    absent = absent_baselines(record["metrics"])
    added = evaluate(stories, absent) if absent and stories else ()
    scores = _count_stories(read_scores(folder), len(stories), progress)
    summary, score_columns = _gather(stories, chain(scores, added))
    metrics = [*record["metrics"], *(_entry(metric) for metric in absent)]
    columns = make_columns(score_columns.keys, {metric["spec"]: metric for metric in metrics})
    keys = [(column.scorer, column.aspect) for column in columns]
    values, statuses = score_columns.matrices(keys, len(stories))
    return ReportData(record, metrics, stories, columns, values, statuses, summary)


def _gather(stories: Sequence[Story], scores: Iterable[Score]) -> tuple[Summary, ScoreColumns]:
    """Take all scores in, each beside its story."""
    summary, score_columns = Summary(), ScoreColumns()
    places = {story.id: place for place, story in enumerate(stories)}
    for score in scores:
        if score.story not in places:
            raise InputError(f"a score is about {score.story!r}, which is not a story here")
        place = places[score.story]
        summary.add(stories[place].system, score)
        score_columns.add(place, score)
    return summary, score_columns


def _count_stories(
    scores: Iterable[Score], stories: int, progress: Progress | None
) -> Iterator[Score]:
    """Pass scores on, telling how many stories they have come to."""
    if progress is None:
        yield from scores
        return
    progress.start(stories)
    seen: set[str] = set()
    for score in scores:
        if score.story not in seen:
            seen.add(score.story)
            progress.advance(1)
        yield score
    progress.finish()


def absent_baselines(metrics: Iterable[dict[str, Any]]) -> list[Metric]:
    """Baselines of which a run has no variant."""
    there = {spec_name(metric["spec"]) for metric in metrics}
    return [metric for metric in choose_metrics("baselines") if metric.name not in there]


def spec_name(scorer: str) -> str:
    """Name of the metric that a scorer spells; a person has none."""
    try:
        return parse_spec(scorer)[0]
    except SpecError:
        return ""


def is_person(scorer: str) -> bool:
    """Whether a scorer is a rater."""
    return scorer.startswith("human:")


class ScoreColumns:
    """Values and statuses by scorer and aspect as scores come, each at its story's place."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], array[float]] = {}
        self._statuses: dict[tuple[str, str], array[int]] = {}

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Scorers and aspects, in the order they came."""
        return list(self._values)

    def add(self, place: int, score: Score) -> None:
        """Take in the score of the story at a place."""
        key = score.scorer, score.aspect
        if key not in self._values:
            self._values[key], self._statuses[key] = array("d"), array("B")
        values, statuses = self._values[key], self._statuses[key]
        if place >= len(values):
            skipped = place + 1 - len(values)
            values.extend([math.nan] * skipped)
            statuses.extend([0] * skipped)
        values[place], statuses[place] = score.value, _CODES[score.status]

    def matrices(self, keys: Sequence[tuple[str, str]], stories: int) -> tuple[Array, Array]:
        """Give the values and the statuses of columns, stories × columns."""
        values = np.full((stories, len(keys)), math.nan)
        statuses = np.zeros((stories, len(keys)), dtype=np.uint8)
        for number, key in enumerate(keys):
            there = len(self._values[key])
            values[:there, number] = self._values[key]
            statuses[:there, number] = self._statuses[key]
        return values, statuses


def _entry(metric: Metric) -> dict[str, Any]:
    return {
        "spec": metric.spec,
        "direction": metric.direction,
        "family": metric.card.family,
        "signature": metric.signature(),
        "added": True,
    }


def make_columns(
    keys: Sequence[tuple[str, str]], facts: Mapping[str, dict[str, Any]]
) -> list[ReportColumn]:
    """Put what has a better end first, then what describes, then the block of baselines."""
    mains, labels = dict(keys), label_scorers(keys)  # scorer → the aspect that came last
    columns = [
        replace(_column(key, facts.get(key[0], {}), mains), called=labels[key]) for key in keys
    ]
    return sorted(
        columns, key=lambda column: (column.is_baseline, column.direction == "descriptive")
    )


def _column(key: tuple[str, str], facts: dict[str, Any], mains: dict[str, str]) -> ReportColumn:
    scorer, aspect = key
    main = is_person(scorer) or mains[scorer] == aspect
    column = ReportColumn(scorer, aspect, main=main, added=bool(facts.get("added")))
    if not facts:
        return column
    direction = cast(Direction, facts["direction"])
    return replace(column, direction=direction, family=facts["family"])
