from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.words import tokens, words
from fakes.factories import within


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t\u3000", []),
        ("The cat sat.", ["The", "cat", "sat", "."]),
        ("Wait... what?!", ["Wait", ".", ".", ".", "what", "?", "!"]),
        ("Don't go!", ["Don't", "go", "!"]),
        ("Don’t go!", ["Don't", "go", "!"]),
        ("“Go,” she said.", ["“", "Go", ",", "”", "she", "said", "."]),
        ("the dogs' house", ["the", "dogs", "'", "house"]),
        ("well-known", ["well", "-", "known"]),
        ("snake_case", ["snake", "_", "case"]),
        ("3.50 €", ["3", ".", "50", "€"]),
        ("今日は雨。", ["今", "日", "は", "雨", "。"]),
        ("Это дом.", ["Это", "дом", "."]),
        ("a\x00b\u200bc", ["a", "b", "c"]),
    ],
)
def test_words_are_as_written_and_each_mark_stands_by_itself(text, expected):
    assert tokens(text) == expected


def test_one_letter_typed_in_two_ways_is_one_word():
    assert tokens("Cafe\u0301") == tokens("Caf\u00e9") == ["Caf\u00e9"]


# Small letters alone: lower-casing can change what belongs together in odd scripts.
@given(st.text(st.sampled_from("abc é ñ 7'’.,!-_\n漢か")))
def test_without_marks_the_tokens_are_the_words(text):
    found = [token for token in tokens(text) if token[0].isalnum()]
    assert found == words(text)


@given(st.text())
def test_tokens_are_neither_empty_nor_hold_blanks(text):
    assert all(token.split() == [token] for token in tokens(text))


@pytest.mark.parametrize("part", ["a", "a'", ".", "a.", "\u0301", "a\u0301", "漢", "'"])
def test_odd_texts_are_parted_in_time_that_grows_with_their_length(part):
    with within(2.0):
        tokens(part * 20_000)
