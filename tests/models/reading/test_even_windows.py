"""Windows of readers, by hand and for any length."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.models.reading.windows import cut_evenly


def test_windows_by_hand() -> None:
    assert cut_evenly(0, 254) == []
    assert cut_evenly(1, 254) == [range(1)]
    assert cut_evenly(254, 254) == [range(254)]
    # Two windows, the second from the middle on.
    assert cut_evenly(255, 254) == [range(127), range(127, 255)]
    # ceil(620 / 254) = 3: at 0, 620 / 3 = 206.67 and 413.33, both rounded down.
    assert cut_evenly(620, 254) == [range(206), range(206, 413), range(413, 620)]
    assert cut_evenly(620, 254, overlap=True) == [range(254), range(206, 460), range(413, 620)]


@given(st.integers(1, 5000), st.integers(1, 300))
def test_every_token_is_in_one_window_and_all_are_about_as_long(count: int, size: int) -> None:
    found = cut_evenly(count, size)
    assert len(found) == -(-count // size)
    assert [place for one in found for place in one] == list(range(count))
    assert max(map(len, found)) <= size
    assert max(map(len, found)) - min(map(len, found)) <= 1


@given(st.integers(1, 5000), st.integers(1, 300))
def test_with_overlap_nothing_is_left_out_either(count: int, size: int) -> None:
    found, apart = cut_evenly(count, size, overlap=True), cut_evenly(count, size)
    assert [one.start for one in found] == [one.start for one in apart]
    assert found[-1].stop == count
    assert all(len(one) == size for one in found[:-1])
