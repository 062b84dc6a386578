from __future__ import annotations

import math

import evalica
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fabula.meta.raters.alpha import MEASUREMENT_LEVELS, MeasurementLevel, krippendorff
from fabula.meta.resampling import value_of
from fakes.ratings import KRIPPENDORFF, NAN, OWN, SHROUT_FLEISS, THREE


def alpha(matrix: np.ndarray, level: MeasurementLevel) -> float:
    return value_of(krippendorff(matrix, level=level), len(matrix))


# Krippendorff (2011) prints .743, .815, .849 and .797 for the first; krippendorff 0.9.0 gives:
EXPECTED = [
    (KRIPPENDORFF, (0.743421052631579, 0.8153875037548814, 0.8491071428571428, 0.7974027747116121)),
    (THREE, (0.691358024691358, 0.8067214199413153, 0.8108448928121059, 0.8089436707842471)),
    (OWN, (0.1470588235294117, 0.5664265241304516, 0.5660847880299251, 0.47348326057954115)),
    (SHROUT_FLEISS, (-0.0648148148, 0.1090594132, 0.1473078504, 0.0819512786)),
]


@pytest.mark.parametrize(("matrix", "expected"), EXPECTED)
def test_values_are_those_of_the_krippendorff_package(
    matrix: np.ndarray, expected: tuple[float, ...]
) -> None:
    assert [alpha(matrix, level) for level in MEASUREMENT_LEVELS] == pytest.approx(
        expected, abs=1e-9
    )


def test_nominal_alpha_by_hand() -> None:
    # Units 1 1, 1 2, 2 2: coincidences 11: 2, 12 and 21: 1 each, 22: 2; margins 3 and 3.
    # Observed disagreement 2; expected 2·3·3 / 5 = 3.6; alpha = 1 - 2 / 3.6.
    assert alpha(np.array([[1, 1], [1, 2], [2, 2.0]]), "nominal") == pytest.approx(1 - 2 / 3.6)


@pytest.mark.parametrize("level", MEASUREMENT_LEVELS)
def test_one_category_is_undefined_not_one(level: MeasurementLevel) -> None:
    assert math.isnan(alpha(np.full((4, 3), 2.0), level))


@pytest.mark.parametrize("level", MEASUREMENT_LEVELS)
def test_stories_with_one_rating_say_nothing(level: MeasurementLevel) -> None:
    lonely = np.vstack([OWN, [[5, NAN, NAN], [NAN, NAN, NAN]]])
    assert alpha(lonely, level) == pytest.approx(alpha(OWN, level))
    assert math.isnan(alpha(np.array([[1, NAN], [NAN, 2]]), level))


def test_ratios_may_be_zero() -> None:
    assert alpha(np.array([[0.0, 0], [1, 1], [0, 1]]), "ratio") == pytest.approx(1 - 2 / 3.6)


@pytest.mark.parametrize("level", MEASUREMENT_LEVELS)
def test_a_weight_of_two_is_the_story_twice(level: MeasurementLevel) -> None:
    times = np.ones((2, len(OWN)))
    times[1, [0, 3]] = 2
    doubled = krippendorff(OWN, level=level)(times)[1]
    assert doubled == pytest.approx(alpha(np.vstack([OWN, OWN[[0, 3]]]), level))


MATRIX = arrays(float, (6, 3), elements=st.sampled_from([1.0, 2.0, 3.0, 4.0, NAN]))


@given(
    MATRIX,
    st.permutations(range(6)),
    st.permutations(range(3)),
    st.sampled_from(MEASUREMENT_LEVELS),
)
def test_the_order_of_stories_and_raters_does_not_matter(
    matrix: np.ndarray, stories: list[int], raters: list[int], level: MeasurementLevel
) -> None:
    shuffled = matrix[stories][:, raters]
    assert alpha(shuffled, level) == pytest.approx(alpha(matrix, level), abs=1e-9, nan_ok=True)


@given(MATRIX)
def test_ordinal_alpha_knows_only_the_order(matrix: np.ndarray) -> None:
    assert alpha(matrix**3, "ordinal") == pytest.approx(
        alpha(matrix, "ordinal"), abs=1e-9, nan_ok=True
    )


@given(MATRIX, st.floats(1e-9, 1e9))
def test_interval_alpha_knows_no_units(matrix: np.ndarray, unit: float) -> None:
    assert alpha(unit * matrix, "interval") == pytest.approx(
        alpha(matrix, "interval"), abs=1e-9, nan_ok=True
    )


def continuous() -> np.ndarray:
    rng = np.random.default_rng(2)
    values = rng.normal(size=(120, 1)) + rng.normal(size=(120, 3))
    values[::4, 2] = NAN
    return values


def test_continuous_values_have_an_ordinal_alpha_of_ranks() -> None:
    # Ranks of untied values are one apart, as ordinal distances between them are.
    values = continuous()
    there = ~np.isnan(values)
    ranks = np.full(values.shape, NAN)
    ranks[there] = values[there].argsort().argsort()
    assert alpha(values, "ordinal") == pytest.approx(alpha(ranks, "interval"))
    rounded = np.round(values, 1)
    assert alpha(rounded, "ordinal") == pytest.approx(alpha(values, "ordinal"), abs=0.01)


def test_continuous_values_have_no_nominal_alpha() -> None:
    assert math.isnan(alpha(continuous(), "nominal"))


@pytest.mark.parametrize("level", MEASUREMENT_LEVELS)
@pytest.mark.parametrize("matrix", [KRIPPENDORFF, THREE, OWN, SHROUT_FLEISS])
def test_values_are_those_of_evalica(matrix: np.ndarray, level: MeasurementLevel) -> None:
    # Its rows are observers and its columns units.
    expected = evalica.alpha(pd.DataFrame(matrix.T), distance=level).alpha
    assert alpha(matrix, level) == pytest.approx(expected, abs=1e-9)
