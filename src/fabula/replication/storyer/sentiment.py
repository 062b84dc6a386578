"""Whether the rating of a comment can be told from its words, by polarity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fabula.meta.resampling import estimate_mean
from fabula.replication.storyer._findings import Cell, Finding, Table
from fabula.replication.storyer._material import Material
from fabula.replication.storyer.aspect_classifier import classified

TITLE = "The rating classifier of comments, by polarity"
# StoryER's sentiment model (RoBERTa-large), in per cent.
PUBLISHED = {"negative": 85.2, "neutral": 50.9, "positive": 89.7, "all": 83.0}


@dataclass(frozen=True)
class Settings:
    """How comments are parted; those of one story stay together."""

    folds: int = 5


def polarity(rating: float) -> str:
    """Name the polarity of a rating: 1 and 2 are negative, 3 is neutral, 4 and 5 positive."""
    return "neutral" if rating == 3 else "negative" if rating < 3 else "positive"


def analyse(material: Material, settings: Settings) -> Finding:
    """Tell the rating of every comment by a classifier that saw none of its story."""
    said, found = classified(material, settings.folds, by="rating")
    truth = [polarity(one.rating) for one in said]
    told = [polarity(float(one)) for one in found.predicted]
    right = np.array([one == other for one, other in zip(truth, told, strict=True)], float)
    stories = [one.story for one in said]
    rows: list[list[Cell]] = []
    for name, published in PUBLISHED.items():
        inside = np.array([name in (one, "all") for one in truth])
        estimate = estimate_mean(
            np.where(inside, right, np.nan), stories, resamples=material.resamples
        )
        share = float(np.mean(inside))
        rows.append([name, estimate, share, published / 100, int(inside.sum())])
    table = Table(
        "sentiment",
        "Comments whose polarity is told from their words",
        ("polarity", "accuracy", "share of the comments", "published", "comments"),
        rows,
        "A guess that knows nothing but the commonest polarity is right as often as its share "
        "says, there alone. Published: StoryER's RoBERTa-large on its own, far larger data.",
    )
    words = ["Word stems by tf-idf and a logistic regression on ratings 1 to 5, grouped by story."]
    return Finding("sentiment", TITLE, words, [table])
