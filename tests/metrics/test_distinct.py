from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics.distinct import Distinct
from fakes.factories import make_story, value_of


@pytest.mark.parametrize(
    ("n", "text", "share"),
    [
        (1, "a b a c", 3 / 4),
        (1, "a a a a", 1 / 4),
        (1, "a b c", 1.0),
        (2, "a b a b", 2 / 3),  # ab ba ab
        (2, "I don't know. I don't know.", 3 / 5),  # i-don't don't-know know-i, twice the first two
        (3, "a b c a b c a", 3 / 5),  # abc bca cab abc bca
        (1, "The the THE", 1 / 3),
        (1, "漢字漢", 2 / 3),
    ],
)
def test_a_share_by_hand(n, text, share):
    assert value_of(Distinct(n), text) == pytest.approx(share)


def test_pairs_are_the_default():
    assert Distinct() == Distinct(2)


@given(st.lists(st.sampled_from("abcd"), min_size=3), st.integers(1, 3))
def test_a_share_is_the_set_over_the_list(words, n):
    grams = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    assert value_of(Distinct(n), " ".join(words)) == len(set(grams)) / len(grams)


@pytest.mark.parametrize(("n", "text"), [(3, "two words"), (1, "!!!"), (2, "one")])
def test_a_text_without_n_grams_is_undefined_not_zero(n, text):
    [score] = Distinct(n).score([make_story(text)])
    assert score.status is Status.UNDEFINED
    assert math.isnan(score.value)
    assert score.note


def test_compat_parts_words_at_what_is_not_ascii():
    # caf, caf against café, cafè; don and t.
    assert value_of(Distinct(1), "café cafè") == 1.0
    assert value_of(Distinct(1, compat=True), "café cafè") == 0.5
    assert value_of(Distinct(1, compat=True), "don't don") == pytest.approx(2 / 3)


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", True])
def test_n_must_be_a_whole_number_from_one(n):
    with pytest.raises(SettingError, match="distinct: n="):
        Distinct(n)
