from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fabula.meta.raters.icc import intraclass, one_way, spearman_brown, two_way
from fakes.ratings import NAN, OWN, SHROUT_FLEISS

# pingouin 0.6.1, intraclass_corr: value, F, p, low, high. It calls ours ICC(2,·) and ICC(3,·) by
# McGraw and Wong's names, ICC(A,·) and ICC(C,·).
PINGOUIN = {
    "SHROUT_FLEISS": [
        (0.1657417684, 1.7946784922, 0.1647688083, -0.1329323249, 0.7225600623),
        (0.2897637795, 11.0272479564, 0.0001345665, 0.0187865134, 0.7610843696),
        (0.7148407148, 11.0272479564, 0.0001345665, 0.342464765, 0.94585826),
        (0.4427971337, 1.7946784922, 0.1647688083, -0.8844421552, 0.9124154203),
        (0.6200505476, 11.0272479564, 0.0001345665, 0.0711368153, 0.9272320402),
        (0.9093155424, 11.0272479564, 0.0001345665, 0.6756747138, 0.9858916782),
    ],
    "OWN": [
        (0.5835475578, 5.2037037037, 0.0010424469, 0.2176337264, 0.8576950664),
        (0.5789473684, 4.8240343348, 0.0022268359, 0.1938321242, 0.8578832365),
        (0.5603773585, 4.8240343348, 0.0022268359, 0.1773896125, 0.8489127077),
        (0.8078291815, 5.2037037037, 0.0010424469, 0.4548986169, 0.9475931904),
        (0.8048780488, 4.8240343348, 0.0022268359, 0.4190468791, 0.9476697408),
        (0.7927046263, 4.8240343348, 0.0022268359, 0.3928085312, 0.9439966384),
    ],
}
MATRICES = {"SHROUT_FLEISS": SHROUT_FLEISS, "OWN": OWN}


def values_of(matrix: np.ndarray) -> list[float]:
    return [icc.value for icc in intraclass(matrix)]


def test_the_example_of_shrout_and_fleiss_has_their_values() -> None:
    assert [round(value, 2) for value in values_of(SHROUT_FLEISS)] == [
        0.17, 0.29, 0.71, 0.44, 0.62, 0.91,
    ]  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
def test_values_tests_and_intervals_are_pingouins(name: str) -> None:
    found = intraclass(MATRICES[name])
    assert tuple(icc.kind for icc in found) == (
        "ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)",
    )  # fmt: skip
    for icc, expected in zip(found, PINGOUIN[name], strict=True):
        got = (icc.value, icc.f, icc.p, icc.low, icc.high)
        assert got == pytest.approx(expected, abs=1e-9)


ASPECTS = {
    "RE": "Relevance", "CH": "Coherence", "EM": "Empathy",
    "SU": "Surprise", "EG": "Engagement", "CX": "Complexity",
}  # fmt: skip


def test_icc1_of_hannas_ratings_is_its_notebooks(shared: Path) -> None:
    expected = json.loads((shared / "reference" / "hanna_expected.json").read_text("utf-8"))
    with gzip.open(shared / "data" / "hanna" / "hanna_stories.jsonl.gz", "rt") as file:
        ratings = [json.loads(line)["ratings"] for line in file]
    for short, aspect in ASPECTS.items():
        matrix = np.array([one[aspect] for one in ratings], dtype=float)
        table = expected["tables"]["tab3_icc2k"][short]
        single, two, three, _, two_k, _ = intraclass(matrix)
        assert single.value == pytest.approx(table["ICC1"], abs=5e-7)
        assert two.value == pytest.approx(table["ICC2"], abs=5e-7)
        assert three.value == pytest.approx(table["ICC3"], abs=5e-7)
        got = (two_k.value, two_k.low, two_k.high, two_k.f)
        assert got == pytest.approx([table[key] for key in ("ICC2k", "LB", "UB", "F")], abs=5e-7)


