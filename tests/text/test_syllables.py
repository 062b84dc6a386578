from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.words import count_syllables

# Counts as dictionaries hyphenate them.
ONE = "the a cat dog house time gave walked looked makes times stone breathe bathes played strength"
TWO = (
    "table little apple happy open water dragon forest winter wanted ended houses boxes watches "
    "wishes churches carried indeed enjoyed agreed"
)
THREE = "happily beautiful animal remember family yesterday together"
FOUR = "generously information television impossible"
FIVE = "imagination university"
COUNTED = [
    (word.lower(), count)
    for count, words in enumerate((ONE, TWO, THREE, FOUR, FIVE), 1)
    for word in words.split()
]


@pytest.mark.parametrize(("word", "count"), COUNTED)
def test_common_words_have_the_syllables_of_the_dictionary(word, count):
    assert count_syllables(word) == count


@pytest.mark.parametrize("word", ["", "nth", "42", "be", "he", "she", "me", "hmm", "漢字", "the"])
def test_every_word_has_one_syllable_at_least(word):
    assert count_syllables(word) == 1


@given(st.text(st.sampled_from("aeioubcdlrsty'")))
def test_a_word_has_no_more_syllables_than_vowels(word):
    vowels = sum(letter in "aeiouy" for letter in word)
    assert 1 <= count_syllables(word) <= max(1, vowels)


def test_the_sum_over_a_text_is_near_that_of_a_dictionary():
    # Carroll (1865): Al-ice was be-gin-ning to get ver-y tired of sit-ting by her sis-ter on the
    # bank, and of hav-ing noth-ing to do: 2+1+3+1+1+2+1+1+2+1+1+2+1+1+1+1+1+2+2+1+1 = 29.
    text = (
        "alice was beginning to get very tired of sitting by her sister on the bank and of having "
        "nothing to do"
    )
    assert sum(map(count_syllables, text.split())) == pytest.approx(29, abs=1)
