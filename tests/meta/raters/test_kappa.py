from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa, to_table

from fabula.meta.raters.kappa import Weighting, cohen, cohen_pairs, fleiss, gwet, light
from fabula.meta.resampling import value_of
from fakes.ratings import KRIPPENDORFF, NAN, OWN, THREE

WEIGHTINGS: tuple[Weighting, ...] = ("identity", "linear", "quadratic")


def of_fleiss(matrix: np.ndarray) -> float:
    return value_of(fleiss(matrix), len(matrix))


def of_gwet(matrix: np.ndarray, weighting: Weighting = "identity") -> float:
    return value_of(gwet(matrix, weighting=weighting, scale=(1, 5)), len(matrix))


def test_fleiss_is_statsmodels() -> None:
    counts, _ = aggregate_raters(OWN.astype(int))
    assert of_fleiss(OWN) == pytest.approx(fleiss_kappa(counts))


@pytest.mark.parametrize(
    ("matrix", "expected"), [(KRIPPENDORFF, 0.7611692754), (THREE, 0.6860195077)]
)
def test_fleiss_with_missing_ratings_is_that_of_irr_cac(
    matrix: np.ndarray, expected: float
) -> None:
    # irrCAC 0.4.4, CAC(...).fleiss(); Gwet (2014) prints .761 for the first.
    assert of_fleiss(matrix) == pytest.approx(expected, abs=1e-9)


# irrCAC 0.4.4, CAC(..., weights=..., categories=[1, 2, 3, 4, 5]).gwet(); Gwet (2014) prints an AC1
# of .775 for the first.
@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (KRIPPENDORFF, (0.7754440681, 0.8587391364, 0.9140007236)),
        (OWN, (0.1268191268, 0.3827160494, 0.6097560976)),
        (THREE, (0.7300049925, 0.8371868979, 0.9122855224)),
    ],
)
def test_gwet_is_that_of_irr_cac(matrix: np.ndarray, expected: tuple[float, ...]) -> None:
    found = [of_gwet(matrix, weighting) for weighting in WEIGHTINGS]
    assert found == pytest.approx(expected, abs=1e-9)


def test_gwets_chance_goes_by_the_categories_of_the_scale() -> None:
    # Two raters agree on 3 of 4 stories; shares are 5/8 and 3/8, chance is 2·5/8·3/8 / (C - 1).
    matrix = np.array([[1, 1], [1, 1], [2, 2], [1, 2.0]])
    spread = 2 * 5 / 8 * 3 / 8
    for scale, categories in ((None, 2), ((1, 3), 3)):
        chance = spread / (categories - 1)
        expected = (0.75 - chance) / (1 - chance)
        assert value_of(gwet(matrix, scale=scale), 4) == pytest.approx(expected)


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_cohen_is_statsmodels_and_light_is_its_mean(weighting: Weighting) -> None:
    wt = None if weighting == "identity" else weighting
    expected = []
    for i, j in ((0, 1), (0, 2), (1, 2)):
        joint, _ = to_table(OWN[:, [i, j]].astype(int) - 1, bins=5)
        expected.append(cohens_kappa(joint, wt=wt).kappa)
    assert cohen_pairs(OWN, weighting=weighting) == pytest.approx(expected)
    assert value_of(light(OWN, weighting=weighting), 10) == pytest.approx(np.mean(expected))


def test_cohen_is_that_of_scikit_learn() -> None:
    # scikit-learn 1.9.1, cohen_kappa_score of the first two raters.
    expected = {"identity": 0.25, "linear": 0.4155844155844156, "quadratic": 0.5945945945945945}
    for weighting, value in expected.items():
        found = cohen(OWN[:, 0], OWN[:, 1], weighting=weighting)
        assert value_of(found, 10) == pytest.approx(value)


def test_one_category_is_undefined_not_one() -> None:
    same = np.full((5, 2), 3.0)
    assert math.isnan(of_fleiss(same))
    assert math.isnan(value_of(light(same), 5))
    assert math.isnan(value_of(gwet(same), 5))


def test_on_a_scale_agreement_on_one_category_counts_for_gwet() -> None:
    assert of_gwet(np.full((5, 2), 3.0)) == pytest.approx(1)


def test_without_pairs_nothing_is_defined() -> None:
    lonely = np.array([[1, NAN], [NAN, 2], [2, NAN]])
    assert math.isnan(of_fleiss(lonely)) and math.isnan(of_gwet(lonely))
    assert cohen_pairs(lonely) == [] and math.isnan(value_of(light(lonely), 3))


def test_a_pair_without_a_kappa_is_left_out_of_lights() -> None:
    constant = np.column_stack([OWN[:, :2], np.full((10, 2), 3.0)])
    pairs = cohen_pairs(constant)
    assert sum(map(math.isnan, pairs)) == 1  # the two constant raters
    defined = [one for one in pairs if not math.isnan(one)]
    assert value_of(light(constant), 10) == pytest.approx(np.mean(defined))


def test_a_weight_of_two_is_the_story_twice() -> None:
    times = np.ones((1, len(OWN)))
    times[0, 4] = 2
    again = np.vstack([OWN, OWN[[4]]])
    for make in (fleiss, light, gwet):
        assert make(OWN)(times)[0] == pytest.approx(value_of(make(again), len(again)))


MATRIX = arrays(float, (6, 3), elements=st.sampled_from([1.0, 2.0, 4.0, NAN]))


@given(MATRIX, st.permutations(range(6)), st.permutations(range(3)))
def test_the_order_of_stories_and_raters_does_not_matter(
    matrix: np.ndarray, stories: list[int], raters: list[int]
) -> None:
    shuffled = matrix[stories][:, raters]
    for make in (fleiss, light, gwet):
        assert value_of(make(shuffled), 6) == pytest.approx(
            value_of(make(matrix), 6), abs=1e-9, nan_ok=True
        )


@given(MATRIX)
def test_no_coefficient_is_above_one(matrix: np.ndarray) -> None:
    for make in (fleiss, light, gwet):
        value = value_of(make(matrix), 6)
        assert math.isnan(value) or value <= 1 + 1e-9


# How often each of 14 raters put a story into each of five categories (Fleiss, 1971).
FLEISS_1971 = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def spread_counts(counts: list[list[int]]) -> np.ndarray:
    """Ratings that give these counts: a row a story, the categories 1, 2, …"""
    return np.array(
        [[k for k, n in enumerate(row, 1) for _ in range(n)] for row in counts], dtype=float
    )


def test_fleiss_of_counts_is_the_textbooks() -> None:
    found = of_fleiss(spread_counts(FLEISS_1971))
    assert found == pytest.approx(0.210, abs=5e-4)
    assert found == pytest.approx(fleiss_kappa(np.array(FLEISS_1971)))


def test_three_raters_of_a_crowd_by_hand() -> None:
    """Four texts, three raters, five grades: pairs agree in 3, 1, 1 and 0 of 3; of twelve grades
    six are 4, three are 5 and one each 1, 2, 3: chance is (36 + 9 + 3) / 144."""
    counts = [[0, 0, 0, 3, 0], [0, 0, 0, 1, 2], [1, 0, 0, 2, 0], [0, 1, 1, 0, 1]]
    observed, chance = 5 / 12, 48 / 144
    expected = (observed - chance) / (1 - chance)
    assert of_fleiss(spread_counts(counts)) == pytest.approx(expected)
