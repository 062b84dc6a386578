"""How well comments are told: shares by hand, labels in order, stories kept together."""

from __future__ import annotations

import math

import pytest

from fabula.core.errors import InputError
from fabula.learned.training.aspect_classifier import OutOfFold
from fabula.learned.training.augmentation import LabelledComment
from fabula.learned.training.comment_figures import ClassifierFigure, classify_by, measure, polarity

KNOWN = [
    LabelledComment("s1", "funny", 5.0, "ha"),
    LabelledComment("s1", "ending", 1.0, "so soon"),
    LabelledComment("s2", "ending", 2.0, "so late"),
    LabelledComment("s3", "ending", 3.0, "so so"),
]


def sure(*labels: str) -> tuple[dict[str, float], ...]:
    names = ("ending", "funny", "1", "2", "3", "4", "5")
    return tuple({name: float(name == label) for name in names} for label in labels)


def figures() -> dict[tuple[str, str], ClassifierFigure]:
    aspects = OutOfFold(("funny", *["ending"] * 3), sure("funny", "funny", "ending", "ending"))
    ratings = OutOfFold(("5", "1", "2", "3"), sure("4", "1", "1", "5"))
    found = measure(KNOWN, {"words": {"aspect": aspects, "rating": ratings}})
    return {(one.task, one.label): one for one in found}


def test_shares_are_those_of_a_label_and_of_all_comments():
    found = figures()
    assert [label for task, label in found if task == "aspect"] == ["ending", "funny", "all"]
    told = {key: one.accuracy["words"].value for key, one in found.items()}
    assert told["aspect", "ending"] == pytest.approx(2 / 3)
    assert told["aspect", "funny"] == 1.0
    assert told["aspect", "all"] == 3 / 4
    # Of ratings 5, 1, 2 and 3 one is told to the point; of polarities all but the neutral one.
    assert told["rating", "all"] == 1 / 4
    assert told["polarity", "negative"] == told["polarity", "positive"] == 1.0
    assert told["polarity", "neutral"] == 0.0
    assert found["aspect", "ending"].comments == 3
    assert found["aspect", "all"].prior == 3 / 4
    assert math.isnan(found["aspect", "ending"].prior)


def test_three_stories_are_too_few_for_an_interval():
    assert math.isnan(figures()["aspect", "all"].accuracy["words"].low)


def test_ratings_have_a_polarity():
    assert [polarity(rating) for rating in (1, 2, 3, 4, 5)] == [
        "negative", "negative", "neutral", "positive", "positive",
    ]  # fmt: skip


def test_without_comments_there_is_nothing_to_tell():
    with pytest.raises(InputError, match="no comments"):
        classify_by([])
