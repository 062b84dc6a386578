from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.learned.topics.lda import count_words
from fabula.learned.topics.quality import (
    choose_run,
    coherence,
    diversity,
    likeness,
    stability,
)

VOCABULARY = ["a", "b", "c", "d"]
# Of eight texts a is in four, b in four, both in three; c in two, never with d; d in one.
TEXTS = ["a b", "a b c", "a b", "a c", "b", "d", "", ""]


def measure(*topics: tuple[str, ...]) -> np.ndarray:
    counts = count_words([text.split() for text in TEXTS], VOCABULARY)
    return coherence(topics, counts, VOCABULARY)


def test_likeness_is_the_mean_of_best_matches_of_both_sides():
    one, other = (("a", "b"), ("c", "d")), (("a", "b"), ("a", "c"))
    # Jaccard: ab-ab 1, ab-ac 1/3, cd-ab 0, cd-ac 1/3. Rows best 1 and 1/3, columns 1 and 1/3.
    assert likeness(one, other) == pytest.approx(2 / 3)
    # Both of the left match the one on the right: rows 1 and 1/3, column 1.
    assert likeness((*one[:1], ("a", "c")), (("a", "b"),)) == pytest.approx((2 / 3 + 1) / 2)


def test_npmi_is_that_of_the_shares_of_texts():
    by_hand = math.log((3 / 8) / (4 / 8 * 4 / 8)) / -math.log(3 / 8)
    assert measure(("a", "b"))[0] == pytest.approx(by_hand)


def test_words_that_never_meet_have_minus_one_and_pairs_are_averaged():
    a_and_b = math.log((3 / 8) / (1 / 4)) / -math.log(3 / 8)
    assert measure(("c", "d"), ("a", "b", "d")).tolist() == pytest.approx(
        [-1, (a_and_b - 1 - 1) / 3]
    )


def test_words_that_always_come_together_have_one():
    counts = count_words([["x", "y"], ["x", "y"], ["z"]], ["x", "y", "z"])
    assert coherence((("x", "y"),), counts, ["x", "y", "z"])[0] == pytest.approx(1)


def test_a_topic_of_one_word_has_no_coherence():
    assert np.isnan(measure(("a",), ())).all()


def test_repeating_a_word_in_a_text_changes_nothing():
    once, often = (count_words([text.split(), ["b"]], VOCABULARY) for text in ("a b", "a a a b"))
    topics = (("a", "b"),)
    assert coherence(topics, once, VOCABULARY) == coherence(topics, often, VOCABULARY)


def test_stability_is_over_all_pairs_of_runs_and_undefined_for_one():
    same, other = (("a", "b"),), (("c", "d"),)
    assert stability([same, same, other]) == pytest.approx(1 / 3)
    assert math.isnan(stability([same]))


def test_the_run_that_is_most_like_the_others_is_chosen():
    assert choose_run([(("c", "d"),), (("a", "b"),), (("a", "b"),)]) == 1


def test_diversity_is_the_share_of_words_that_differ():
    assert diversity((("a", "b"), ("a", "c"))) == 3 / 4
    assert math.isnan(diversity(((), ())))
