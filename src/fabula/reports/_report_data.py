"""What a report is made of: a run's record, its stories, and their scores as columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, cast

import numpy as np

from fabula.core.card import Direction
from fabula.core.errors import InputError, SpecError
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.score import Score, Status, Summary
from fabula.core.spec import parse_spec
from fabula.core.story import Story
from fabula.core.table import read_scores, read_stories
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.scoring.folder import read_run

Array = np.ndarray[Any, np.dtype[Any]]

# A story that a scorer never saw has no status; the others are numbered after it.
STATUSES = ("not scored", *map(str, Status))
_CODES = {status: code for code, status in enumerate(STATUSES)}


@dataclass(frozen=True)
class Column:
    """One scorer and aspect. `main` is the aspect shown first, `added` what the run left out."""

    scorer: str
    aspect: str
    direction: Direction = "descriptive"
    family: str = ""
    main: bool = True
    added: bool = False

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
    """A run as arrays: `values` and `statuses` are stories × columns."""

    record: dict[str, Any]
    metrics: list[dict[str, Any]]
    stories: list[Story]
    columns: list[Column]
    values: Array
    statuses: Array
    summary: Summary

    @property
    def systems(self) -> list[str]:
        """Systems, in the order they came."""
        return list(dict.fromkeys(story.system or "" for story in self.stories))

    @property
    def items(self) -> list[str]:
        """Items, in the order they came."""
        return list(dict.fromkeys(story.item for story in self.stories if story.item))

    def places(self) -> dict[str, Array]:
        """Where the stories of each system are."""
        found: dict[str, list[int]] = {system: [] for system in self.systems}
        for place, story in enumerate(self.stories):
            found[story.system or ""].append(place)
        return {system: np.array(places) for system, places in found.items()}


def read_report_data(folder: Path, progress: Progress | None = None) -> ReportData:
    """Read a run folder; baselines that the run did not include are computed from its stories."""
    record = read_run(folder)
    stories = list(read_stories(folder))
    absent = absent_baselines(record["metrics"])
    added = evaluate(stories, absent) if absent and stories else ()
    gathered = _Gathered({story.id: place for place, story in enumerate(stories)})
    scores = _told(read_scores(folder), len(stories), progress)
    gathered.add_all(stories, chain(scores, added))
    metrics = [*record["metrics"], *(_entry(metric) for metric in absent)]
    return _ordered(record, metrics, stories, gathered)


def _told(scores: Iterable[Score], stories: int, progress: Progress | None) -> Iterator[Score]:
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
    there = {spec_name(one["spec"]) for one in metrics}
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


@dataclass
class _Gathered:
    """Columns as they fill, score by score."""

    place: dict[str, int]
    values: dict[tuple[str, str], Array] = field(default_factory=dict)
    codes: dict[tuple[str, str], Array] = field(default_factory=dict)
    summary: Summary = field(default_factory=Summary)

    def add_all(self, stories: list[Story], scores: Iterable[Score]) -> None:
        for score in scores:
            if score.story not in self.place:
                raise InputError(f"a score is about {score.story!r}, which is not a story here")
            place = self.place[score.story]
            self.summary.add(stories[place].system, score)
            key = score.scorer, score.aspect
            if key not in self.values:
                self.values[key] = np.full(len(stories), math.nan)
                self.codes[key] = np.zeros(len(stories), dtype=np.uint8)
            self.values[key][place] = score.value
            self.codes[key][place] = _CODES[score.status]


def _entry(metric: Metric) -> dict[str, Any]:
    return {
        "spec": metric.spec,
        "direction": metric.card.direction,
        "family": metric.card.family,
        "signature": metric.signature(),
        "added": True,
    }


def _ordered(
    record: dict[str, Any],
    metrics: list[dict[str, Any]],
    stories: list[Story],
    gathered: _Gathered,
) -> ReportData:
    """Put what has a better end first, then what describes, then the block of baselines."""
    facts = {one["spec"]: one for one in metrics}
    mains = dict(gathered.values.keys())  # scorer → the aspect that came last
    columns = [_column(key, facts.get(key[0], {}), mains) for key in gathered.values]
    columns.sort(key=lambda column: (column.is_baseline, column.direction == "descriptive"))
    keys = [(column.scorer, column.aspect) for column in columns]
    shape = (len(stories), len(keys))
    return ReportData(
        record,
        metrics,
        stories,
        columns,
        np.array([gathered.values[key] for key in keys]).T.reshape(shape),
        np.array([gathered.codes[key] for key in keys]).T.reshape(shape),
        gathered.summary,
    )


def _column(key: tuple[str, str], facts: dict[str, Any], mains: dict[str, str]) -> Column:
    scorer, aspect = key
    main = is_person(scorer) or mains[scorer] == aspect
    column = Column(scorer, aspect, main=main, added=bool(facts.get("added")))
    if not facts:
        return column
    direction = cast(Direction, facts["direction"])
    return replace(column, direction=direction, family=facts["family"])
