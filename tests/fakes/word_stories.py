"""Made-up rated tales with metrics, and views of studies of them, for tests of study reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.score import Score
from fabula.core.table import ScoreTable
from fabula.meta.study import USUAL_PARTS, Study, StudyFile
from fabula.reports.study_view import View
from fabula.scoring.evaluate import add_baselines
from fakes.grids import make_dataset

CARDS = {
    "good": ScorerCard("string", "higher", ("references",)),
    "distance": ScorerCard("embedding", "lower", ("references",)),
    "noise": ScorerCard("model", "higher", ("prompt",)),
}
# Parts that show metrics which a study ran, or whom people chose: these tales have neither.
OF_RUN_METRICS = ("columns", "published", "references", "order", "votes")
ALL_PARTS = (
    *USUAL_PARTS, "classes", "example", "strongest", "top_k", "comparison", "by_aspect", "means",
    *OF_RUN_METRICS,
)  # fmt: skip


def tales(
    shape: tuple[int, int] = (8, 5),
    *,
    aspects: tuple[str, ...] = ("plot", "style"),
    raters: int = 3,
    texts: bool = True,
    **rest: Any,
) -> Dataset:
    """Make stories of items × systems up: later systems are better, and `good` sees it."""
    rng = np.random.default_rng(0)
    true = rng.normal(size=shape) + np.arange(shape[1])
    scores = {
        "good": true + 0.2 * rng.normal(size=shape),
        "distance": 0.5 * rng.normal(size=shape) - true,
        "noise": rng.normal(size=shape),
    }
    given = {"cards": CARDS, **rest}
    dataset = make_dataset(scores, dict.fromkeys(aspects, true), **given)
    ratings = [
        Score(one.story, f"human:{rater}", one.aspect, float(np.round(one.value + rng.normal())))
        for rater in range(raters)
        for one in dataset.ratings
    ]
    told = tuple(
        replace(story, text="One more word. " * int(rng.integers(1, 30)) if texts else "")
        for story in dataset.stories
    )
    scored = ScoreTable(told, dataset.scores)
    return replace(dataset, stories=told, ratings=ScoreTable(told, ratings), scores=scored)


def view_of(
    dataset: Dataset, *, study: Study | None = None, baselines: bool = True, **file: Any
) -> View:
    """Run a study of a data set, and show it to the parts of a report."""
    declared = StudyFile(**{"title": "Tales", "dataset": dataset.name, **file})
    found = (study or Study(resamples=40)).run(add_baselines(dataset) if baselines else dataset)
    return View(declared, found)
