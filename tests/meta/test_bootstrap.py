"""Draws are compared with a direct loop over scipy 1.17.1: items repeated as often as drawn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from fabula.meta import resampling
from fabula.meta.bootstrap import resample_correlations
from fabula.meta.coefficients import correlate
from fabula.meta.levels import LEVELS
from fabula.meta.resampling import count_blocks, draw_counts, percentile_interval
from fakes.grids import correlation_intervals, made_up_grids, make_grid, scipy_value

DRAWS = 25
COEFFICIENTS = ["pearson", "spearman", "kendall"]


def looped(x: np.ndarray, y: np.ndarray, level: str, coefficient: str) -> float:
    """One draw, as the definition has it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # means of nothing
        if level == "pooled":
            return scipy_value(x.ravel(), y.ravel(), coefficient)
        if level == "system":
            return scipy_value(np.nanmean(x, 0), np.nanmean(y, 0), coefficient)
        pairs = zip(x, y, strict=True)
        return float(np.nanmean([scipy_value(*pair, coefficient) for pair in pairs]))


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, "kendall_c"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_draws_are_those_of_a_direct_loop(level: str, coefficient: str, missing: float) -> None:
    if (level, coefficient) == ("pooled", "kendall_c"):
        pytest.skip("has no intervals: see the next test")
    metrics, gold = made_up_grids(1, missing=missing)
    found = resample_correlations(
        metrics, gold, level=level, coefficient=coefficient, resamples=DRAWS, seed=3
    )
    assert found.shape == (DRAWS, 3, 2)
    for draw, counts in zip(found, draw_counts(8, DRAWS, 3).astype(int), strict=True):
        for (one, other), value in np.ndenumerate(draw):
            x, y = metrics.values[one], gold.values[other]
            drawn = np.repeat(x, counts, axis=0), np.repeat(y, counts, axis=0)
            wanted = looped(*drawn, level, coefficient)
            assert value == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_pooled_tau_c_has_no_interval() -> None:
    grids = made_up_grids(1)
    low, high = correlation_intervals(*grids, level="pooled", coefficient="kendall_c")
    assert np.isnan(low).all() and np.isnan(high).all()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_both_draws_items_and_systems(level: str, coefficient: str, missing: float) -> None:
    metrics, gold = made_up_grids(2, missing=missing)
    how = {"level": level, "coefficient": coefficient, "resamples": 4, "seed": 5}
    found = resample_correlations(metrics, gold, drawn="both", **how)
    rng = np.random.default_rng(5)
    for draw in found:
        rows, columns = rng.integers(8, size=8), rng.integers(5, size=5)
        for (one, other), value in np.ndenumerate(draw):
            drawn = [g.values[k][rows][:, columns] for g, k in ((metrics, one), (gold, other))]
            wanted = looped(*drawn, level, coefficient)
            assert value == pytest.approx(wanted, abs=1e-9, nan_ok=True)


def test_drawing_systems_too_widens_the_interval_of_the_system_level() -> None:
    rng = np.random.default_rng(8)
    quality = rng.normal(size=(1, 1, 8))
    x, y = (make_grid(quality + rng.normal(size=(1, 60, 8)) / 2) for _ in range(2))
    how = {"level": "system", "coefficient": "pearson", "resamples": 300}
    widths = [
        float(np.subtract(*correlation_intervals(x, y, drawn=drawn, **how)[::-1])[0, 0])
        for drawn in ("items", "both")
    ]
    assert widths[1] > 2 * widths[0]


@pytest.mark.parametrize("drawn", ["items", "both"])
@pytest.mark.parametrize("level", LEVELS)
def test_the_same_seed_gives_the_same_draws(drawn: str, level: str) -> None:
    grids = made_up_grids(3)
    how = {"level": level, "coefficient": "spearman", "drawn": drawn, "resamples": 10}
    first, again, other = (resample_correlations(*grids, seed=s, **how) for s in (1, 1, 2))
    assert np.array_equal(first, again, equal_nan=True)
    assert not np.array_equal(first, other, equal_nan=True)


@pytest.mark.parametrize(
    ("drawn", "shape"), [("items", (1, 5)), ("both", (1, 5)), ("both", (5, 1))]
)
def test_where_there_is_nothing_to_draw_there_is_no_interval(
    drawn: str, shape: tuple[int, int]
) -> None:
    grids = made_up_grids(4, shape)
    ends = correlation_intervals(*grids, level="pooled", coefficient="pearson", drawn=drawn)
    assert np.isnan(ends).all()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", LEVELS)