def test_unlike_numbers_of_ratings_go_by_k0() -> None:
    # Two stories, ratings 1 3 and 6 8 7: means 2 and 7, grand mean 5.
    # Between: 2·9 + 3·4 = 30 on 1; within: 2 + 2 = 4 on 3. k0 = 5 - 13/5 = 2.4.
    single, mean = one_way(np.array([[1, 3, NAN], [6, 8, 7]]))
    assert single.k == pytest.approx(2.4)
    assert single.value == pytest.approx((30 - 4 / 3) / (30 + 1.4 * 4 / 3))
    assert mean.value == pytest.approx(1 - (4 / 3) / 30)
    assert single.note == "unlike numbers of ratings; k is 2.4"


def test_stories_that_not_all_rated_are_left_out_of_the_two_way_forms_and_counted() -> None:
    gappy = np.vstack([OWN, [[1, NAN, 2], [NAN, NAN, 3]]])
    for found, whole in zip(two_way(gappy), two_way(OWN), strict=True):
        assert (found.value, found.left_out, found.stories) == (whole.value, 2, 10)


def test_no_story_rated_by_all_is_undefined_and_says_why() -> None:
    for icc in two_way(np.array([[1, NAN], [NAN, 2], [3, NAN]])):
        assert math.isnan(icc.value) and icc.note == "no two stories were rated by all raters"
    for icc in one_way(np.array([[1, NAN], [NAN, 2], [3, NAN]])):
        assert math.isnan(icc.value) and "two ratings" in icc.note


@pytest.mark.parametrize("level", [0.1, 3.0])
def test_ratings_that_are_all_the_same_are_undefined_not_one(level: float) -> None:
    for icc in intraclass(np.full((4, 3), level)):
        assert math.isnan(icc.value) and icc.note == "all ratings are the same"


def test_perfect_agreement_is_one() -> None:
    assert values_of(np.repeat([[1.0], [2.0], [4.0]], 3, axis=1)) == pytest.approx([1] * 6)


def test_strictness_alone_costs_agreement_but_not_consistency() -> None:
    found = {icc.kind: icc for icc in intraclass(np.array([[1.0, 2], [2, 3], [4, 5]]))}
    assert found["ICC(3,1)"].value == pytest.approx(1)
    assert found["ICC(2,1)"].value < 1 and "no interval" in found["ICC(2,1)"].note


def test_equal_means_leave_the_reliability_of_a_mean_undefined() -> None:
    _, mean = one_way(np.array([[1.0, 3], [3, 1], [2, 2]]))
    assert math.isnan(mean.value)


def test_spearman_and_brown_lengthen() -> None:
    assert spearman_brown(0.5, 2) == pytest.approx(2 / 3)
    assert spearman_brown(0.3, 1) == 0.3
    assert math.isnan(spearman_brown(-0.5, 3))


MATRIX = arrays(float, (7, 3), elements=st.integers(1, 5).map(float)).filter(
    lambda m: len(np.unique(m.mean(axis=1))) > 1 and (m.std(axis=1) > 0).sum() > 1
)


@given(MATRIX, st.permutations(range(7)), st.permutations(range(3)))
def test_the_order_of_stories_and_of_raters_does_not_matter(
    matrix: np.ndarray, stories: list[int], raters: list[int]
) -> None:
    assert values_of(matrix[stories][:, raters]) == pytest.approx(
        values_of(matrix), abs=1e-9, nan_ok=True
    )


@given(MATRIX, st.floats(-50, 50), st.floats(0.1, 10))
def test_shifting_and_stretching_all_ratings_changes_nothing(
    matrix: np.ndarray, shift: float, scale: float
) -> None:
    assert values_of(scale * matrix + shift) == pytest.approx(
        values_of(matrix), abs=1e-6, nan_ok=True
    )


@given(MATRIX, st.randoms())
def test_icc1_does_not_know_who_rated(matrix: np.ndarray, random: object) -> None:
    shuffled = np.array([random.sample(list(row), len(row)) for row in matrix])
    assert one_way(shuffled)[0].value == pytest.approx(one_way(matrix)[0].value, abs=1e-9)
