"""Classifiers of comments: which aspect is spoken of, and how it is rated."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.aspect_classifier import OutOfFold
from fabula.learned.training.augmentation import LabelledComment, comments_of
from fabula.learned.training.comment_figures import classify_by, polarity
from fabula.meta.arrays import Values
from fabula.replication.findings import Findings, StudyRow, StudyTable
from fabula.replication.storyer.material import Material

# Probabilities at which the aspect classifier is looked at.
_BARS = (0.0, 0.5, 0.9)
# The paper's Figure 6 has about 80 % for every aspect but these.
_UNLIKE = ("ending", "heartwarming")
# StoryER's sentiment model (RoBERTa-large), in per cent.
PUBLISHED = {"negative": 85.2, "neutral": 50.9, "positive": 89.7, "all": 83.0}


@dataclass(frozen=True)
class ClassifierSettings:
    """Into how many folds comments are split; those of one story stay together.

    They go by words, or by an `encoder`: an asset, a folder or a name of the hub, trained by
    recipes/comments.toml or by a `recipe` of one's own.
    """

    folds: int = 5
    encoder: str = ""
    recipe: str = ""
    seeds: int = 1
    device: str = ""

    @property
    def words(self) -> str:
        """Say how comments are told."""
        if not self.encoder:
            return "word stems by tf-idf and a logistic regression, grouped by story"
        return f"the encoder {self.encoder}, fine-tuned, grouped by story"


def classify_aspects(material: Material, settings: ClassifierSettings) -> Findings:
    """Classify every comment by a classifier that saw none of its story."""
    comments, predicted = _cross_validate(material, settings, by="aspect")
    names = [name for name in ASPECTS if name in {*predicted.gold, *predicted.predicted}]
    confusion = predicted.confusion()
    counts: list[StudyRow] = [
        [name, *(confusion[name][other] for other in names), sum(confusion[name].values())]
        for name in names
    ]
    tables = [
        StudyTable(
            "classifier_accuracy",
            "Comments whose aspect is told",
            ("figure", "share", "comments"),
            _accuracies(material, comments, predicted),
            "Intervals by drawing stories anew. The prior is the most frequent aspect.",
        ),
        _accuracy_by_aspect(material, comments, predicted),
        StudyTable(
            "classifier_confusion",
            "Aspects (rows) and what they are taken for (columns)",
            ("aspect", *names, "comments"),
            counts,
        ),
    ]
    stories = len({comment.story for comment in comments})
    words = [
        f"{len(comments)} comments on {stories} stories; {settings.words}. The paper fine-tunes "
        "RoBERTa-large on 28,099 comments; its Figure 6 shows about 80 % of each aspect's right, "
        "but for ending and heartwarming."
    ]
    return words, tables


def _accuracy_by_aspect(
    material: Material, comments: list[LabelledComment], predicted: OutOfFold
) -> StudyTable:
    """Figure 6: of the comments on each aspect, how many are told to be on it."""
    pairs = list(zip(predicted.gold, predicted.predicted, strict=True))
    stories = [comment.story for comment in comments]
    rows: list[StudyRow] = []
    for aspect in ASPECTS:
        right = np.array([gold == guess if gold == aspect else np.nan for gold, guess in pairs])
        count = int((~np.isnan(right)).sum())
        guessed = sum(guess == aspect for _, guess in pairs)
        hits = int(np.nansum(right))
        printed = "not about .80" if aspect in _UNLIKE else "about .80"
        precision = hits / guessed if guessed else None
        rows.append([aspect, material.estimate_mean(right, stories), precision, printed, count])
    return StudyTable(
        "figure_6",
        "The aspect classifier, aspect by aspect (Figure 6)",
        ("aspect", "accuracy", "right where guessed", "printed", "comments"),
        rows,
        "Share of the comments on an aspect that are told to be on it, and of those told to be on "
        "it that are. Printed: read off the paper's figure.",
        drawn="share of the comments on an aspect",
    )


def _cross_validate(
    material: Material, settings: ClassifierSettings, *, by: str
) -> tuple[list[LabelledComment], OutOfFold]:
    """Give all comments, and what is predicted of each: its aspect, or its rating."""
    comments = comments_of(material.dataset("storyer_ratings"))
    if not comments:
        raise InputError("storyer_ratings has no comments", "give the files with comments")
    how: Any = {"folds": settings.folds, "seed": material.seed}
    if settings.encoder:
        how |= {"encoder": settings.encoder, "seeds": settings.seeds, "device": settings.device}
        how |= {"recipe": Path(settings.recipe) if settings.recipe else None}
        how |= {"report": material.report}
    return comments, classify_by(comments, **how)[by]


def _accuracies(
    material: Material, comments: list[LabelledComment], predicted: OutOfFold
) -> list[StudyRow]:
    pairs = zip(predicted.gold, predicted.predicted, strict=True)
    right = np.array([gold == guess for gold, guess in pairs], float)
    surest = np.array([max(by_aspect.values()) for by_aspect in predicted.probabilities])
    commonest, _ = Counter(predicted.gold).most_common(1)[0]
    shares: dict[str, Values] = {}
    for bar in _BARS:
        name = f"right, of those at {bar:g} or more" if bar else "right"
        shares[name] = np.where(surest >= bar, right, np.nan)
    for bar in _BARS[1:]:
        shares[f"at {bar:g} or more"] = (surest >= bar).astype(float)
    usual = np.array([gold == commonest for gold in predicted.gold], float)
    shares[f"prior: always {commonest}"] = usual
    stories = [comment.story for comment in comments]
    return [
        [name, material.estimate_mean(values, stories), int((~np.isnan(values)).sum())]
        for name, values in shares.items()
    ]


def classify_polarity(material: Material, settings: ClassifierSettings) -> Findings:
    """Tell the rating of every comment by a classifier that saw none of its story."""
    comments, predicted = _cross_validate(material, settings, by="rating")
    gold = [polarity(comment.rating) for comment in comments]
    guesses = [polarity(float(rating)) for rating in predicted.predicted]
    right = np.array([one == other for one, other in zip(gold, guesses, strict=True)], float)
    stories = [comment.story for comment in comments]
    rows: list[StudyRow] = []
    for name, published in PUBLISHED.items():
        inside = np.array([name in (known, "all") for known in gold])
        estimate = material.estimate_mean(np.where(inside, right, np.nan), stories)
        share = float(np.mean(inside))
        rows.append([name, estimate, share, published / 100, int(inside.sum())])
    table = StudyTable(
        "sentiment",
        "Comments whose polarity is told",
        ("polarity", "accuracy", "share of the comments", "published", "comments"),
        rows,
        "A guess that knows nothing but the commonest polarity is right as often as its share "
        "says, there alone. Published: StoryER's RoBERTa-large on its own, far larger data.",
    )
    words = [f"Ratings 1 to 5 are told by {settings.words}."]
    return words, [table]
