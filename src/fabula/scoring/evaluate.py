"""Evaluate stories with metrics: the library's front door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import UserError
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.scoring.cache import ScoreCache, open_cache
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.engine import Engine
from fabula.scoring.survey import survey

BASELINES = ("words", "unique_words", "word_length", "mattr")


def evaluate(
    stories: str | Path | Story | Dataset | ScoreTable | Iterable[Any],
    metrics: str | Metric | Iterable[str | Metric] = "strings",
    *,
    prompts: str | Iterable[str | None] | None = None,
    references: str | Iterable[str | Iterable[str] | None] | None = None,
    ids: Iterable[str | int] | None = None,
    systems: Iterable[str | None] | None = None,
    items: Iterable[str | int | None] | None = None,
    columns: Mapping[str, str] | None = None,
    jobs: int = 1,
    cache: bool | str | Path = False,
    progress: Progress | None = None,
    strict: bool = False,
) -> ScoreTable:
    """Score stories and give the table of scores.

    `stories` are texts, stories, rows (a data frame, dicts, a `datasets.Dataset`) or the path of a
    file; `columns` names the column of each part (`{"text": "tale"}`) where it has no usual name.
    `prompts`, `references` … give that part of every story, in order. `metrics` are specs
    (`"rouge(n=2)"`), sets (`"strings"`) or metrics. With `cache` scores are kept and found again,
    in the user's cache or the file named; `jobs` processes share the work. A metric that raises on
    a story gives it the status `failed`; with `strict` it ends the run.
    """
    if not isinstance(jobs, int) or jobs < 1:
        raise UserError(f"jobs={jobs!r} will not do", "give 1 or more")
    parts: dict[str, Any] = {"prompts": prompts, "references": references, "ids": ids}
    parts |= {"systems": systems, "items": items}
    listed, chosen = _list_stories(stories, parts, columns), choose_metrics(metrics)
    surveyed = survey(listed, chosen)
    with open_cache(cache) as store:
        engine = Engine(chosen, surveyed, cache=store, jobs=jobs, progress=progress, strict=strict)
        with closing(engine.run(listed)) as scores:
            return ScoreTable(listed, [score for _, score in scores])


def _list_stories(
    given: Any, parts: Mapping[str, Any], columns: Mapping[str, str] | None
) -> list[Story]:
    is_plain = columns is None and all(part is None for part in parts.values())
    if is_plain and isinstance(given, list | tuple):
        stories = [story for story in given if isinstance(story, Story)]
        if len(stories) == len(given):
            return stories
    from fabula.scoring.inputs import make_stories

    return make_stories(given, parts, columns)


def cached_scores(stories: Iterable[Story], metrics: Iterable[Metric]) -> ScoreTable:
    """Scores that the user's cache holds, of the metrics for which it holds those of all stories.

    Nothing is scored.
    """
    listed = list(stories)
    scores: list[Score] = []
    with ScoreCache() as cache:
        for metric in metrics:
            engine = Engine([metric], survey(listed, [metric]), cache=cache)
            scores += engine.cached_scores(listed)
    return ScoreTable(listed, scores)


def add_baselines(dataset: Dataset, progress: Progress | None = None) -> Dataset:
    """Add the scores of the trivial baselines, unless they are there or no story has a text."""
    wanted = [name for name in BASELINES if name not in dataset.scores.scorers]
    readable = [story for story in dataset.stories if story.text]
    if not wanted or not readable:
        return dataset
    metrics = choose_metrics(wanted)
    cards = {metric.spec: ScorerCard("baseline", metric.direction) for metric in metrics}
    added = evaluate(readable, metrics, progress=progress)
    return replace(dataset, scores=dataset.scores + added, scorers={**dataset.scorers, **cards})
