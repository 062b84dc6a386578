"""Windows over tokens: everything is covered, and each token belongs where it is most central."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import SettingError
from fabula.models.reading.windows import assign_tokens, cut_overlapping


def test_a_text_that_fits_is_one_window():
    assert cut_overlapping(5, 5, 2) == [range(5)]
    assert cut_overlapping(3, 5, 2) == [range(3)]


def test_no_tokens_no_windows():
    assert cut_overlapping(0, 5, 2) == []
    assert assign_tokens([]) == []


def test_the_last_window_is_moved_back_to_end_with_the_text():
    # Steps of 3: 0-4, 3-7, 6-10; one token more and the last begins at 7, not at 9.
    assert cut_overlapping(10, 4, 1) == [range(4), range(3, 7), range(6, 10)]
    assert cut_overlapping(11, 4, 1) == [range(4), range(3, 7), range(6, 10), range(7, 11)]


def test_shared_tokens_are_halved_and_the_odd_one_goes_to_the_earlier_window():
    assert assign_tokens([range(6), range(4, 10)]) == [range(5), range(5, 10)]
    assert assign_tokens([range(6), range(3, 9)]) == [range(5), range(5, 9)]


@pytest.mark.parametrize("overlap", [-1, 4, 9])
def test_an_overlap_that_does_not_fit_is_refused(overlap):
    with pytest.raises(SettingError, match="from 0 to 3"):
        cut_overlapping(10, 4, overlap)


@given(st.data())
def test_each_token_is_in_a_window_of_the_size_and_belongs_where_it_is_most_central(data):
    count, size = data.draw(st.integers(1, 90)), data.draw(st.integers(1, 12))
    overlap = data.draw(st.integers(0, size - 1))
    places = cut_overlapping(count, size, overlap)
    assert {token for place in places for token in place} == set(range(count))
    assert {len(place) for place in places} == {min(count, size)}
    assert all(len({*a} & {*b}) >= overlap for a, b in pairwise(places))

    def context(token: int, number: int) -> tuple[int, int]:
        place = places[number]
        inside = min(token - place.start, place.stop - 1 - token) if token in place else -1
        return inside, -number

    best = [max(range(len(places)), key=lambda n: context(token, n)) for token in range(count)]
    assert [at for at, part in enumerate(assign_tokens(places)) for _ in part] == best
