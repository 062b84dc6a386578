from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.text import subsequence
from fabula.text.subsequence import (
    fill_by_cells,
    fill_by_diagonals,
    fill_plainly,
    lcs_length,
    weigh_lcs,
    weigh_sparsely,
    weighted_lcs,
)

numbers = st.lists(st.integers(0, 4), max_size=25)
weights = st.sampled_from([1.0, 1.2, 1.5, 2.0])


def count_lcs(left, right) -> int:
    """Length of the longest common subsequence by the table of the textbook."""
    row = [0] * (len(right) + 1)
    for one in left:
        before = row
        row = [0]
        for j, other in enumerate(right, 1):
            row.append(before[j - 1] + 1 if one == other else max(before[j], row[j - 1]))
    return row[-1]


def lin_table(left, right, weight):
    """Weight and marks by Lin's figure 2 (2004), cell by cell."""
    c = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    w = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, one in enumerate(left, 1):
        for j, other in enumerate(right, 1):
            if one == other:
                k = w[i - 1][j - 1]
                c[i][j] = c[i - 1][j - 1] + (float(k + 1) ** weight - float(k) ** weight)
                w[i][j] = k + 1
            else:
                c[i][j] = max(c[i - 1][j], c[i][j - 1])
    marks, i, j = [False] * len(left), len(left), len(right)
    while i and j:
        if left[i - 1] == right[j - 1]:
            i, j = i - 1, j - 1
            marks[i] = True
        elif c[i - 1][j] >= c[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return c[-1][-1], marks


def gains_for(left, right, weight):
    return np.diff(np.arange(min(len(left), len(right)) + 2, dtype=np.float64) ** weight)


@pytest.fixture(params=["compiled", "diagonals"])
def kernel(request, monkeypatch):
    """Each way of filling the table in turn."""
    if request.param == "compiled":
        pytest.importorskip("numba")
        subsequence._kernel.cache_clear()
    else:
        monkeypatch.setattr(subsequence, "_kernel", lambda: fill_by_diagonals)
    return request.param


@given(numbers, numbers)
def test_the_length_is_that_of_the_textbook(left, right):
    assert lcs_length(left, right) == count_lcs(left, right)


@given(st.text("abc", max_size=20), st.text("abc", max_size=20))
def test_the_length_of_words_is_that_of_their_numbers(left, right):
    assert lcs_length(list(left), list(right)) == count_lcs(left, right)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weight", [1.0, 1.2, 2.0])
def test_weight_and_marks_are_those_of_lins_figure(kernel, seed, weight):
    rng = np.random.default_rng(seed)
    left, right = (rng.integers(0, 6, rng.integers(1, 60)).tolist() for _ in range(2))
    total, marks = weighted_lcs(left, right, weight)
    expected_total, expected_marks = lin_table(left, right, weight)
    assert total == pytest.approx(expected_total, rel=1e-12)
    assert marks.tolist() == expected_marks


@pytest.mark.parametrize(("left", "right"), [([], []), ([1], []), ([], [1]), ([1], [2])])
def test_nothing_in_common_weighs_nothing(kernel, left, right):
    total, marks = weighted_lcs(left, right, 1.2)
    assert total == 0.0
    assert marks.tolist() == [False] * len(left)


def test_runs_weigh_more_than_the_same_words_apart(kernel):
    # Lin (2004), section 3.3: with f(k) = k² the run A B C D weighs 16, the four apart 4.
    x, y1, y2 = ([ord(letter) for letter in word] for word in ("ABCDEFG", "ABCDHIK", "AHBKCID"))
    assert weighted_lcs(x, y1, 2.0)[0] == 16.0
    assert weighted_lcs(x, y2, 2.0)[0] == 4.0


@given(numbers, numbers)
def test_with_weight_one_it_is_the_longest_common_subsequence(left, right):
    total, marks = weighted_lcs(left, right, 1.0)
    assert total == marks.sum() == count_lcs(left, right)


@given(numbers, numbers, weights)
def test_both_kernels_agree_in_every_cell_exactly(left, right, weight):
    pytest.importorskip("numba")
    from fabula.text._compiled import fill

    sides = [np.array(side, dtype=np.int64) for side in (left, right)]
    gains = gains_for(left, right, weight)
    total, moves = fill(*sides, gains)
    other_total, move = fill_by_diagonals(*sides, gains)
    assert total == other_total
    cells = [(i, j) for i in range(1, len(left) + 1) for j in range(1, len(right) + 1)]
    assert [moves[i - 1, j - 1] for i, j in cells] == [move(i, j) for i, j in cells]


@pytest.mark.parametrize("kinds", [2, 30, 1000])
def test_both_kernels_agree_on_long_sequences_exactly(kinds):
    pytest.importorskip("numba")
    from fabula.text._compiled import fill

    rng = np.random.default_rng(kinds)
    left, right = rng.integers(0, kinds, 700), rng.integers(0, kinds, 900)
    gains = gains_for(left, right, 1.2)
    total, moves = fill(left, right, gains)
    other_total, move = fill_by_diagonals(left, right, gains)
    assert total == other_total
    marks = [subsequence._marks(one, 700, 900) for one in (lambda i, j: moves[i - 1, j - 1], move)]
    np.testing.assert_array_equal(*marks)


@given(numbers, numbers, weights)
def test_the_sparse_way_gives_the_same_weight_exactly(left, right, weight):
    gains = gains_for(left, right, weight)
    sides = (np.array(side, dtype=np.int64) for side in (left, right))
    assert weigh_sparsely(left, right, gains.tolist()) == fill_by_cells(*sides, gains)[0]


def test_a_match_may_weigh_less_than_what_stands_beside_it():
    # The run 1 2 3 weighs 9. The second 3 is a match that extends nothing: it takes the last cell
    # with 4 + 1, less than the 9 beside it, and the next row raises it.
    right, gains = [1, 2, 3, 3], [1.0, 3.0, 5.0, 7.0, 9.0]
    for left, expected in (([1, 2, 3], 5.0), ([1, 2, 3, 4], 9.0)):
        assert fill_by_cells(np.array(left), np.array(right), np.array(gains))[0] == expected
        assert weigh_sparsely(left, right, gains) == expected


@pytest.mark.parametrize("kinds", [1, 2, 30, 1000])
def test_without_a_compiled_kernel_the_weight_is_the_same(monkeypatch, kinds):
    rng = np.random.default_rng(kinds)
    left, right = rng.integers(0, kinds, 90).tolist(), rng.integers(0, kinds, 120).tolist()
    expected = weighted_lcs(left, right, 1.2)[0]
    assert weigh_lcs(left, right, 1.2) == expected
    monkeypatch.setattr(subsequence, "_kernel", lambda: fill_plainly)
    assert weigh_lcs(left, right, 1.2) == expected
