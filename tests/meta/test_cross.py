"""Values are those of scipy 1.17.1; the whole table also those of pandas 3.1.1."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fabula.meta import coefficients
from fabula.meta.coefficients import correlate, cross_correlate
from fakes.grids import scipy_value

NAMES = ["pearson", "spearman", "kendall", "kendall_c"]
each_coefficient = pytest.mark.parametrize("coefficient", NAMES)


def columns(seed: int, *shape: int) -> np.ndarray:
    """Made-up columns with ties."""
    return np.random.default_rng(seed).integers(0, 12, shape) / 4


def by_scipy(x: np.ndarray, y: np.ndarray, coefficient: str) -> np.ndarray:
    return np.array([[scipy_value(one, other, coefficient) for other in y] for one in x])


def gap(one: np.ndarray, other: np.ndarray) -> float:
    assert one.shape == other.shape
    assert np.array_equal(np.isnan(one), np.isnan(other))
    return float(np.nanmax(np.abs(one - other), initial=0.0))


@each_coefficient
def test_every_column_meets_every_other(coefficient: str) -> None:
    x, y = columns(1, 5, 9), columns(2, 3, 9)
    assert gap(cross_correlate(x, y, coefficient), by_scipy(x, y, coefficient)) < 1e-12


@each_coefficient
@pytest.mark.parametrize("missing", [False, True])
def test_axes_between_have_a_coefficient_each(coefficient: str, missing: bool) -> None:
    x, y = columns(3, 4, 6, 8), columns(4, 2, 6, 8)
    x[1, 2] = 0.25
    if missing:
        x[0, 3, 1] = y[1, 5, 2] = np.nan
    found = cross_correlate(x, y, coefficient)
    assert found.shape == (4, 2, 6)
    assert np.isnan(found[1, :, 2]).all()
    for item in range(6):
        assert gap(found[:, :, item], by_scipy(x[:, item], y[:, item], coefficient)) < 1e-12


@each_coefficient
@pytest.mark.parametrize("place", [0, 3])
def test_a_missing_value_changes_only_what_it_is_part_of(coefficient: str, place: int) -> None:
    x, y = columns(5, 4, 3, 7), columns(6, 2, 3, 7)
    whole = cross_correlate(x, y, coefficient)
    x[place, 1, 0] = np.nan
    found = cross_correlate(x, y, coefficient)
    changed = np.zeros(whole.shape, dtype=bool)
    changed[place, :, 1] = True
    assert np.allclose(found[~changed], whole[~changed], rtol=0, atol=1e-12)
    wanted = [scipy_value(x[place, 1], one, coefficient) for one in y[:, 1]]
    assert np.allclose(found[place, :, 1], wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("coefficient", NAMES[:3])
def test_pandas_has_the_same_table(coefficient: str) -> None:
    x = columns(7, 10, 60)
    frame = pandas.DataFrame(x.T).corr(method=coefficient)
    assert gap(cross_correlate(x, x, coefficient), frame.to_numpy()) < 1e-12


@pytest.mark.parametrize("length", [128, 129, 700, 3000, 3001])
def test_long_vectors_have_scipys_tau(length: int) -> None:
    x, y = columns(8, 3, length), columns(9, 2, length)
    x[1] = x[1] + y[0]
    assert gap(cross_correlate(x, y, "kendall"), by_scipy(x, y, "kendall")) < 1e-12


@pytest.mark.parametrize("length", [129, 3001])
def test_long_vectors_that_are_constant_are_undefined(length: int) -> None:
    x, y = columns(10, 2, length), columns(11, 2, length)
    x[0] = 0.1
    found = cross_correlate(x, y, "kendall")
    assert np.isnan(found[0]).all() and not np.isnan(found[1]).any()


def test_long_vectors_keep_the_axes_between() -> None:
    x, y = columns(12, 2, 3, 2, 150), columns(13, 4, 3, 2, 150)
    found = cross_correlate(x, y, "kendall")
    assert found.shape == (2, 4, 3, 2)
    for one, other in np.ndindex(3, 2):
        wanted = by_scipy(x[:, one, other], y[:, one, other], "kendall")
        assert gap(found[:, :, one, other], wanted) < 1e-12


def test_blocks_of_one_row_and_of_many_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = columns(14, 3, 200), columns(15, 2, 200)
    whole = cross_correlate(x, y, "kendall")
    monkeypatch.setattr(coefficients, "_BLOCK", 1)
    assert np.array_equal(cross_correlate(x, y, "kendall"), whole)


@each_coefficient
@pytest.mark.parametrize("length", [10, 200])
@pytest.mark.parametrize("scale", [1e-178, 5e-310, 5e307])
def test_tiny_and_huge_columns(coefficient: str, length: int, scale: float) -> None:
    x, y = columns(16, 3, length) - 1.5, columns(17, 2, length)
    assert gap(cross_correlate(x * scale, y, coefficient), by_scipy(x, y, coefficient)) < 1e-12


def test_neighbours_among_floats_are_no_ties() -> None:
    x = np.nextafter(1e-178, 1, dtype=float) * np.ones((1, 150))
    x[0, :75] = 1e-178
    y = np.arange(150.0)[None]
    assert cross_correlate(x, y, "kendall")[0, 0] == pytest.approx(
        scipy_value(x[0], y[0], "kendall")
    )


@pytest.mark.parametrize("coefficient", NAMES)
@given(arrays(np.float64, (5, 6), elements=st.integers(-4, 4).map(float)))
def test_the_table_is_that_of_the_pairs_one_by_one(coefficient: str, x: np.ndarray) -> None:
    found = cross_correlate(x[:3], x[3:], coefficient)
    wanted = correlate(x[:3, None], x[None, 3:], coefficient)
    assert gap(found, wanted) < 1e-12
    assert gap(cross_correlate(x[3:], x[:3], coefficient).T, found) < 1e-12
