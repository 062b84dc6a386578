from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fabula.models.reading.windows import Stride, fit_prefix


def test_windows_by_hand() -> None:
    # 10 a window, 1 for the beginning and 2 for the context: 7 for the text, steps of 5 × 7 // 10.
    prefix = fit_prefix([0], [5, 6], window=10, stride=5)
    assert (prefix.ids, prefix.room, prefix.step) == ((0, 5, 6), 7, 3)
    assert prefix.strides(12) == [Stride(0, 0, 7), Stride(3, 7, 10), Stride(5, 10, 12)]
    assert prefix.strides(4) == [Stride(0, 0, 4)]
    assert prefix.strides(0) == []


def test_of_a_long_context_the_end_is_kept() -> None:
    assert fit_prefix([0], list(range(1, 99)), window=10, stride=5).ids == (0, 95, 96, 97, 98)


@given(
    st.integers(0, 3),
    st.integers(0, 200),
    st.integers(16, 80),
    st.integers(1, 80),
    st.integers(0, 500),
)
def test_every_token_is_scored_once_in_windows_that_fit(
    beginning: int, context: int, window: int, stride: int, count: int
) -> None:
    prefix = fit_prefix([0] * beginning, [1] * context, window=window, stride=min(stride, window))
    found = prefix.strides(count)
    assert [at for one in found for at in range(one.new, one.stop)] == list(range(count))
    assert all(0 <= one.start <= one.new < one.stop for one in found)
    assert all(len(prefix.ids) + one.stop - one.start <= window for one in found)
