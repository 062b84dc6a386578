"""How the checks of learned metrics count: made-up columns, figures by hand."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.meta.resampling import Estimate
from fabula.replication.checks._learned import (
    Gain,
    correlate_columns,
    measure_pairs,
    measure_shares,
)

ITEMS = ["a", "a", "b", "b", "c", "c"]
GOLD = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
REVERSED = GOLD[::-1].copy()


def test_a_figure_is_the_mean_of_its_seeds() -> None:
    found = correlate_columns({"ours": np.stack([GOLD, REVERSED]), "other": GOLD}, GOLD, ITEMS)
    assert found.seeds["ours"] == pytest.approx((1.0, -1.0))
    assert found.value["ours"] == pytest.approx(0.0)
    assert found.value["other"] == pytest.approx(1.0)
    assert (found.n, found.items) == (6, 3)
    assert found.words("other") == "1.000 [1.000, 1.000]"
    assert found.each_seed("ours") == "seeds 1.000, -1.000"


def test_stories_without_gold_are_left_out() -> None:
    gold = np.array([1.0, 2.0, 3.0, 4.0, 5.0, np.nan])
    found = correlate_columns({"ours": GOLD}, gold, ITEMS)
    assert found.n == 5 and found.value["ours"] == pytest.approx(1.0)


def test_items_of_several_sizes_can_stand_side_by_side() -> None:
    found = correlate_columns({"ours": GOLD}, GOLD, ["a", "b", "b", "b", "c", "c"])
    assert found.value["ours"] == pytest.approx(1.0) and found.items == 3


def test_what_length_explains_is_taken_out() -> None:
    ours = np.array([1.0, 3.0, 2.0, 5.0, 4.0, 6.0])
    length = np.array([2.0, 1.0, 3.0, 4.0, 6.0, 5.0])
    found = correlate_columns({"ours": ours}, GOLD, ITEMS, given=length)
    # The ranks of metric and gold once length is regressed out of both.
    left = [one - np.polyval(np.polyfit(length, one, 1), length) for one in (ours, GOLD)]
    assert found.value["ours"] == pytest.approx(np.corrcoef(*left)[0, 1])


def test_a_gain_is_over_the_best_rival_whichever_way_round_it_points() -> None:
    columns = {"ours": GOLD, "weak": np.array([1.0, 3.0, 2.0, 4.0, 6.0, 5.0]), "turned": REVERSED}
    found = correlate_columns(columns, GOLD, ITEMS)
    gain = found.gain("ours", ["weak", "turned"])
    assert gain.rival == "turned" and gain.estimate.value == pytest.approx(0.0)
    assert not gain.is_sure
    assert found.gain("ours", ["weak"]).estimate.value > 0


def test_a_gain_is_sure_when_its_interval_lies_above_zero() -> None:
    assert Gain("words", Estimate(0.1, 0.01, 0.2)).is_sure
    assert not Gain("words", Estimate(0.1, -0.01, 0.2)).is_sure
    assert str(Gain("words", Estimate(0.1, 0.01, 0.2))) == "+0.100 [+0.010, +0.200] over words"


def test_a_tie_of_a_pair_counts_half() -> None:
    values = {"ours": np.array([2.0, 1.0, 1.0, 0.0]), "flat": np.zeros(4)}
    better, worse = np.array([0, 1, 3]), np.array([1, 2, 0])  # right, tied, wrong
    found = measure_pairs(values, better, worse, ["a", "a", "b"])
    assert found.value == pytest.approx({"ours": 0.5, "flat": 0.5})
    assert found.chance == 0.5 and found.n == 3 and found.items == 2
    # Item a has 1.5 of 2, item b 0 of 1: draws of two items give 0, .5 or .75.
    assert set(np.round(found.draws["ours"], 6)) == {0.0, 0.5, 0.75}


def test_shares_average_over_all_rows_not_over_items() -> None:
    found = measure_shares({"ours": np.array([1.0, 1.0, 1.0, 0.0])}, ["a", "a", "a", "b"])
    assert found.value["ours"] == pytest.approx(0.75)
