"""How well classifiers tell what a comment is about and how it rates: by words, by an encoder.

Comments of one story stay together, in the folds and in the draws of the intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.aspect_classifier import OutOfFold, cross_validate
from fabula.learned.training.augmentation import LabelledComment
from fabula.meta.resampling import Estimate, estimate_mean

ASPECT, RATING, POLARITY = "aspect", "rating", "polarity"
ALL = "all"
POLARITIES = ("negative", "neutral", "positive")
RESAMPLES = 1000


@dataclass(frozen=True)
class ClassifierFigure:
    """How often comments of one label, or all, are told; `prior` is the share of the commonest."""

    task: str
    label: str
    comments: int
    accuracy: Mapping[str, Estimate]  # by classifier
    prior: float


def classify_by(
    known: Sequence[LabelledComment],
    *,
    encoder: str = "",
    folds: int = 5,
    seed: int = 0,
    **how: Any,
) -> dict[str, OutOfFold]:
    """Tell the aspect and the rating of every comment by classifiers that saw none of its story.

    They go by words (tf-idf and a logistic regression), or by an encoder: an asset, a folder or a
    name of the hub. `how` is for the latter: recipe, seeds, device, out and report.
    """
    if not known:
        raise InputError("there are no comments to learn from", "give files with comments")
    if encoder:
        from fabula.learned.training.comment_reader import cross_validate_readers

        return cross_validate_readers(known, encoder=encoder, folds=folds, seed=seed, **how)
    texts, stories = ([getattr(one, name) for one in known] for name in ("text", "story"))
    labels = {
        ASPECT: [comment.aspect for comment in known],
        RATING: [f"{comment.rating:g}" for comment in known],
    }
    return {
        task: cross_validate(texts, told, stories, folds=folds, seed=seed)
        for task, told in labels.items()
    }


def polarity(rating: float) -> str:
    """Name the polarity of a rating: 1 and 2 are negative, 3 is neutral, 4 and 5 positive."""
    return "neutral" if rating == 3 else "negative" if rating < 3 else "positive"


def measure(
    known: Sequence[LabelledComment], told: Mapping[str, Mapping[str, OutOfFold]]
) -> Iterator[ClassifierFigure]:
    """Give the accuracy of every classifier, of all comments and label by label.

    `told` is what classifiers said, by their names and by task. Polarity comes of the rating.
    """
    stories = [comment.story for comment in known]
    for task in (ASPECT, RATING, POLARITY):
        gold, guesses = _read_labels(known, told, task)
        right = {
            name: np.array([one == other for one, other in zip(gold, guessed, strict=True)], float)
            for name, guessed in guesses.items()
        }
        counts = Counter(gold)
        for label in (*_order(counts, task), ALL):
            inside = np.array([label in (one, ALL) for one in gold])
            yield ClassifierFigure(
                task,
                label,
                int(inside.sum()),
                {
                    name: estimate_mean(
                        np.where(inside, values, np.nan), stories, resamples=RESAMPLES
                    )
                    for name, values in right.items()
                },
                counts.most_common(1)[0][1] / len(gold) if label == ALL else np.nan,
            )


def _read_labels(
    known: Sequence[LabelledComment], told: Mapping[str, Mapping[str, OutOfFold]], task: str
) -> tuple[list[str], dict[str, list[str]]]:
    """Give the gold labels of a task, and every classifier's guesses."""
    if task == ASPECT:
        return [one.aspect for one in known], {
            name: list(tasks[ASPECT].predicted) for name, tasks in told.items()
        }
    guesses = {name: list(tasks[RATING].predicted) for name, tasks in told.items()}
    gold = [f"{round(one.rating)}" for one in known]
    if task == RATING:
        return gold, guesses
    return [polarity(float(one)) for one in gold], {
        name: [polarity(float(one)) for one in guessed] for name, guessed in guesses.items()
    }


def _order(counts: Mapping[str, int], task: str) -> list[str]:
    order = {ASPECT: ASPECTS, POLARITY: POLARITIES}.get(task, tuple(sorted(counts)))
    return [label for label in order if label in counts]
