from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from fabula.core.model import Region
from fabula.learned.grounding.matchers import (
    DRAWING,
    JointMatcher,
    LabelMatcher,
    average_words,
    describe_drawing,
    normalise,
)
from fabula.models import load_model
from fabula.models.word_vectors import VectorTable

WORDS = ("dog", "puppy", "cat", "fire", "truck")
TABLE = VectorTable(
    "words",
    {word: place for place, word in enumerate(WORDS)},
    np.array([[1.0, 0, 0], [0.8, 0.6, 0], [0, 1, 0], [0, 0, 3], [0, 4, 0]]),
)
CROP = np.zeros((4, 4, 3), np.uint8)


@dataclass
class Sure:
    """Finds each crop to be the class of its first red pixel."""

    signature: str = "sure"
    classes: tuple[str, ...] = ("cat, house cat", "fire truck", "nameless xyzzy")

    def classify(self, crops):
        return np.eye(3)[[int(crop[0, 0, 0]) for crop in crops]]


def show(number: int):
    return np.full((2, 2, 3), number, np.uint8)


def test_a_phrase_is_the_mean_of_the_words_that_are_known():
    means = average_words(TABLE, ["Fire truck", "the dog", "xyzzy", ""])
    assert means[:2].tolist() == [[0, 2, 1.5], [1, 0, 0]]
    assert np.isnan(means[2:]).all()


def test_a_vector_without_length_stays_as_it_is():
    assert normalise(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist() == [[0.6, 0.8], [0.0, 0.0]]


def test_a_region_is_as_like_a_noun_as_its_nearest_label():
    matcher = LabelMatcher(Sure(), TABLE, classes=1)
    views = matcher.view([show(0), show(1)], [Region((0, 0, 2, 2), "dog"), Region((0, 0, 2, 2))])
    names = matcher.name(["puppy", "cat", "truck", "xyzzy"])
    similarities = matcher.match(views, names)
    # Of a dog that the classifier takes for a cat: puppy is .8 dog and .6 cat.
    assert similarities[0, :2] == pytest.approx([0.8, 1.0])
    # (0, 2, 1.5) is .8 along truck; nobody gave the second region a label of its own.
    assert similarities[1, 2] == pytest.approx(0.8)
    assert np.isnan(similarities[:, 3]).all()


def test_a_region_whose_labels_have_no_vector_is_like_nothing_known():
    matcher = LabelMatcher(Sure(), TABLE, classes=1)
    views = matcher.view([show(2)], [Region((0, 0, 2, 2))])
    assert np.isnan(matcher.match(views, matcher.name(["nameless"]))).all()


def test_the_signature_of_labels_names_classifier_and_words():
    assert LabelMatcher(Sure(), TABLE).signature == "labels,classes=5,sure,words"


def test_a_joint_encoder_finds_the_colour_that_a_noun_names():
    matcher = JointMatcher(load_model("fake()"))
    red, blue = (np.full((8, 8, 3), colour, np.uint8) for colour in ([255, 0, 0], [0, 0, 255]))
    views = matcher.view([red, blue], [Region((0, 0, 8, 8))] * 2)
    similarities = matcher.match(views, matcher.name(["apple", "sea"]))
    assert np.diag(similarities) == pytest.approx([1.0, 1.0])
    assert (similarities.argmax(axis=1) == [0, 1]).all()


@dataclass
class Doubtful:
    """Takes every crop for a comic book with the probability that it is told."""

    chance: float
    signature: str = "doubtful"
    classes: tuple[str, ...] = ("web site, website", "tench, Tinca tinca", "comic book")

    def classify(self, crops):
        return np.array([[0.001, 0.999 - self.chance, self.chance]] * len(crops))


@pytest.mark.parametrize(("chance", "note"), [(0.0, ""), (0.0005, ""), (0.0015, DRAWING)])
def test_a_picture_that_may_be_a_comic_book_or_a_web_site_looks_like_a_drawing(chance, note):
    assert describe_drawing(Doubtful(chance), CROP) == note
