from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.meta.mean_intervals import Sample, mean_intervals
from factories import within


def sample(values: list[list[float]], units: list[str] | None = None) -> Sample:
    array = np.array(values, dtype=float)
    return Sample(units or [str(place) for place in range(len(array))], array)


def test_the_interval_of_many_values_is_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, size=(400, 1))
    [found] = mean_intervals([sample(values.tolist())], seed=0, resamples=4000)
    error = values.std() / math.sqrt(400)
    assert found.mean[0] == pytest.approx(values.mean())
    assert found.low[0] == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert found.high[0] == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_two_values_have_an_interval_from_one_to_the_other() -> None:
    # Both draws are the lower value in a quarter of all resamples, the upper one in another.
    [found] = mean_intervals([sample([[1.0], [3.0]])], seed=0)
    assert (found.mean[0], found.low[0], found.high[0]) == (2.0, 1.0, 3.0)


@pytest.mark.parametrize("value", [0.1, -7.3, 0.0, 1e9])
def test_constant_data_have_an_interval_without_width(value: float) -> None:
    [found] = mean_intervals([sample([[value]] * 7)], seed=0)
    assert (found.mean[0], found.low[0], found.high[0]) == (value, value, value)


def test_one_unit_has_a_mean_but_no_interval() -> None:
    [found] = mean_intervals([sample([[2.0], [4.0]], ["a", "a"])], seed=0)
    assert found.mean[0] == 3.0
    assert np.isnan([found.low[0], found.high[0]]).all()


def test_a_column_without_values_is_undefined_not_zero() -> None:
    [found] = mean_intervals([sample([[math.nan, 1.0], [math.nan, 2.0]])], seed=0)
    assert np.isnan([found.mean[0], found.low[0], found.high[0]]).all()
    assert found.mean[1] == 1.5


def test_missing_values_are_left_out_of_the_mean_and_of_every_resample() -> None:
    [found] = mean_intervals([sample([[4.0], [math.nan], [4.0], [math.nan]])], seed=0)
    assert (found.mean[0], found.low[0], found.high[0]) == (4.0, 4.0, 4.0)


def test_stories_of_one_item_are_drawn_together() -> None:
    apart = sample([[0.0], [0.0], [1.0], [1.0]] * 20)
    joined = Sample([str(place // 4 * 2 + place % 4 // 2) for place in range(80)], apart.values)
    [wide], [narrow] = mean_intervals([joined], seed=0), mean_intervals([apart], seed=0)
    widths = [float(one.high[0] - one.low[0]) for one in (wide, narrow)]
    # Half as many units: intervals wider by the root of two.
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(2), rel=0.15)


def test_systems_of_the_same_items_share_their_resamples() -> None:
    values = np.random.default_rng(3).normal(size=(30, 2)).tolist()
    one, other = mean_intervals([sample(values), sample(values)], seed=0)
    assert np.array_equal(one.low, other.low) and np.array_equal(one.high, other.high)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = [sample(np.random.default_rng(4).normal(size=(30, 1)).tolist())]
    lows = [mean_intervals(values, seed=seed)[0].low[0] for seed in (5, 5, 6)]
    assert lows[0] == lows[1] != lows[2]


def test_no_interval_reaches_below_what_there_is() -> None:
    values = np.where(np.random.default_rng(5).random((200, 1)) < 0.01, 0.1, 0.0)
    [found] = mean_intervals([sample(values.tolist())], seed=0)
    assert found.low[0] >= 0.0


def test_no_sample_gives_no_estimate() -> None:
    assert mean_intervals([], seed=0) == []


def test_ten_thousand_items_and_forty_columns_take_a_few_seconds() -> None:
    values = np.random.default_rng(6).normal(size=(10_000, 40))
    with within(20):
        [found] = mean_intervals([Sample([str(n) for n in range(10_000)], values)], seed=0)
    assert (found.high - found.low).mean() == pytest.approx(2 * 1.96 / 100, rel=0.05)
