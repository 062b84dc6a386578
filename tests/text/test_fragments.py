from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text.fragments import FragmentSource
from fakes.factories import within


def greedy(text, source):
    """Grusky et al. (2018), figure 3, with the jump of SummEval's code, token by token."""
    found, i = [], 0
    while i < len(text):
        longest = j = 0
        while j < len(source):
            run = 0
            while (
                i + run < len(text) and j + run < len(source) and text[i + run] == source[j + run]
            ):
                run += 1
            longest = max(longest, run)
            j += max(run, 1)
        if longest:
            found.append(longest)
        i += max(longest, 1)
    return found


few = st.lists(st.sampled_from("ab"), max_size=40)
several = st.lists(st.sampled_from("abcdef"), max_size=40)
repetitive = st.builds(
    lambda part, times, end: part * times + end,
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
    st.integers(1, 8),
    st.lists(st.sampled_from("abc"), max_size=4),
)
sequences = few | several | repetitive


@given(sequences, sequences)
def test_fragments_are_those_of_the_greedy_rule(text, source):
    assert FragmentSource(source).fragments(text) == greedy(text, source)


@given(sequences, st.lists(sequences, max_size=3))
def test_a_source_can_be_used_for_many_texts(source, texts):
    kept = FragmentSource(source)
    assert [kept.fragments(text) for text in texts] == [greedy(text, source) for text in texts]


@pytest.mark.parametrize(
    ("text", "source", "lengths"),
    [
        ("", "a b", []),
        ("a b", "", []),
        ("a b c", "x y", []),
        ("a b c", "a b c", [3]),
        ("a x b", "a b", [1, 1]),
        ("a b c d", "c d a b", [2, 2]),
        ("x a b y b", "a b", [2, 1]),
        ("a a a", "a a", [2, 1]),
        # At the first a of "a a b" the run a a is measured and jumped over, so that the longer
        # a a b, which begins within it, is not seen.
        ("a a b", "a a a b", [2, 1]),
        ("a a b", "a a a a b", [3]),
    ],
)
def test_fragments_by_hand(text, source, lengths):
    assert FragmentSource(source.split()).fragments(text.split()) == lengths


@given(sequences, sequences)
def test_fragments_cover_each_token_of_the_text_at_most_once(text, source):
    found = FragmentSource(source).fragments(text)
    assert sum(found) == sum(token in set(source) for token in text)


def test_a_text_beside_a_long_source_takes_time_that_grows_with_both():
    source = FragmentSource([f"w{number % 500}" for number in range(20_000)])
    with within(5.0):
        found = source.fragments([f"w{(number * 7) % 500}" for number in range(20_000)])
    assert found == [1] * 20_000