def test_draws_without_any_value_are_undefined(level: str, coefficient: str) -> None:
    metrics, gold = made_up_grids(5, (6, 4))
    values = metrics.values.copy()
    values[0, 1:] = np.nan  # only the first item has any
    found = resample_correlations(
        make_grid(values), gold, level=level, coefficient=coefficient, resamples=40
    )
    without = draw_counts(6, 40, 0)[:, 0] == 0
    assert without.any() and np.array_equal(np.isnan(found[:, 0, 0]), without)
    assert not np.isnan(found[:, 1]).any()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", LEVELS)
def test_draws_in_which_a_metric_is_constant_are_undefined(level: str, coefficient: str) -> None:
    rng = np.random.default_rng(6)
    gold = make_grid(rng.normal(size=(2, 6, 3)))
    values = np.zeros((30, 6, 3))  # as metrics that are 0 nearly everywhere
    values[:, 0] = rng.normal(size=(30, 3))
    found = resample_correlations(
        make_grid(values), gold, level=level, coefficient=coefficient, resamples=100
    )
    without = draw_counts(6, 100, 0)[:, 0] == 0
    assert (np.isnan(found) == without[:, None, None]).all()


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", LEVELS)
def test_a_constant_metric_with_gaps_is_undefined_in_every_draw(
    level: str, coefficient: str
) -> None:
    gold = made_up_grids(12)[1]
    values = np.full((1, 8, 5), 0.1)
    values[0, 0, 0] = values[0, 3, 2] = np.nan
    found = resample_correlations(
        make_grid(values), gold, level=level, coefficient=coefficient, resamples=50
    )
    assert np.isnan(found).all()


def test_ends_are_quantiles_of_the_draws_that_are_defined() -> None:
    found = np.arange(101.0)[:, None] / 100
    assert np.allclose(percentile_interval(found, 0.1), [[0.05], [0.95]])
    found[50:] = np.nan  # 51 of 101 are undefined
    assert np.isnan(percentile_interval(found, 0.1)).all()
    found[50] = 0.5
    assert np.allclose(percentile_interval(found, 0.1), [[0.025], [0.475]])


def test_ends_of_no_metrics_at_all_are_empty() -> None:
    low, high = percentile_interval(np.empty((10, 0)), 0.05)
    assert low.shape == high.shape == (0,)


@pytest.mark.parametrize(("units", "resamples"), [(1, 3), (7, 20), (96, 1000)])
def test_every_draw_has_as_many_units_as_there_are(units: int, resamples: int) -> None:
    counts = draw_counts(units, resamples, 0)
    assert counts.shape == (resamples, units)
    assert (counts.sum(1) == units).all() and (counts >= 0).all() and (counts % 1 == 0).all()
    # Every unit is as likely as another: its share lies within 5 standard errors of 1 / units.
    error = np.sqrt(1 / units * (1 - 1 / units) / (resamples * units))
    assert (np.abs(counts.mean(0) / units - 1 / units) <= 5 * error).all()


def test_counts_come_again_with_their_seed_and_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = draw_counts(10, 30, 4)
    assert np.array_equal(whole, draw_counts(10, 30, 4))
    assert not np.array_equal(whole, draw_counts(10, 30, 5))
    monkeypatch.setattr(resampling, "_CELLS", 70)
    blocks = list(count_blocks(10, 30, 4))
    assert [len(block) for block in blocks] == [7, 7, 7, 7, 2]
    assert np.array_equal(np.concatenate(blocks), whole)


@pytest.mark.parametrize("coefficient", ["pearson", "kendall"])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(coefficient: str) -> None:
    rng = np.random.default_rng(9)
    truth = _usual_item_value(coefficient)
    held = []
    for trial in range(250):
        y = rng.normal(size=(1, 40, 6))
        x = 0.6 * y + 0.8 * rng.normal(size=y.shape)
        grids = make_grid(x), make_grid(y)
        how = {"level": "item", "coefficient": coefficient, "resamples": 400, "seed": trial}
        low, high = correlation_intervals(*grids, **how)
        held.append(low[0, 0] <= truth <= high[0, 0])
    # 40 items: percentiles run a little short of 95 in 100; 4 standard errors are 5.5.
    assert 0.88 <= np.mean(held) <= 0.99


def _usual_item_value(coefficient: str) -> float:
    """Mean coefficient of six systems whose values correlate at 0.6, by simulation."""
    rng = np.random.default_rng(10)
    y = rng.normal(size=(100_000, 6))
    x = 0.6 * y + 0.8 * rng.normal(size=y.shape)
    return float(correlate(x, y, coefficient).mean())
