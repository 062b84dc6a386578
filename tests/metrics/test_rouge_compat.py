"""ROUGE-1.5.5 as HANNA ran it: quirks by hand, and vectors printed by others."""

from __future__ import annotations

import pytest

from fabula.metrics.rouge import Rouge
from fakes.factories import values_of

KINDS = {"1": 1, "2": 2, "3": 3, "4": 4, "l": "L", "w_1.2": "W", "s*": "S*", "su*": "SU*"}


@pytest.mark.parametrize(("label", "n"), KINDS.items())
def test_the_vector_printed_by_summeval(summeval, label, n):
    golden = summeval["rouge(CAND_R,REF_R)"]
    recall, precision, f = values_of(Rouge(n, compat=True), golden["cand"], golden["ref"])
    assert recall == golden[f"rouge_{label}_recall"]
    assert precision == golden[f"rouge_{label}_precision"]
    # The script prints f of shares that it has not rounded; HANNA's column is of rounded ones.
    assert f == pytest.approx(golden[f"rouge_{label}_f_score"], abs=1.01e-5)


def test_a_weighted_recall_is_weighted_twice():
    # 32 words beside themselves: precision 1, recall 32^−0.2 = ½, f = 2/3 to five decimals.
    text = " ".join(f"w{i}" for i in range(32))
    assert values_of(Rouge("W", compat=True), text, text) == (0.5, 1.0, 0.66667)
    assert values_of(Rouge("W"), text, text) == pytest.approx((1, 1, 1))


def test_the_last_word_does_not_count_as_a_single_word():
    # "a b" beside "b a": no pair; without the last words a beside b.
    assert values_of(Rouge("SU*", compat=True), "a b", "b a") == (0.0, 0.0, 0.0)
    # The default: no pair of one, two words of two.
    assert values_of(Rouge("SU*"), "a b", "b a") == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_shares_have_five_decimals_before_f_is_taken():
    # 1 of 3 and 1 of 7: f of 0.33333 and 0.14286 is 0.20000.
    values = values_of(Rouge(1, compat=True), "x a b c d e f", "x y z")
    assert values == (0.33333, 0.14286, 0.2)


def test_everything_from_the_first_angle_bracket_on_is_lost():
    values = values_of(Rouge(1, compat=True), "a b <unk> c d", "a b c d")
    assert values == (0.5, 1.0, 0.66667)


def test_a_text_that_begins_with_a_bracket_is_zero():
    assert values_of(Rouge(1, compat=True), "<p> a b", "a b") == (0.0, 0.0, 0.0)


def test_a_line_is_a_sentence_and_subsequences_unite():
    # Lin (2004), section 3.2: w1 w2 w3 w4 w5 beside w1 w2 w6 w7 w8 and w1 w3 w8 w9 w5 unite to
    # w1 w2 w3 w5: recall 4/5, and here precision 4 of the 10 words.
    text = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"
    recall, precision, _ = values_of(Rouge("L", compat=True), text, "w1 w2 w3 w4 w5")
    assert (recall, precision) == (0.8, 0.4)


def test_stems_are_porters_own():
    # NLTK's extension makes "die" of "dying"; Porter's own stemmer makes "dy".
    assert values_of(Rouge(1, compat=True), "dying", "died") == (0.0, 0.0, 0.0)
    assert values_of(Rouge(1), "dying", "died") == pytest.approx((1, 1, 1))


def test_only_ascii_letters_make_words():
    assert values_of(Rouge(1, compat=True), "café", "caf")[0] == 1.0
