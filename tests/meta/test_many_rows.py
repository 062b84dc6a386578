"""Tables of very many rows: no square of their number, in memory or in time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.stats import kendalltau

from fabula.core.errors import SettingError
from fabula.meta import resampling, weighted
from fabula.meta.accuracies import pairwise_accuracy
from fabula.meta.coefficients import Discordance, cross_correlate, kendall, kendall_c
from fabula.meta.levels import correlate_pairs
from fabula.meta.raters.ceiling import noise_ceiling
from fabula.meta.resampling import draw_counts, estimate_mean
from fabula.meta.weighted import pooled_draws

RNG = np.random.default_rng(15)


def columns(count: int) -> list[np.ndarray]:
    """Without ties, with some, and with many."""
    return [
        RNG.normal(size=count),
        RNG.integers(0, count // 2, count).astype(float),
        RNG.integers(1, 6, count).astype(float),
    ]


def peak_megabytes(call) -> float:
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


@pytest.mark.parametrize("count", [129, 800, 3500])
def test_taus_of_long_vectors_are_those_of_scipy(count):
    for x in columns(count):
        for y in columns(count):
            assert kendall(x, y) == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
            c = kendalltau(x, y, variant="c").statistic
            assert kendall_c(x, y) == pytest.approx(c, abs=1e-12)


def test_tau_of_twenty_thousand_rows_takes_few_megabytes():
    x, _, y = columns(20_000)
    values = []
    # All pairs would take 200 MB of signs for either side.
    assert peak_megabytes(lambda: values.append(kendall(x, y))) < 20
    assert values[0] == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)
    table = cross_correlate(np.stack([x, -x]), y[None], "kendall")
    assert table[:, 0] == pytest.approx([values[0], -values[0]], abs=1e-12)
    pairs = correlate_pairs(
        x.reshape(1, -1, 1), y.reshape(1, -1, 1), level="pooled", coefficient="kendall"
    )
    assert pairs == pytest.approx(values)


def test_long_constants_have_no_tau():
    x = np.ones(500)
    assert np.isnan(kendall(x, np.arange(500.0))) and np.isnan(kendall_c(x, np.arange(500.0)))


def test_discordant_pairs_are_those_of_the_definition():
    for x in columns(60):
        for y in columns(60):
            wrong = sum(
                (x[i] - x[j]) * (y[i] - y[j]) < 0 for i in range(60) for j in range(i + 1, 60)
            )
            assert Discordance(x, y).count() == wrong == Discordance(y, x).count()


def test_draws_counted_by_sorting_are_those_of_all_pairs(monkeypatch):
    x = np.stack(columns(90)).reshape(3, 30, 3)
    y = np.stack(columns(90)[:2]).reshape(2, 30, 3)
    x[0, 4, 1] = np.nan
    counts = draw_counts(30, 25, 7)
    direct = pooled_draws(x, y, "kendall", counts)
    monkeypatch.setattr(weighted, "_MANY", 10)
    assert np.array_equal(pooled_draws(x, y, "kendall", counts), direct)
    monkeypatch.setattr(weighted, "_CELLS", 200)
    assert np.array_equal(pooled_draws(x, y, "kendall", counts), direct)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
def test_draws_of_very_many_stories_are_made_a_few_at_a_time(coefficient):
    x, y = RNG.normal(size=(1, 30_000, 1)), RNG.integers(1, 6, (1, 30_000, 1)).astype(float)
    counts = draw_counts(30_000, 8, 0)
    assert peak_megabytes(lambda: pooled_draws(x, y, coefficient, counts)) < 60


def test_draws_in_blocks_are_the_same_draws(monkeypatch):
    values, units = RNG.normal(size=40), [f"{i // 2}" for i in range(40)]
    whole = estimate_mean(values, units, resamples=50)
    monkeypatch.setattr(resampling, "_CELLS", 60)
    assert estimate_mean(values, units, resamples=50).interval == pytest.approx(whole.interval)


def test_pairs_beyond_what_memory_holds_are_refused_by_name():
    x = RNG.normal(size=(7000, 1))
    with pytest.raises(SettingError, match="24,496,500 pairs are more than the limit"):
        pairwise_accuracy(x, x, level="pooled")


def test_ratings_of_one_rater_have_no_ceiling_and_cost_nothing():
    ratings = RNG.normal(size=(1, 50_000, 1))

    def correlate(a, b):
        raise AssertionError("there is nothing to correlate")

    assert np.isnan(noise_ceiling(ratings, correlate).ceiling)


def test_a_ceiling_of_many_stories_is_split_a_block_at_a_time(monkeypatch):
    truth = RNG.normal(size=(1, 400, 1))
    ratings = truth + RNG.normal(size=(4, 400, 1))

    def correlate(a, b):
        return correlate_pairs(a, b, level="pooled", coefficient="pearson")

    whole = noise_ceiling(ratings, correlate, splits=40)
    monkeypatch.setattr("fabula.meta.raters.ceiling._CELLS", 5000)
    assert noise_ceiling(ratings, correlate, splits=40).ceiling == pytest.approx(
        whole.ceiling, abs=0.02
    )
