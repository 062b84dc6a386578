"""TIGEr over the pictures of a story, with a grounder that sees what the test says."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.learned.grounding.tiger import compare_grounding, weigh_regions
from fabula.learned.tiger import Tiger
from fakes.grounding import plain_nouns, save_picture, told

__all__ = ["plain_nouns", "told"]

SEEN = {
    "a.png": {"dog": [0.9, 0.1], "cat": [0.2, 0.6], "tree": [0.1, 0.1]},
    "b.png": {"dog": [0.3], "cat": [0.1], "tree": [0.8]},
}


@pytest.fixture
def images(tmp_path, told):
    told.told = SEEN
    return tuple(save_picture(tmp_path / name) for name in SEEN)


def read(text, references, images):
    return Tiger().score([Story("s", text, references=references, images=images)])


def rows(*nouns):
    return np.array([np.concatenate([SEEN[name][noun] for name in SEEN]) for noun in nouns]).T


def test_regions_of_all_pictures_are_ranked_together(images):
    ranking, weights, mean = read("The dog.", ("A cat.", "A tree and a dog."), images)
    references = np.array([weigh_regions(rows("cat")), weigh_regions(rows("tree", "dog"))])
    expected = compare_grounding(references, weigh_regions(rows("dog")))
    assert (ranking.value, weights.value) == pytest.approx(expected)
    assert mean.value == pytest.approx((ranking.value + weights.value) / 2)


def test_a_text_beside_itself_has_three_quarters(images):
    ranking, weights, mean = read("The dog saw a cat.", ("The dog saw a cat.",), images)
    assert (ranking.value, weights.value, mean.value) == pytest.approx((1.0, 0.5, 0.75))


def test_references_without_a_known_noun_are_left_out(images):
    one = read("The dog.", ("A cat.",), images)
    more = read("The dog.", ("A cat.", "Wuwi was there.", "It rained.", " "), images)
    assert [score.value for score in more] == [score.value for score in one]


def test_what_is_missing_is_said(images, tmp_path):
    assert read("The dog.", (), images)[0].status is Status.MISSING_REFERENCE
    assert read("The dog.", ("A cat.",), ())[0].status is Status.MISSING_IMAGES
    [score, *_] = read("It rained.", ("A cat.",), images)
    assert (score.status, "noun of the story" in score.note) == (Status.UNDEFINED, True)
    [score, *_] = read("The dog.", ("It rained.",), images)
    assert (score.status, "noun of the references" in score.note) == (Status.UNDEFINED, True)
    [score, *_] = read("The dog.", ("A cat.",), (str(tmp_path / "c.png"),))
    assert (score.status, "c.png" in score.note) == (Status.MISSING_IMAGES, True)


def test_regions_that_are_all_alike_have_no_order(told, images):
    told.told = {name: {"dog": [0.5], "cat": [0.5]} for name in SEEN}
    [score, *_] = read("The dog.", ("A cat.",), images)
    assert (score.status, "no order" in score.note) == (Status.UNDEFINED, True)
