from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.meta import resampling
from fabula.meta.resampling import (
    Estimate,
    Sample,
    bootstrap_mean,
    count_blocks,
    draw_blocks,
    draw_counts,
    estimate,
    estimate_mean,
    estimate_means,
    estimate_rows,
    percentile_interval,
    resample_weighted,
    value_of,
)
from fakes.factories import within

# Darwin's maize, crossed less self-fertilised, in eighths of an inch (Fisher, 1935, chapter III).
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)
VALUES = np.random.default_rng(5).normal(3, 1, 40)


def sample(values: list[list[float]], units: list[str] | None = None) -> Sample:
    array = np.array(values, dtype=float)
    return Sample(units or [str(place) for place in range(len(array))], array)


def test_the_interval_of_many_values_is_that_of_the_normal_distribution() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, size=(400, 1))
    [found] = estimate_means([sample(values.tolist())], seed=0, resamples=4000)
    error = values.std() / math.sqrt(400)
    assert found.value[0] == pytest.approx(values.mean())
    assert found.low[0] == pytest.approx(values.mean() - 1.96 * error, abs=0.1 * error)
    assert found.high[0] == pytest.approx(values.mean() + 1.96 * error, abs=0.1 * error)


def test_two_values_have_an_interval_from_one_to_the_other() -> None:
    # Both draws are the lower value in a quarter of all resamples, the upper one in another.
    [found] = estimate_means([sample([[1.0], [3.0]])], seed=0)
    assert (found.value[0], found.low[0], found.high[0]) == (2.0, 1.0, 3.0)


@pytest.mark.parametrize("value", [0.1, -7.3, 0.0, 1e9])
def test_constant_data_have_an_interval_without_width(value: float) -> None:
    [found] = estimate_means([sample([[value]] * 7)], seed=0)
    assert (found.value[0], found.low[0], found.high[0]) == (value, value, value)


def test_one_unit_has_a_mean_but_no_interval() -> None:
    [found] = estimate_means([sample([[2.0], [4.0]], ["a", "a"])], seed=0)
    assert found.value[0] == 3.0
    assert np.isnan([found.low[0], found.high[0]]).all()


def test_a_column_without_values_is_undefined_not_zero() -> None:
    [found] = estimate_means([sample([[math.nan, 1.0], [math.nan, 2.0]])], seed=0)
    assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()
    assert found.value[1] == 1.5


def test_missing_values_are_left_out_of_the_mean_and_of_every_resample() -> None:
    [found] = estimate_means([sample([[4.0], [math.nan], [4.0], [math.nan]])], seed=0)
    assert (found.value[0], found.low[0], found.high[0]) == (4.0, 4.0, 4.0)


