"""Trivial baselines beside the scorers of a data set: computed where its texts are at hand."""

from __future__ import annotations

from dataclasses import replace

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.protocols import Progress
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate

BASELINES = ("words", "unique_words", "word_length", "mattr")


def with_baselines(dataset: Dataset, progress: Progress | None = None) -> Dataset:
    """Add the scores of the trivial baselines, unless they are there or no story has a text."""
    wanted = [name for name in BASELINES if name not in dataset.scores.scorers]
    told = [story for story in dataset.stories if story.text]
    if not wanted or not told:
        return dataset
    metrics = choose_metrics(wanted)
    cards = {one.spec: ScorerCard("baseline", one.card.direction) for one in metrics}
    added = evaluate(told, metrics, progress=progress)
    return replace(dataset, scores=dataset.scores + added, scorers={**dataset.scorers, **cards})
