from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.score import Status
from fabula.metrics.length import Length
from fabula.metrics.mattr import Mattr
from fabula.metrics.type_token_ratio import TypeTokenRatio
from fabula.metrics.unique_words import UniqueWords
from fabula.metrics.word_length import WordLength
from fabula.metrics.words import Words
from fakes.factories import make_story, value_of

BASELINES = [Words(), UniqueWords(), WordLength(), TypeTokenRatio(), Mattr(2)]
some_words = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60)


@pytest.mark.parametrize(
    ("metric", "value"),
    [(Words(), 6), (UniqueWords(), 5), (WordLength(), 22 / 6), (TypeTokenRatio(), 5 / 6)],
)
def test_a_value_by_hand(metric, value):
    # the, don't, sat, on, the, mattre: 3 + 5 + 3 + 2 + 3 + 6 characters
    assert value_of(metric, "The don't sat on; THE mattre!") == pytest.approx(value)


@given(some_words, st.integers(1, 70))
def test_the_moving_average_is_the_mean_over_all_windows(words, window):
    if len(words) < window:
        expected = len(set(words)) / len(words)
    else:
        parts = [words[i : i + window] for i in range(len(words) - window + 1)]
        expected = sum(len(set(part)) / window for part in parts) / len(parts)
    assert value_of(Mattr(window), " ".join(words)) == pytest.approx(expected, rel=1e-12)


def test_a_story_shorter_than_the_window_says_so():
    [score] = Mattr(10).score([make_story("a a b")])
    assert score.value == pytest.approx(2 / 3)
    assert "window of 10 words" in score.note
    [score] = Mattr(3).score([make_story("a a b")])
    assert score.note == ""


def test_the_moving_average_does_not_fall_with_length():
    once, often = "a b c d e", " ".join(["a b c d e"] * 40)
    assert value_of(Mattr(5), once) == value_of(Mattr(5), often) == 1.0
    assert value_of(TypeTokenRatio(), often) < value_of(TypeTokenRatio(), once)


@pytest.mark.parametrize("metric", BASELINES, ids=lambda metric: metric.name)
def test_a_story_without_a_word_is_undefined_not_zero(metric):
    [score] = metric.score([make_story("?! … 😀")])
    assert score.status is Status.UNDEFINED
    assert score.note


def test_compat_counts_words_by_the_ascii_rule():
    text = "Don't naïve"
    assert value_of(Words(), text) == 2
    assert value_of(Words(compat=True), text) == 4  # don t na ve
    assert value_of(UniqueWords(compat=True), text) == 4
    assert value_of(WordLength(compat=True), text) == pytest.approx(8 / 4)


def test_a_text_without_a_token_has_no_length_as_it_has_no_words():
    for text in ("\u200b", "\x00 \ufeff"):
        for metric in (Length(), Words()):
            [score] = metric.score([make_story(text)])
            assert score.status is Status.UNDEFINED and score.note
    assert value_of(Length(), "...") == 3