def test_stories_of_one_item_are_drawn_together() -> None:
    apart = sample([[0.0], [0.0], [1.0], [1.0]] * 20)
    joined = Sample([str(place // 4 * 2 + place % 4 // 2) for place in range(80)], apart.values)
    [wide], [narrow] = estimate_means([joined], seed=0), estimate_means([apart], seed=0)
    widths = [float(one.high[0] - one.low[0]) for one in (wide, narrow)]
    # Half as many units: intervals wider by the root of two.
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(2), rel=0.15)


def test_systems_of_the_same_items_share_their_resamples() -> None:
    values = np.random.default_rng(3).normal(size=(30, 2)).tolist()
    one, other = estimate_means([sample(values), sample(values)], seed=0)
    assert np.array_equal(one.low, other.low) and np.array_equal(one.high, other.high)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    values = [sample(np.random.default_rng(4).normal(size=(30, 1)).tolist())]
    lows = [estimate_means(values, seed=seed)[0].low[0] for seed in (5, 5, 6)]
    assert lows[0] == lows[1] != lows[2]


def test_no_interval_reaches_below_what_there_is() -> None:
    values = np.where(np.random.default_rng(5).random((200, 1)) < 0.01, 0.1, 0.0)
    [found] = estimate_means([sample(values.tolist())], seed=0)
    assert found.low[0] >= 0.0


def test_no_sample_gives_no_estimate() -> None:
    assert estimate_means([], seed=0) == []


def test_ten_thousand_items_and_forty_columns_take_a_few_seconds() -> None:
    values = np.random.default_rng(6).normal(size=(10_000, 40))
    with within(20):
        [found] = estimate_means([Sample([str(n) for n in range(10_000)], values)], seed=0)
    assert (found.high - found.low).mean() == pytest.approx(2 * 1.96 / 100, rel=0.05)


def test_the_interval_lies_near_that_of_a_normal_mean() -> None:
    low, high = bootstrap_mean(DARWIN, resamples=50_000).interval
    error = DARWIN.std() / 15**0.5
    assert low == pytest.approx(DARWIN.mean() - 1.96 * error, abs=2)
    assert high == pytest.approx(DARWIN.mean() + 1.96 * error, abs=2)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    trials = [rng.normal(0.3, 1, 40) for _ in range(600)]
    intervals = [
        bootstrap_mean(trial, resamples=600, seed=i).interval for i, trial in enumerate(trials)
    ]
    share = np.mean([low <= 0.3 <= high for low, high in intervals])
    # Percentiles run a little short: by theory some 94 in 100 with forty normal differences.
    assert 0.91 <= share <= 0.97


@pytest.mark.parametrize("count", [8, 30])
def test_the_other_way_round_negates_the_interval(count: int) -> None:
    differences = np.random.default_rng(2).normal(0.2, 1, count)
    low, high = bootstrap_mean(differences).interval
    assert bootstrap_mean(-differences).interval == pytest.approx((-high, -low), abs=1e-12)


def test_blocks_change_no_draw_and_seeds_do(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, counts = bootstrap_mean(DARWIN, seed=3).interval, draw_counts(15, 400, 3)
    assert (
        whole == bootstrap_mean(DARWIN, seed=3).interval != bootstrap_mean(DARWIN, seed=4).interval
    )
    monkeypatch.setattr(resampling, "_CELLS", 15 * 128)
    assert bootstrap_mean(DARWIN, seed=3).interval == whole
    assert np.array_equal(draw_counts(15, 400, 3), counts)


def test_counts_are_those_of_the_drawn_units() -> None:
    [drawn], [counts] = draw_blocks(7, 50, 1), count_blocks(7, 50, 1)
    assert counts.tolist() == [np.bincount(row, minlength=7).tolist() for row in drawn]
    assert (counts.sum(axis=1) == 7).all()


def mean(weights: np.ndarray) -> np.ndarray:
    return weights @ VALUES / weights.sum(axis=1)


def test_weights_give_the_interval_that_drawing_gives() -> None:
    draws = resample_weighted({"mean": mean}, 40, resamples=4000, seed=2)["mean"]
    found = estimate(value_of(mean, 40), draws)
    assert found.interval == pytest.approx(bootstrap_mean(VALUES, resamples=4000, seed=2).interval)
    assert found.value == pytest.approx(VALUES.mean())


def test_undefined_draws_are_counted_and_left_out() -> None:
    def sometimes(weights: np.ndarray) -> np.ndarray:
        return np.where(weights[:, 0] > 0, 1.0, np.nan)

    draws = resample_weighted({"it": sometimes}, 5, resamples=400, seed=0)["it"]
    found = estimate(1.0, draws)
    assert found.interval == (1, 1)
    # A story is not drawn with probability (4/5)^5 = 0.33.
    assert 100 < found.undefined < 165


@pytest.mark.parametrize(("undefined", "ends"), [(5, (1.0, 1.0)), (6, None)])
def test_with_more_than_half_of_the_draws_undefined_there_is_no_interval(
    undefined: int, ends: tuple[float, float] | None
) -> None:
    draws = np.array([math.nan] * undefined + [1.0] * (10 - undefined))
    low, high = percentile_interval(draws)
    assert (low, high) == ends if ends else np.isnan([low, high]).all()
    assert estimate(1.0, draws).undefined == undefined


def test_rows_of_a_unit_are_drawn_together_whatever_the_figure() -> None:
    values, units = np.repeat([0.0, 1.0, 2.0, 4.0, 8.0], 3), list("aaabbbcccdddeee")
    by_rows = estimate_rows(lambda rows: float(values[rows].mean()), units, resamples=300)
    by_sums = estimate_mean(values, units, resamples=300)
    assert by_rows.interval == pytest.approx(by_sums.interval) and by_rows.n == by_sums.n == 15


def test_an_estimate_of_nothing_is_undefined_not_zero() -> None:
    assert Estimate().plain() == {"value": None, "low": None, "high": None}
    assert math.isnan(estimate_mean(np.array([math.nan]), ["a"], resamples=5).value)


def test_very_many_units_are_drawn_in_groups_of_a_size() -> None:
    groups = resampling.group_units(70_001, seed=3)
    assert sorted(np.unique(np.bincount(groups))) == [7, 8] and groups.max() == 9_999
    assert groups.tolist() == resampling.group_units(70_001, seed=3).tolist()
    assert groups.tolist() != resampling.group_units(70_001, seed=4).tolist()
    assert resampling.group_units(15_000, seed=3).tolist() == list(range(15_000))


def test_groups_give_the_interval_that_units_give(monkeypatch: pytest.MonkeyPatch) -> None:
    # Skewed values, a tenth of them missing; the normal interval of a mean is known.
    rng = np.random.default_rng(8)
    values = rng.exponential(2.0, size=(60_000, 1))
    values[rng.random(60_000) < 0.1] = np.nan
    units = [str(place) for place in range(60_000)]
    [found] = estimate_means([Sample(units, values)], seed=0, resamples=2000)
    known = values[~np.isnan(values)]
    error = known.std() / math.sqrt(len(known))
    assert found.value[0] == pytest.approx(known.mean(), rel=1e-12) and found.n[0] == len(known)
    assert found.low[0] == pytest.approx(known.mean() - 1.96 * error, abs=0.15 * error)
    assert found.high[0] == pytest.approx(known.mean() + 1.96 * error, abs=0.15 * error)
    mean = bootstrap_mean(known, resamples=2000)
    assert mean.value == known.mean()
    assert mean.high - mean.low == pytest.approx(2 * 1.96 * error, rel=0.08)


def test_groups_of_one_and_of_two_units_give_the_interval_that_units_give() -> None:
    # Just above the bound, where some groups are twice as large as others.
    values = np.random.default_rng(9).exponential(2.0, size=resampling.MOST_UNITS + 1)
    sizes = np.bincount(resampling.group_units(len(values), seed=0))
    assert sorted(np.unique(sizes)) == [1, 2]
    error = values.std() / math.sqrt(len(values))
    mean = bootstrap_mean(values, resamples=4000)
    assert mean.high - mean.low == pytest.approx(2 * 1.96 * error, rel=0.05)
