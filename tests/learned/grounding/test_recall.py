from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.learned.grounding.recall import macro_recall, rank_own


def test_the_place_of_the_own_noun_counts_those_above_it():
    similarities = np.array([[0.9, 0.5, 0.1], [0.2, 0.4, 0.8]])
    assert rank_own(similarities, [1, 2]).tolist() == [1.0, 0.0]


def test_nouns_of_the_same_similarity_share_their_places():
    assert rank_own(np.array([[0.5, 0.5, 0.5, 0.1]]), [0]).tolist() == [1.0]


def test_a_noun_that_is_not_known_comes_last():
    assert rank_own(np.array([[0.5, np.nan, 0.1]]), [1]).tolist() == [2.0]
    assert rank_own(np.array([[-0.5, np.nan, 0.1]]), [0]).tolist() == [1.0]


def test_every_noun_counts_the_same_however_many_regions_it_has():
    # Of three cats two are found, the only dog is not: (2/3 + 0) / 2.
    places = np.array([0.0, 0.0, 5.0, 3.0])
    assert macro_recall(places, ["cat", "cat", "cat", "dog"], 1) == pytest.approx(1 / 3)
    assert macro_recall(places, ["cat", "cat", "cat", "dog"], 4) == pytest.approx(5 / 6)


def test_no_region_has_no_recall():
    assert math.isnan(macro_recall(np.array([]), [], 1))
