"""Which aspects of comments the classifier takes for which."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from fabula.core.errors import InputError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.aspect_classifier import OutOfFold, cross_validate
from fabula.learned.training.labelled_comments import Said, comments_of
from fabula.meta.resampling import estimate_mean
from fabula.replication.storyer._findings import Cell, Finding, Table
from fabula.replication.storyer._material import Material

TITLE = "The aspect classifier of comments"
_BARS = (0.0, 0.5, 0.9)


@dataclass(frozen=True)
class Settings:
    """How comments are parted; those of one story stay together."""

    folds: int = 5


def analyse(material: Material, settings: Settings) -> Finding:
    """Classify every comment by a classifier that saw none of its story."""
    said, found = classified(material, settings.folds, by="aspect")
    names = [name for name in ASPECTS if name in {*found.gold, *found.predicted}]
    confusion = found.confusion()
    counts: list[list[Cell]] = [
        [one, *(confusion[one][other] for other in names), sum(confusion[one].values())]
        for one in names
    ]
    tables = [
        Table(
            "classifier_accuracy",
            "Comments whose aspect is told",
            ("figure", "share", "comments"),
            _accuracies(material, said, found),
            "Intervals by drawing stories anew. The prior is the most frequent aspect.",
        ),
        Table(
            "classifier_confusion",
            "Aspects (rows) and what they are taken for (columns)",
            ("aspect", *names, "comments"),
            counts,
        ),
    ]
    return Finding("aspect_classifier", TITLE, _words(said), tables)


def classified(material: Material, folds: int, *, by: str) -> tuple[list[Said], OutOfFold]:
    """Give all comments, and what is told of each: its aspect, or its rating."""
    said = comments_of(material.dataset("storyer_ratings"))
    if not said:
        raise InputError("storyer_ratings has no comments", "give the files with comments")
    labels = [one.aspect if by == "aspect" else f"{one.rating:g}" for one in said]
    texts, groups = [one.text for one in said], [one.story for one in said]
    return said, cross_validate(texts, labels, groups, folds=folds, seed=material.seed)


def _words(said: list[Said]) -> list[str]:
    stories = len({one.story for one in said})
    return [
        f"{len(said)} comments on {stories} stories; word stems by tf-idf and a logistic "
        "regression, grouped by story. The paper fine-tunes RoBERTa-large on 28,099 comments and "
        "prints no accuracy by aspect."
    ]


def _accuracies(material: Material, said: list[Said], found: OutOfFold) -> list[list[Cell]]:
    right = np.array([a == b for a, b in zip(found.gold, found.predicted, strict=True)], float)
    sure = np.array([max(one.values()) for one in found.probabilities])
    commonest, _ = Counter(found.gold).most_common(1)[0]
    usual = np.array([one == commonest for one in found.gold], float)
    rows: list[list[Cell]] = []

    def add(name: str, values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        groups = [one.story for one in said]
        estimate = estimate_mean(values, groups, resamples=material.resamples)
        rows.append([name, estimate, int((~np.isnan(values)).sum())])

    for bar in _BARS:
        name = f"right, of those at {bar:g} or more" if bar else "right"
        add(name, np.where(sure >= bar, right, np.nan))
    for bar in _BARS[1:]:
        add(f"at {bar:g} or more", (sure >= bar).astype(float))
    add(f"prior: always {commonest}", usual)
    return rows
