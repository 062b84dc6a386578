"""Windows of readers, by hand and for any length."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fabula.learned._windows import windows


def test_windows_by_hand() -> None:
    assert windows(0, 254) == []
    assert windows(1, 254) == [range(1)]
    assert windows(254, 254) == [range(254)]
    # Two windows, the second from the middle on.
    assert windows(255, 254) == [range(254), range(127, 255)]
    # ceil(620 / 254) = 3: at 0, 620 / 3 = 206.67 and 413.33, both rounded down.
    assert windows(620, 254) == [range(254), range(206, 460), range(413, 620)]


@given(st.integers(1, 5000), st.integers(1, 300))
def test_nothing_is_left_out_and_no_window_is_too_long(count: int, size: int) -> None:
    found = windows(count, size)
    assert len(found) == -(-count // size)
    assert found[0].start == 0
    assert found[-1].stop == count
    assert all(0 < len(one) <= size for one in found)
    assert all(left.start < right.start <= left.stop for left, right in pairwise(found))
