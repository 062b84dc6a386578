from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fabula.core.errors import SettingError
from fabula.meta.accuracies import pairwise_accuracy, tie_calibrated_accuracy

LEVELS = ["item", "system", "pooled"]
seeds = st.integers(0, 10_000)


def share(x: list[float], gold: list[float], epsilon: float) -> float:
    """The definition, pair by pair."""
    right = total = 0
    for i, j in combinations(range(len(x)), 2):
        apart, goal = x[i] - x[j], gold[i] - gold[j]
        called, tied = abs(apart) <= epsilon + 1e-9, abs(goal) < 1e-9
        right += tied if called else (apart > 0) == (goal > 0) and not tied
        total += 1
    return right / total


def direct(x: np.ndarray, gold: np.ndarray, level: str, epsilon: float) -> float:
    missing = np.isnan(x) | np.isnan(gold)
    if level == "system":
        columns = [~gone for gone in missing.T]
        x, gold = (
            np.array([[np.mean(c[ok]) for c, ok in zip(one.T, columns, strict=True)]])
            for one in (x, gold)
        )
        missing = np.zeros_like(x, dtype=bool)
    elif level == "pooled":
        x, gold, missing = (one.reshape(1, -1) for one in (x, gold, missing))
    rows = zip(x, gold, ~missing, strict=True)
    shares = [share(a[ok].tolist(), b[ok].tolist(), epsilon) for a, b, ok in rows if ok.sum() > 1]
    return sum(shares) / len(shares)


def make(seed: int, shape: tuple[int, int] = (7, 4)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 4, shape).astype(float)
    x = np.round(gold + rng.normal(size=shape), 1)
    x[1, 2], gold[3, 0] = np.nan, np.nan
    return x, gold


def test_the_metric_of_the_paper_s_point() -> None:
    # Deutsch et al. (2023), section 3: a metric that predicts no ties cannot be right about the
    # gold's. By hand: gold 0 0 1 2, x 1 2 3 4: five pairs right, the tie wrong.
    x, gold = np.array([[1.0, 2.0, 3.0, 4.0]]), np.array([[0.0, 0.0, 1.0, 2.0]])
    assert pairwise_accuracy(x, gold, level="item") == pytest.approx(5 / 6)
    # With epsilon 1 the neighbours are ties: 0-0 becomes right, 2-3 and 3-4 wrong.
    assert pairwise_accuracy(x, gold, level="item", epsilon=1.0) == pytest.approx(4 / 6)


def _is_clear(x: np.ndarray, gold: np.ndarray, epsilon: float) -> bool:
    """Whether rounding of means decides no pair: no gold tied, none of the metric's at epsilon."""
    missing = np.isnan(x) | np.isnan(gold)
    means = [np.nanmean(np.where(missing, np.nan, one), axis=0) for one in (x, gold)]
    gaps, goals = (np.abs(np.subtract.outer(one, one))[np.triu_indices(4, 1)] for one in means)
    return bool((np.abs(gaps - epsilon) > 1e-9).all() and (goals > 1e-9).all())


