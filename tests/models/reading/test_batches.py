"""Batches by length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.models.reading.windows import batch_by_length


def test_texts_of_about_one_length_come_together_the_longest_first():
    assert batch_by_length([3, 9, 4, 10, 5], budget=20) == [[3, 1], [4, 2, 0]]


def test_a_text_over_the_budget_is_a_batch_of_its_own():
    assert batch_by_length([50, 2, 60], budget=10) == [[2], [0], [1]]


def test_nothing_gives_no_batches_and_empty_texts_are_in_one():
    assert batch_by_length([], budget=8) == []
    assert batch_by_length([0, 0], budget=8) == [[0, 1]]


@given(st.lists(st.integers(0, 40), max_size=60), st.integers(1, 100))
def test_each_index_is_in_one_batch_which_is_within_the_budget_even_when_padded(lengths, budget):
    batches = batch_by_length(lengths, budget=budget)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= budget
