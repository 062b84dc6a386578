"""What is particular to pooled draws; that they are those of a loop stands in test_bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.meta.coefficients import correlate
from fabula.meta.resampling import draw_counts
from fabula.meta.weighted import pooled_draws
from fakes.grids import made_up_grids, scipy_value

COEFFICIENTS = ["pearson", "spearman", "kendall"]
each_coefficient = pytest.mark.parametrize("coefficient", COEFFICIENTS)


def repeated(x: np.ndarray, y: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    times = counts.astype(int)
    return np.repeat(x, times, axis=0).ravel(), np.repeat(y, times, axis=0).ravel()


@each_coefficient
def test_counts_of_one_give_the_coefficient_itself(coefficient: str) -> None:
    metrics, gold = made_up_grids(1, missing=0.1)
    x, y = metrics.values, gold.values
    [found] = pooled_draws(x, y, coefficient, np.ones((1, 8)))
    for (one, other), value in np.ndenumerate(found):
        wanted = scipy_value(x[one].ravel(), y[other].ravel(), coefficient)
        assert value == pytest.approx(wanted, abs=1e-12)


@each_coefficient
def test_an_item_that_is_not_drawn_counts_for_nothing(coefficient: str) -> None:
    metrics, gold = made_up_grids(2)
    x, y = metrics.values, gold.values
    counts = np.array([[1.0, 1, 1, 1, 1, 1, 1, 0]])
    found = pooled_draws(x, y, coefficient, counts)
    x[:, 7] = 1e6
    assert np.allclose(pooled_draws(x, y, coefficient, counts), found, rtol=0, atol=1e-9)


@each_coefficient
def test_columns_with_gaps_of_their_own_go_by_their_own_stories(coefficient: str) -> None:
    metrics, gold = made_up_grids(3)
    x, y = metrics.values, gold.values
    x[0, :3] = x[1, 4, 2] = y[1, 5:] = np.nan
    counts = draw_counts(8, 20, 1)
    found = pooled_draws(x, y, coefficient, counts)
    for number, row in enumerate(counts):
        for one, other in np.ndindex(3, 2):
            wanted = scipy_value(*repeated(x[one], y[other], row), coefficient)
            assert found[number, one, other] == pytest.approx(wanted, abs=1e-9, nan_ok=True)


@each_coefficient
def test_columns_that_share_no_story_are_undefined(coefficient: str) -> None:
    metrics, gold = made_up_grids(4)
    x, y = metrics.values, gold.values
    x[0, :4] = y[0, 4:] = np.nan
    found = pooled_draws(x, y, coefficient, draw_counts(8, 10, 0))
    assert np.isnan(found[:, 0, 0]).all() and not np.isnan(found[:, 1:, 1]).any()


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e9])
def test_an_outlier_costs_the_draws_without_it_no_digits(outlier: float) -> None:
    metrics, gold = made_up_grids(5, (12, 5))
    x, y = metrics.values[:1], gold.values[:1]
    x[0, 3, 2] = outlier
    counts = draw_counts(12, 100, 0)
    found = pooled_draws(x, y, "pearson", counts)[:, 0, 0]
    wanted = [scipy_value(*repeated(x[0], y[0], row), "pearson") for row in counts]
    assert np.allclose(found, wanted, rtol=0, atol=1e-9)


@each_coefficient
def test_values_from_1e_178_to_1e_9_have_their_draws(coefficient: str) -> None:
    # As HANNA's BaryScore-SD-0.001: the largest value is far from all others, in one item.
    rng = np.random.default_rng(6)
    x, y = 10.0 ** rng.uniform(-178, -20, (1, 12, 5)), rng.normal(size=(1, 12, 5))
    x[0, 3, 2] = 1e-9
    counts = draw_counts(12, 100, 0)
    found = pooled_draws(x, y, coefficient, counts)[:, 0, 0]
    wanted = [float(correlate(*repeated(x[0], y[0], row), coefficient)) for row in counts]
    assert np.allclose(found, wanted, rtol=0, atol=1e-9)