@pytest.mark.parametrize("level", LEVELS)
@given(seed=seeds, epsilon=st.sampled_from([0.0, 0.1, 0.3, 1.0, 5.0]))
def test_accuracy_is_that_of_the_definition(level: Any, seed: int, epsilon: float) -> None:
    x, gold = make(seed)
    assume(level != "system" or _is_clear(x, gold, epsilon))
    found = pairwise_accuracy(x, gold, level=level, epsilon=epsilon)
    assert found == pytest.approx(direct(x, gold, level, epsilon), abs=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@given(seed=seeds)
def test_no_epsilon_is_better_than_the_calibrated_one(level: Any, seed: int) -> None:
    x, gold = make(seed)
    found = tie_calibrated_accuracy(x, gold, level=level)
    known = np.where(np.isnan(gold), np.nan, x)
    flat = known[~np.isnan(known)] if level != "system" else np.nanmean(known, axis=0)
    candidates = np.unique(np.abs(np.subtract.outer(flat, flat)).round(12))
    by_hand = [direct(x, gold, level, one) for one in (0.0, *candidates)]
    assert found.accuracy == pytest.approx(max(by_hand), abs=1e-12)
    assert found.accuracy == pytest.approx(direct(x, gold, level, found.epsilon), abs=1e-12)
    if level != "system":
        first = candidates[np.argmax(np.array(by_hand[1:]) >= max(by_hand) - 1e-12)]
        assert found.epsilon == pytest.approx(first, abs=1e-9)


def test_held_out_accuracy_is_measured_where_epsilon_was_not_chosen() -> None:
    x, gold = make(3, (30, 5))
    found = tie_calibrated_accuracy(x, gold, level="item", seed=2)
    order = np.random.default_rng(2).permutation(30)
    halves = order[:15], order[15:]
    chosen = [tie_calibrated_accuracy(x[h], gold[h], level="item").epsilon for h in halves]
    crossed = [
        pairwise_accuracy(x[h], gold[h], level="item", epsilon=epsilon)
        for h, epsilon in zip(halves, reversed(chosen), strict=True)
    ]
    assert found.held_out == pytest.approx(sum(crossed) / 2, abs=1e-12)


def test_calibrating_on_the_same_pairs_flatters() -> None:
    rng = np.random.default_rng(0)
    gaps = []
    for seed in range(60):
        gold, x = rng.integers(0, 3, (12, 4)).astype(float), rng.normal(size=(12, 4))
        found = tie_calibrated_accuracy(x, gold, level="item", seed=seed)
        gaps.append(found.accuracy - found.held_out)
    assert np.mean(gaps) > 0.01


@given(seed=seeds, unit=st.sampled_from([0.25, 1.0, 8.0]), origin=st.sampled_from([-4.0, 16.0]))
def test_unit_and_origin_do_not_matter(seed: int, unit: float, origin: float) -> None:
    rng = np.random.default_rng(seed)
    x, gold = rng.integers(-9, 9, (2, 6, 4)).astype(float)
    one = tie_calibrated_accuracy(x, gold, level="item")
    other = tie_calibrated_accuracy(x * unit + origin, gold, level="item")
    assert other.accuracy == pytest.approx(one.accuracy, abs=1e-12)
    assert other.epsilon == pytest.approx(one.epsilon * unit, abs=1e-9)


@pytest.mark.parametrize("level", LEVELS)
@given(seed=seeds)
def test_the_order_of_items_does_not_matter(level: Any, seed: int) -> None:
    x, gold = make(seed)
    order = np.random.default_rng(seed).permutation(len(x))
    one = tie_calibrated_accuracy(x, gold, level=level)
    other = tie_calibrated_accuracy(x[order], gold[order], level=level)
    assert (one.accuracy, one.epsilon) == pytest.approx((other.accuracy, other.epsilon), abs=1e-9)


@given(seed=seeds)
def test_the_metric_upside_down_is_right_where_it_was_wrong(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, gold = rng.permuted(np.tile(np.arange(5.0), (2, 6, 1)), axis=-1)
    right = pairwise_accuracy(x, gold, level="item")
    assert pairwise_accuracy(-x, gold, level="item") == pytest.approx(1 - right, abs=1e-12)


def test_a_constant_metric_is_right_about_the_ties() -> None:
    gold = np.array([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    found = pairwise_accuracy(np.full((2, 3), 0.1), gold, level="item")
    assert found == pytest.approx((1 / 3 + 0) / 2)


def test_values_that_differ_by_rounding_alone_are_a_tie() -> None:
    x = np.array([[0.1 + 0.2, 0.3, 0.5]])
    assert pairwise_accuracy(x, np.array([[1.0, 1.0, 2.0]]), level="item") == 1.0


def test_without_pairs_there_is_no_accuracy() -> None:
    x = np.array([[1.0, np.nan], [np.nan, 2.0]])
    found = tie_calibrated_accuracy(x, np.ones((2, 2)), level="item")
    assert np.isnan([found.accuracy, found.epsilon, found.held_out]).all()
    assert np.isnan(pairwise_accuracy(x, np.ones((2, 2)), level="item"))


def test_a_level_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingError, match="did you mean 'pooled'"):
        pairwise_accuracy(np.ones((2, 2)), np.ones((2, 2)), level="pool")  # type: ignore[arg-type]
