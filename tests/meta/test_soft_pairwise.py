from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.meta.accuracies import soft_pairwise_accuracy
from fabula.meta.significance import sign_flips
from fabula.meta.significance.sign_flips import pair_p

seeds = st.integers(0, 10_000)


def exact_p(differences: np.ndarray) -> float:
    """All signs; sums just as large as the observed one count half."""
    observed = differences.sum()
    sums = [
        sum(s * d for s, d in zip(signs, differences, strict=True))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum((one > observed + 1e-9) + (abs(one - observed) <= 1e-9) / 2 for one in sums) / len(
        sums
    )


def make(seed: int, shape: tuple[int, int] = (10, 4)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = np.linspace(0, 0.8, shape[1]) + rng.normal(size=shape)
    return (gold + rng.normal(size=shape)).round(2), gold.round(1)


def test_p_is_that_of_all_signs_but_for_chance() -> None:
    x, _ = make(1)
    found = pair_p(x, resamples=40_000)
    exact = [exact_p(x[:, i] - x[:, j]) for i, j in combinations(range(4), 2)]
    # 4 standard errors of a share among 40,000.
    assert found == pytest.approx(exact, abs=0.01)


def test_scipy_agrees() -> None:
    stats = pytest.importorskip("scipy.stats")
    x, _ = make(2)
    apart = x[:, 0] - x[:, 1]
    found = stats.permutation_test(
        (apart,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="greater"
    )
    # scipy counts sums that are equal to the observed one in full.
    assert pair_p(x, resamples=40_000)[0] == pytest.approx(found.pvalue, abs=0.012)


def test_accuracy_by_hand() -> None:
    # Two systems, one item: the flips leave the difference or turn it. The better one has p = 1/4
    # (the flips that change nothing count half), the worse 3/4, and a tie 1/2.
    gold = np.array([[2.0, 1.0]])
    assert soft_pairwise_accuracy(gold, gold) == 1.0
    agree = soft_pairwise_accuracy(np.array([[1.0, 2.0]]), gold, resamples=20_000)
    assert agree == pytest.approx(0.5, abs=0.02)
    tie = soft_pairwise_accuracy(np.array([[5.0, 5.0]]), gold, resamples=20_000)
    assert tie == pytest.approx(0.75, abs=0.02)


@given(seed=seeds)
def test_the_gold_agrees_with_itself(seed: int) -> None:
    _, gold = make(seed)
    assert soft_pairwise_accuracy(gold, gold, resamples=99) == 1.0


@given(seed=seeds)
def test_the_p_of_a_pair_named_both_ways_add_up_to_1(seed: int) -> None:
    x, _ = make(seed, (10, 2))
    total = pair_p(x, resamples=99) + pair_p(x[:, ::-1], resamples=99)
    assert total == pytest.approx([1.0], abs=1e-12)


@given(seed=seeds)
def test_the_order_of_systems_does_not_matter(seed: int) -> None:
    x, gold = make(seed)
    order = np.random.default_rng(seed).permutation(4)
    one = soft_pairwise_accuracy(x, gold, resamples=99)
    other = soft_pairwise_accuracy(x[:, order], gold[:, order], resamples=99)
    assert one == pytest.approx(other, abs=1e-12)


@given(seed=seeds, unit=st.sampled_from([0.25, 8.0]), origin=st.sampled_from([-4.0, 16.0]))
def test_unit_and_origin_do_not_matter(seed: int, unit: float, origin: float) -> None:
    x, gold = make(seed)
    one = soft_pairwise_accuracy(x, gold, resamples=99)
    other = soft_pairwise_accuracy(x * unit + origin, gold, resamples=99)
    assert one == pytest.approx(other, abs=1e-12)


@given(seed=seeds)
def test_the_order_of_items_matters_by_chance_alone(seed: int) -> None:
    x, gold = make(seed)
    order = np.random.default_rng(seed).permutation(len(x))
    one = soft_pairwise_accuracy(x, gold, resamples=2_000)
    other = soft_pairwise_accuracy(x[order], gold[order], resamples=2_000)
    assert one == pytest.approx(other, abs=0.05)


def test_a_constant_metric_is_undecided_about_every_pair() -> None:
    _, gold = make(4)
    assert pair_p(np.full((10, 4), 0.1), resamples=99).tolist() == [0.5] * 6
    found = soft_pairwise_accuracy(np.full((10, 4), 0.1), gold, resamples=99)
    goal = 1 - np.abs(pair_p(gold, resamples=99) - 0.5).mean()
    assert found == pytest.approx(goal, abs=1e-12)


def test_missing_cells_are_left_out_of_their_pairs_only() -> None:
    x, gold = make(5)
    x[3, 0] = np.nan
    found, whole = pair_p(x, resamples=99), pair_p(make(5)[0], resamples=99)
    assert found[3:].tolist() == whole[3:].tolist()
    without = np.delete(x, 3, axis=0)
    exact = exact_p(without[:, 0] - without[:, 1])
    assert pair_p(x, resamples=40_000)[0] == pytest.approx(exact, abs=0.01)
    x[:, 0] = np.nan
    assert np.isnan(pair_p(x, resamples=99)).tolist() == [True] * 3 + [False] * 3
    assert 0 <= soft_pairwise_accuracy(x, gold) <= 1
    assert np.isnan(soft_pairwise_accuracy(x[:, :2], gold[:, :2]))


def test_signs_come_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    x, gold = make(6)
    whole = soft_pairwise_accuracy(x, gold, resamples=4_000)
    monkeypatch.setattr(sign_flips, "_CELLS", 70)
    assert soft_pairwise_accuracy(x, gold, resamples=4_000) == pytest.approx(whole, abs=0.03)
