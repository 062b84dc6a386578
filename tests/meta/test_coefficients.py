"""Values are those of scipy 1.17.1 unless arithmetic is shown."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fabula.meta.arrays import average_ranks, round_digits
from fabula.meta.coefficients import COEFFICIENTS, correlate
from fakes.grids import scipy_value

NAN = math.nan
NAMES = list(COEFFICIENTS)
each_coefficient = pytest.mark.parametrize("coefficient", NAMES)


def whole(low: int = -9, high: int = 9) -> st.SearchStrategy[np.ndarray]:
    """Two vectors of the same length whose values are whole numbers, with ties."""
    sizes = st.integers(2, 12)
    elements = st.integers(low, high).map(float)
    return sizes.flatmap(lambda n: arrays(np.float64, (2, n), elements=elements))


def equal(one: object, other: object, gap: float = 1e-12) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=gap, equal_nan=True))


@each_coefficient
@given(whole())
def test_ties_count_as_scipy_counts_them(coefficient: str, pair: np.ndarray) -> None:
    x, y = pair
    assert equal(correlate(x, y, coefficient), scipy_value(x, y, coefficient))


def test_kendall_by_hand() -> None:
    # Pairs of (1,1) (2,3) (3,2) (3,4): 4 agree, 1 disagrees, 1 is a tie of x alone.
    x, y = np.array([1.0, 2, 3, 3]), np.array([1.0, 3, 2, 4])
    assert correlate(x, y, "kendall") == pytest.approx((4 - 1) / math.sqrt(5 * 6))
    # Of 3 and 4 values 3 is the least: 2 · 3 · 3 / (4² · 2).
    assert correlate(x, y, "kendall_c") == pytest.approx(18 / 32)


def test_spearman_and_pearson_by_hand() -> None:
    x, y = np.array([1.0, 2, 9]), np.array([1.0, 5, 3])
    # Differences from the mean: (-3, -2, 5) and (-2, 2, 0); of the ranks (-1, 0, 1) and (-1, 1, 0).
    assert correlate(x, y) == pytest.approx(2 / math.sqrt(38 * 8))
    assert correlate(x, y, "spearman") == pytest.approx(1 / 2)


@each_coefficient
@given(pair=whole())
def test_either_may_come_first(coefficient: str, pair: np.ndarray) -> None:
    x, y = pair
    assert equal(correlate(x, y, coefficient), correlate(y, x, coefficient))


@each_coefficient
@given(pair=whole())
def test_negating_one_flips_the_sign(coefficient: str, pair: np.ndarray) -> None:
    x, y = pair
    assert equal(correlate(-x, y, coefficient), -correlate(x, y, coefficient))


@each_coefficient
@given(whole(), st.integers(1, 1000), st.integers(-1000, 1000))
def test_neither_unit_nor_origin_matters(
    coefficient: str, pair: np.ndarray, scale: int, shift: int
) -> None:
    x, y = pair
    assert equal(correlate(scale * x + shift, y, coefficient), correlate(x, y, coefficient))


@each_coefficient
@given(whole(), st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(
    coefficient: str, pair: np.ndarray, chance: object
) -> None:
    order = list(range(pair.shape[1]))
    chance.shuffle(order)  # type: ignore[attr-defined]
    x, y = pair[:, order]
    assert equal(correlate(x, y, coefficient), correlate(*pair, coefficient))


@each_coefficient
@given(whole())
def test_values_lie_between_minus_one_and_one(coefficient: str, pair: np.ndarray) -> None:
    value = float(correlate(*pair, coefficient))
    assert math.isnan(value) or -1 <= value <= 1
    if len(set(pair[0])) == pair.shape[1]:
        assert correlate(pair[0], pair[0], coefficient) == pytest.approx(1)


@each_coefficient
@pytest.mark.parametrize("constant", [0.0, 0.1, -1e300, 3e-310])
def test_a_constant_is_undefined_not_zero(coefficient: str, constant: float) -> None:
    x, y = np.full(7, constant), np.arange(7.0)
    assert math.isnan(correlate(x, y, coefficient)) and math.isnan(correlate(y, x, coefficient))
    assert math.isnan(correlate(x, x, coefficient))


@each_coefficient
@pytest.mark.parametrize("left", [0, 1])
def test_fewer_than_two_pairs_are_undefined(coefficient: str, left: int) -> None:
    x = np.array([1.0] * left + [NAN] * 4)
    assert math.isnan(correlate(x, np.arange(left + 4.0), coefficient))
    assert math.isnan(correlate(np.ones(left), np.ones(left), coefficient))


@each_coefficient
def test_a_missing_value_takes_its_partner_with_it(coefficient: str) -> None:
    x = np.array([1.0, NAN, 3, 9, 4, 4, NAN])
    y = np.array([2.0, 5, 1, NAN, 7, 8, NAN])
    kept = correlate(np.array([1.0, 3, 4, 4]), np.array([2.0, 1, 7, 8]), coefficient)
    assert correlate(x, y, coefficient) == pytest.approx(kept, abs=1e-15)
    assert correlate(x, y, coefficient) == pytest.approx(scipy_value(x, y, coefficient), abs=1e-12)


@each_coefficient
@pytest.mark.parametrize("missing", [False, True])
def test_stacks_are_broadcast_against_each_other(coefficient: str, missing: bool) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, (4, 1, 9)) / 2, rng.integers(0, 5, (3, 9)) / 2
    if missing:
        x[2, 0, 4] = NAN
    found = correlate(x, y, coefficient)
    assert found.shape == (4, 3)
    wanted = [[scipy_value(one[0], other, coefficient) for other in y] for one in x]
    assert equal(found, wanted)


@each_coefficient
@pytest.mark.parametrize("scale", [1e-178, 1e-300, 5e-310, 1e170, 1e307])
def test_tiny_and_huge_values_correlate_like_usual_ones(coefficient: str, scale: float) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(1, 9, 20) / 8, rng.integers(1, 9, 20) / 8
    assert equal(correlate(x * scale, y, coefficient), scipy_value(x, y, coefficient))


@each_coefficient
def test_values_from_1e_178_to_1e_9_in_one_vector_have_their_coefficient(coefficient: str) -> None:
    rng = np.random.default_rng(3)
    x, y = 10.0 ** rng.uniform(-178, -9, 10), rng.normal(size=10)
    assert equal(correlate(x, y, coefficient), scipy_value(x * 1e9, y, coefficient))


@pytest.mark.parametrize("origin", [1e6, 1e9, 1e12])
def test_a_far_origin_costs_no_digits(origin: float) -> None:
    # Both x and x + origin are whole numbers that floats hold exactly.
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 10, 20).astype(float), rng.integers(0, 10, 20).astype(float)
    assert correlate(x + origin, y) == pytest.approx(scipy_value(x, y, "pearson"), abs=1e-10)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(1, 9)), elements=st.floats(-3, 3))
)
def test_ranks_are_scipys(x: np.ndarray) -> None:
    assert np.array_equal(average_ranks(x), scipy.stats.rankdata(x, axis=-1))


def test_what_is_missing_has_no_rank_and_changes_no_other() -> None:
    ranks = average_ranks(np.array([5.0, NAN, 2, 5, NAN]))
    assert np.array_equal(ranks, [2.5, NAN, 1, 2.5, NAN], equal_nan=True)


def test_settled_values_are_equal_where_they_differ_by_rounding() -> None:
    one, other = 0.1 + 0.2, 0.3
    assert one != other
    assert len(set(round_digits(np.array([one, other])))) == 1
    kept = np.array([0.0, -1 / 3, 1e-178, 1e300, 123456789012.0])
    assert np.allclose(round_digits(kept), kept, rtol=1e-11, atol=0)
    assert np.isnan(round_digits(np.array([NAN])))[0]


def test_settled_values_keep_what_differs_in_the_eleventh_digit() -> None:
    pair = round_digits(np.array([1.0, 1.0 + 1e-10]) * 1e-178)
    assert pair[0] < pair[1]
