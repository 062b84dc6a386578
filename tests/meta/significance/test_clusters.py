from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fabula.meta.significance.williams import rank_clusters, significant_ranks

NAN = np.nan


def beats(size: int, *pairs: tuple[int, int]) -> np.ndarray:
    p = np.full((size, size), NAN)
    for better, worse in pairs:
        p[better, worse] = 0.01
    return p


def test_a_cluster_starts_where_all_above_in_it_are_better() -> None:
    # 0 and 1 are not told apart; 2 is beaten by 0 alone and stays; 3 is beaten by all three.
    p = beats(4, (0, 2), (0, 3), (1, 3), (2, 3))
    assert rank_clusters([0, 1, 2, 3], p) == (1, 1, 1, 2)
    assert significant_ranks(p) == (1, 1, 2, 4)


def test_only_the_cluster_just_above_counts() -> None:
    # 2 starts the second cluster; 3 is beaten by 2, though not by 1, and starts the third.
    p = beats(4, (0, 2), (1, 2), (2, 3))
    assert rank_clusters([0, 1, 2, 3], p) == (1, 1, 2, 3)


def test_clusters_stand_in_the_metrics_own_order() -> None:
    p = beats(3, (2, 0), (2, 1), (0, 1))
    assert rank_clusters([2, 0, 1], p) == (2, 3, 1)


def test_what_is_not_known_is_no_finding() -> None:
    assert rank_clusters([1, 0, 2], np.full((3, 3), NAN)) == (1, 1, 1)
    assert significant_ranks(np.full((3, 3), NAN)) == (1, 1, 1)


def test_alpha_is_the_bar() -> None:
    p = np.array([[NAN, 0.03], [0.97, NAN]])
    assert rank_clusters([0, 1], p) == (1, 2)
    assert rank_clusters([0, 1], p, alpha=0.01) == (1, 1)
    assert significant_ranks(p, alpha=0.01) == (1, 1)


def test_no_metric_no_cluster() -> None:
    assert rank_clusters([], np.empty((0, 0))) == ()
    assert significant_ranks(np.empty((0, 0))) == ()


@given(st.integers(1, 8), st.integers(0, 10_000))
def test_cluster_numbers_never_fall_along_the_order(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    order = rng.permutation(size).tolist()
    found = rank_clusters(order, rng.random((size, size)), alpha=0.4)
    along = [found[metric] for metric in order]
    assert along[0] == 1
    assert all(after - before in (0, 1) for before, after in pairwise(along))
