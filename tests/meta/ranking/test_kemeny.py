from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.core.errors import InputError
from fabula.meta.ranking.aggregation import MOST_METRICS, kemeny


def distance(order: tuple[int, ...], table: np.ndarray) -> int:
    """Pairs that a ranking puts against a column, counted one by one."""
    return sum(
        int(column[low] > column[high])
        for column in np.round(np.abs(table), 10).T
        for place, high in enumerate(order)
        for low in order[place + 1 :]
    )


def test_one_column_is_its_own_ranking() -> None:
    found = kemeny(np.array([[0.1], [-0.9], [0.5]]))
    assert (found.order, found.distance, found.solutions) == ((1, 2, 0), 0, 1)
    assert (found.first, found.last) == ((3, 1, 2), (3, 1, 2))


def test_a_circle_has_three_solutions() -> None:
    # a > b > c, b > c > a, c > a > b: whichever way it is cut, 4 of 9 pairs are against.
    circle = np.array([[3, 1, 2], [2, 3, 1], [1, 2, 3]]) / 3
    found = kemeny(circle)
    assert (found.order, found.distance, found.solutions) == ((0, 1, 2), 4, 3)
    assert (found.first, found.last) == ((1, 1, 1), (3, 3, 3))


def test_a_majority_outweighs_what_points_would_give() -> None:
    # Two columns say a > b > c, one b > c > a. Borda: a 4, b 4, c 1. Kemeny: a before b.
    table = np.array([[3, 3, 1], [2, 2, 3], [1, 1, 2]]) / 3
    assert kemeny(table).order == (0, 1, 2)


def test_undefined_is_last_and_ties_cost_nothing() -> None:
    found = kemeny(np.array([[np.nan], [0.0], [0.0]]))
    assert (found.distance, found.solutions) == (0, 2)
    assert (found.first, found.last) == ((3, 1, 1), (3, 2, 2))


def test_metrics_that_all_tie_have_every_ranking() -> None:
    assert kemeny(np.ones((5, 2))).solutions == 120


def test_too_many_metrics_are_refused_in_words() -> None:
    with pytest.raises(InputError, match="at most 16 of them, or rank by borda"):
        kemeny(np.zeros((MOST_METRICS + 1, 1)))


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 5))
def test_it_is_what_going_through_all_rankings_gives(seed: int, rows: int, columns: int) -> None:
    table = np.random.default_rng(seed).integers(0, 4, (rows, columns)) / 4
    by_order = {order: distance(order, table) for order in permutations(range(rows))}
    least = min(by_order.values())
    best = [order for order, cost in by_order.items() if cost == least]
    found = kemeny(table)
    assert (found.distance, found.solutions) == (least, len(best))
    assert found.order == min(best)
    spots = [[order.index(one) + 1 for order in best] for one in range(rows)]
    assert found.first == tuple(map(min, spots)) and found.last == tuple(map(max, spots))


@given(st.integers(0, 2**32 - 1), st.permutations(range(6)))
def test_order_only_names_the_metrics_anew(seed: int, order: list[int]) -> None:
    table = np.random.default_rng(seed).integers(0, 4, (6, 3)) / 4
    one, other = kemeny(table), kemeny(table[order])
    assert (one.distance, one.solutions) == (other.distance, other.solutions)
    assert tuple(one.first[place] for place in order) == other.first
    assert tuple(one.last[place] for place in order) == other.last


def test_sixteen_metrics_take_no_time() -> None:
    table = np.random.default_rng(0).random((MOST_METRICS, 36))
    assert sorted(kemeny(table).order) == list(range(MOST_METRICS))
