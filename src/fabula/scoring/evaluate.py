"""Evaluate stories with metrics: the library's front door."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from fabula.core.errors import UserError
from fabula.core.metric import Metric
from fabula.core.protocols import Progress
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.scoring.cache import ScoreCache
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.engine import Engine, opened
from fabula.scoring.survey import survey


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
    listed = list(stories)
    chosen = choose_metrics(metrics)
    found = survey(listed, chosen)
    kept = ScoreCache(Path(cache)) if isinstance(cache, str | Path) else cache
    with opened(kept) as store:
        engine = Engine(chosen, found, cache=store, jobs=jobs, progress=progress)
        with closing(engine.run(listed)) as scores:
            return ScoreTable(listed, [score for _, score in scores])


def remembered(stories: Iterable[Story], metrics: Iterable[Metric]) -> ScoreTable:
    """Scores that the user's cache holds, of the metrics for which it holds those of all stories.

    Nothing is scored.
    """
    listed, found = list(stories), []
    with ScoreCache() as cache:
        for metric in metrics:
            engine = Engine([metric], survey(listed, [metric]), cache=cache)
            found += engine.remembered(listed)
    return ScoreTable(listed, found)
