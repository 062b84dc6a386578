from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import friedmanchisquare

from fabula.meta.raters.alpha import kendall_w
from fabula.meta.resampling import value_of
from fakes.ratings import NAN, OWN, SHROUT_FLEISS


def w(matrix: np.ndarray) -> float:
    return value_of(kendall_w(matrix), len(matrix))


@pytest.mark.parametrize("matrix", [OWN, SHROUT_FLEISS])
def test_w_is_friedmans_chi_square_over_raters_and_stories(matrix: np.ndarray) -> None:
    stories, raters = matrix.shape
    chi_square = friedmanchisquare(*matrix).statistic  # scipy corrects for ties, too
    assert w(matrix) == pytest.approx(chi_square / (raters * (stories - 1)))


def test_raters_of_one_order_have_a_w_of_one() -> None:
    assert w(np.array([[1, 10], [2, 20], [3, 35.0]])) == pytest.approx(1)


def test_two_raters_of_opposite_orders_have_a_w_of_zero() -> None:
    assert w(np.array([[1, 3], [2, 2], [3, 1.0]])) == pytest.approx(0)


def test_only_stories_that_all_rated_count() -> None:
    assert w(np.vstack([OWN, [[1, NAN, 5]]])) == pytest.approx(w(OWN))


def test_raters_who_tell_nothing_apart_leave_it_undefined() -> None:
    assert math.isnan(w(np.full((4, 3), 2.0)))
    assert math.isnan(w(np.array([[1, NAN], [NAN, 2]])))


def test_a_weight_of_two_is_the_story_twice() -> None:
    times = np.ones((1, len(OWN)))
    times[0, 4] = 2
    assert kendall_w(OWN)(times)[0] == pytest.approx(w(np.vstack([OWN, OWN[[4]]])))


def test_continuous_values_have_a_w_too() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(100, 1)) + rng.normal(size=(100, 4))
    chi_square = friedmanchisquare(*values).statistic
    assert w(values) == pytest.approx(chi_square / (4 * 99))
