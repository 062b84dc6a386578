from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.meta.resampling import (
    Estimate,
    estimate_correlation,
    estimate_mean,
    estimate_rows,
)
from fabula.replication.findings import StudyFinding, StudyTable
from fabula.replication.storyer.unseen_ratings import recall_at


def test_a_mean_leaves_out_what_is_missing_and_lies_in_its_interval() -> None:
    values = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 1.0, math.nan])
    found = estimate_mean(values, list("abcdefg"), resamples=500)
    assert found.value == pytest.approx(4 / 6)
    assert 0 <= found.low < found.value < found.high <= 1


def test_what_is_drawn_as_one_gives_a_wider_interval() -> None:
    values = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0, 1.0], 20)
    together = [str(at // 20) for at in range(120)]
    apart = [str(at) for at in range(120)]
    wide = estimate_mean(values, together, resamples=500)
    narrow = estimate_mean(values, apart, resamples=500)
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)


def test_of_four_groups_there_is_no_interval() -> None:
    found = estimate_mean(np.array([1.0, 2.0, 3.0, 4.0]), list("abcd"), resamples=50)
    assert found.value == 2.5 and math.isnan(found.low)
    other = estimate_rows(lambda rows: float(len(rows)), list("aabb"), resamples=50)
    assert other.value == 4 and math.isnan(other.high)


def test_nothing_known_is_undefined_not_zero() -> None:
    assert math.isnan(estimate_mean(np.array([math.nan]), ["a"], resamples=5).value)


def test_a_correlation_counts_the_rows_where_both_are_known() -> None:
    x = np.array([1.0, 2, 3, 4, 5, 6, math.nan])
    found = estimate_correlation(x, x * 2, list("abcdefg"), resamples=50)
    assert found.n == 6 and found.value == pytest.approx(1) and found.low == pytest.approx(1)


def test_recall_is_the_share_of_chosen_aspects_among_the_surest() -> None:
    values = np.array([[3.0, 2.0, 1.0, 0.0], [0.0, 1.0, 2.0, 3.0], [1.0, 1.0, 0.0, 0.0]])
    chosen = np.array(
        [[True, False, True, False], [True, True, False, False], [False, False, False, False]]
    )
    # Of the first story's two, one is among the two surest; of the second's none.
    assert recall_at(2, values, chosen)[:2].tolist() == [0.5, 0.0]
    assert recall_at(4, values, chosen)[:2].tolist() == [1.0, 1.0]
    assert math.isnan(recall_at(1, values, chosen)[2])


def test_what_is_undefined_is_null_in_json() -> None:
    table = StudyTable("t", "T", ("a", "b", "c"), [["x", Estimate(math.nan), math.inf]])
    [row] = StudyFinding("t", "T", (), [table]).plain()["tables"][0]["rows"]
    assert row == {"a": "x", "b": {"value": None, "low": None, "high": None}, "c": None}
