from __future__ import annotations

import random
import time
from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.ngrams import (
    count_shared_char_ngrams,
    count_shared_ngrams,
    count_shared_skip_bigrams,
    ngrams,
)

any_text = st.text(st.characters(exclude_categories=()), max_size=60)
few_letters = st.text("ab \U0001f600\ud800", max_size=60)
numbers = st.lists(st.integers(0, 6), max_size=30)


def count_shared(left, right, n: int) -> int:
    """Multiset intersection, the slow and plain way."""
    sides = [
        Counter(tuple(side[i : i + n]) for i in range(len(side) - n + 1)) for side in (left, right)
    ]
    return (sides[0] & sides[1]).total()


def count_pairs(left, right) -> int:
    return (Counter(combinations(left, 2)) & Counter(combinations(right, 2))).total()


def test_ngrams_come_in_order():
    assert ngrams("abcd", 2) == [("a", "b"), ("b", "c"), ("c", "d")]
    assert ngrams(["x", "y"], 1) == [("x",), ("y",)]
    assert ngrams("ab", 3) == []
    assert ngrams("", 1) == []


def test_ngrams_longer_than_the_text_cost_nothing():
    start = time.perf_counter()
    assert ngrams(["a", "b"], 2_000_000) == []
    assert time.perf_counter() - start < 0.5


@given(numbers, numbers, st.integers(1, 4))
def test_shared_ngrams_are_the_common_part_of_both_counts(left, right, n):
    assert count_shared_ngrams(left, right, n) == count_shared(left, right, n)


@given(any_text | few_letters, any_text | few_letters, st.integers(1, 9))
def test_shared_characters_are_the_common_part_of_both_counts(left, right, order):
    expected = [count_shared(left, right, n) for n in range(1, order + 1)]
    assert count_shared_char_ngrams(left, right, order) == expected


@given(few_letters)
def test_a_text_shares_all_of_itself(text):
    assert count_shared_char_ngrams(text, text, 6) == [
        max(0, len(text) - n + 1) for n in range(1, 7)
    ]


@pytest.mark.parametrize("kinds", [1022, 1023, 1024, 1500])
def test_scripts_with_very_many_characters_are_counted_as_well(kinds):
    rng = random.Random(kinds)
    letters = [chr(0x4E00 + i) for i in range(kinds)]
    left = "".join(rng.sample(letters, kinds)) + "".join(letters)
    right = "".join(letters[::2]) + "".join(rng.sample(letters, kinds))
    expected = [count_shared(left, right, n) for n in range(1, 7)]
    assert expected[0] > kinds
    assert count_shared_char_ngrams(left, right, 6) == expected


def test_characters_beyond_the_first_plane_are_one_character():
    assert count_shared_char_ngrams("\U0001f600\U0001f601", "\U0001f601\U0001f602", 2) == [1, 0]


@given(numbers, numbers)
def test_shared_word_pairs_are_the_common_part_of_both_counts(left, right):
    assert count_shared_skip_bigrams(left, right) == count_pairs(left, right)


def test_word_pairs_of_long_texts_are_counted_word_by_word():
    rng = random.Random(2)
    left, right = ([rng.randrange(2_000) for _ in range(3_001)] for _ in range(2))
    both = set(left) & set(right)
    assert len(both) * sum(number in both for number in left) > 2_000_000
    assert count_shared_skip_bigrams(left, right) == count_pairs(left, right)
