from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.meta.bootstrap import gains_over
from fabula.meta.resampling import percentile_interval

NAN = math.nan


def gains(value: list[float], trivial: list[bool], draws: np.ndarray | None = None):
    column = np.array(value)[:, None]
    every = np.repeat(column[None], 4, axis=0) if draws is None else draws
    found = gains_over(column, every, np.array(trivial))
    return [part[:, 0] for part in (found.value, found.low, found.high)]


def test_a_gain_is_the_difference_to_the_best_baseline() -> None:
    gain, low, high = gains([0.5, 0.2, 0.3, 0.1], [False, False, True, True])
    assert np.allclose(gain, [0.2, -0.1, NAN, NAN], equal_nan=True)
    # Draws that are all the same have an interval of no width.
    assert np.allclose(low, gain, equal_nan=True) and np.allclose(high, gain, equal_nan=True)


def test_the_best_baseline_is_the_largest_whatever_its_sign() -> None:
    gain, *_ = gains([0.5, 0.3, -0.4], [False, True, True])
    assert gain[0] == pytest.approx(0.5 - 0.4)


def test_a_metric_that_is_wrong_throughout_gains_nothing() -> None:
    assert gains([-0.9, 0.3], [False, True])[0][0] == pytest.approx(-1.2)


def test_a_baseline_that_is_undefined_is_no_rival() -> None:
    assert gains([0.5, NAN, 0.1], [False, True, True])[0][0] == pytest.approx(0.4)


@pytest.mark.parametrize("trivial", [[False, False], [False, True]])
def test_without_a_defined_baseline_there_is_no_gain(trivial: list[bool]) -> None:
    assert np.isnan(gains([0.5, NAN], trivial)).all()


def test_where_all_are_baselines_there_is_no_gain() -> None:
    assert np.isnan(gains([0.5, 0.2], [True, True])).all()


def test_an_undefined_metric_has_no_gain() -> None:
    assert np.isnan([one[0] for one in gains([NAN, 0.2], [False, True])]).all()


def test_the_interval_is_of_differences_within_the_same_draws() -> None:
    rng = np.random.default_rng(1)
    shared = rng.normal(size=200)
    # The metric is always 0.1 better than a baseline that is turned, whatever the draw.
    draws = np.stack([0.4 + shared, -(0.3 + shared)], axis=1)[..., None]
    gain, low, high = gains([0.4, -0.3], [False, True], draws)
    assert (gain[0], low[0], high[0]) == pytest.approx((0.1, 0.1, 0.1))


def test_every_gold_column_has_its_own_best_baseline() -> None:
    value = np.array([[0.5, 0.5], [0.3, 0.0], [0.1, 0.2]])
    rng = np.random.default_rng(2)
    draws = value + rng.normal(size=(50, 3, 2)) / 10
    found = gains_over(value, draws, np.array([False, True, True]), alpha=0.2)
    assert np.allclose(found.value[0], [0.2, 0.3])
    for column, best in enumerate((1, 2)):
        ends = percentile_interval(draws[:, 0, column] - draws[:, best, column], 0.2)
        assert found[0, column].interval == pytest.approx(tuple(map(float, ends)))
