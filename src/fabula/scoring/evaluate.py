"""Evaluate stories with metrics: the library's front door."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

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
    stories: Iterable[Story],
    metrics: str | Metric | Iterable[str | Metric],
    *,
    jobs: int = 1,
    cache: bool | str | Path = False,
    progress: Progress | None = None,
) -> ScoreTable:
    """Score stories and give the table of scores.

    `metrics` are specs (`"rouge(n=2)"`), sets (`"strings"`) or metrics. With `cache` scores are
    kept and found again, in the user's cache or the file named; `jobs` processes share the work.
    """
    if jobs < 1:
        raise UserError(f"jobs={jobs} will not do", "give 1 or more")
    listed, chosen = list(stories), choose_metrics(metrics)
    surveyed = survey(listed, chosen)
    with open_cache(cache) as store:
        engine = Engine(chosen, surveyed, cache=store, jobs=jobs, progress=progress)
        with closing(engine.run(listed)) as scores:
            return ScoreTable(listed, [score for _, score in scores])


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
    cards = {metric.spec: ScorerCard("baseline", metric.card.direction) for metric in metrics}
    added = evaluate(readable, metrics, progress=progress)
    return replace(dataset, scores=dataset.scores + added, scorers={**dataset.scorers, **cards})
