from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats

from fabula.meta.bootstrap import resample_correlations
from fabula.meta.grid import Grid
from fabula.meta.levels import LEVELS, correlate_grids
from fabula.meta.measure import correlate_partial, resample_partial
from fabula.meta.resampling import draw_counts
from fakes.grids import make_grid, scipy_partial

COEFFICIENTS = ["pearson", "spearman", "kendall"]
every_way = pytest.mark.parametrize(
    ("level", "coefficient"), [(a, b) for a in LEVELS for b in COEFFICIENTS]
)


def made_up(seed: int = 3, shape: tuple[int, int] = (7, 6)) -> tuple[Grid, Grid, Grid]:
    """Metrics and gold that both follow the length of a story, and the length."""
    rng = np.random.default_rng(seed)
    length = rng.integers(40, 400, shape).astype(float)
    gold = np.stack([length / 200, -length / 300]) + rng.normal(size=(2, *shape))
    noise = rng.normal(size=(3, *shape))
    metrics = np.stack([length / 100, gold[0], gold[1] - length / 150]) + noise
    return make_grid(metrics), make_grid(gold), make_grid(length[None])


def cells(*grids: Grid, items: Any) -> list[Grid]:
    """The grids of some items, an item as often as it is named."""
    return [make_grid(one.values[:, items]) for one in grids]


def by_hand(metrics: Grid, gold: Grid, control: Grid, **how: Any) -> np.ndarray:
    """The partial correlations one after the other."""
    return np.array(
        [
            [scipy_partial(x, y, control.values[0], **how) for y in gold.values]
            for x in metrics.values
        ]
    )


@every_way
def test_a_table_holds_the_partial_correlation_of_every_pair(level: Any, coefficient: Any) -> None:
    grids = made_up()
    how = {"level": level, "coefficient": coefficient}
    found = correlate_partial(*grids, **how)
    assert np.allclose(found.value, by_hand(*grids, **how), rtol=0, atol=1e-9)
    assert not np.allclose(found.value, correlate_grids(*grids[:2], **how).value, atol=0.01)
    counts = {"item": 7, "system": 6, "pooled": 42}
    assert (found.n == counts[level]).all() and not found.undefined.any()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_it_is_the_correlation_of_residuals(level: Any, coefficient: Any) -> None:
    grids = made_up(1, (7, 12))
    columns = [grid.values[0] for grid in grids]
    rows = {
        "item": list(zip(*columns, strict=True)),
        "system": [[column.mean(0) for column in columns]],
        "pooled": [[column.ravel() for column in columns]],
    }
    goals = []
    for row in rows[level]:
        if coefficient == "spearman":
            row = [scipy.stats.rankdata(vector) for vector in row]
        x, gold, length = row
        left = [one - np.polyval(np.polyfit(length, one, 1), length) for one in (x, gold)]
        goals.append(np.corrcoef(*left)[0, 1])
    found = correlate_partial(*grids, level=level, coefficient=coefficient)
    assert found.value[0, 0] == pytest.approx(np.mean(goals), abs=1e-9)


@every_way
def test_a_draw_is_the_same_of_the_items_that_were_drawn(level: Any, coefficient: Any) -> None:
    grids = made_up(4)
    how = {"level": level, "coefficient": coefficient}
    found = resample_partial(*grids, resamples=4, seed=11, **how)
    counts = draw_counts(7, 4, 11).astype(int)
    for draw, times in zip(found, counts, strict=True):
        again = cells(*grids, items=np.repeat(np.arange(7), times))
        goal = correlate_partial(*again, **how).value
        assert np.allclose(draw, goal, rtol=0, atol=1e-9)


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
@pytest.mark.parametrize("level", ["system", "pooled"])
def test_systems_and_items_can_be_drawn(level: Any, coefficient: Any) -> None:
    grids = made_up(5)
    how = {"level": level, "coefficient": coefficient}
    found = resample_partial(*grids, drawn="both", resamples=3, seed=2, **how)
    rng = np.random.default_rng(2)
    for draw in found:
        rows, columns = rng.integers(7, size=7), rng.integers(6, size=6)
        again = [make_grid(one.values[:, rows][:, :, columns]) for one in grids]
        goal = correlate_partial(*again, **how).value
        assert np.allclose(draw, goal, rtol=0, atol=1e-9, equal_nan=True)


@every_way
def test_a_constant_control_explains_nothing(level: Any, coefficient: Any) -> None:
    metrics, gold, control = made_up(6)
    flat = make_grid(np.full_like(control.values, 0.1))
    how = {"level": level, "coefficient": coefficient}
    plain = correlate_grids(metrics, gold, **how)
    found = correlate_partial(metrics, gold, flat, **how)
    assert np.allclose(found.value, plain.value, rtol=0, atol=1e-12)
    drawn = resample_partial(metrics, gold, flat, resamples=5, **how)
    assert np.allclose(drawn, resample_correlations(metrics, gold, resamples=5, **how))


@every_way
def test_what_the_control_explains_wholly_is_undefined(level: Any, coefficient: Any) -> None:
    metrics, gold, control = made_up(7)
    doubled = make_grid(np.concatenate([metrics.values[:1], 2 * control.values + 1]))
    found = correlate_partial(doubled, gold, control, level=level, coefficient=coefficient)
    assert np.isnan(found.value).tolist() == [[False, False], [True, True]]
    undefined = 7 if level == "item" else 1
    assert found.undefined.tolist() == [[0, 0], [undefined, undefined]]


def test_by_hand() -> None:
    # Five stories of one item. Length 1 2 3 4 5; gold 2 1 4 3 5; metric 1 3 2 5 4.
    # Sums of products of deviations, of 10 each: metric and gold 3, metric and length 8,
    # gold and length 8: r = .3, .8 and .8, and (.3 - .64) / (1 - .64) = -.94444.
    metrics, gold, control = (
        make_grid([[row]]) for row in ([1, 3, 2, 5, 4], [2, 1, 4, 3, 5], [1, 2, 3, 4, 5])
    )
    for level in ("item", "pooled", "system"):
        for coefficient in ("pearson", "spearman"):
            found = correlate_partial(metrics, gold, control, level=level, coefficient=coefficient)
            assert found.value[0, 0] == pytest.approx(-0.34 / 0.36)


def test_settled_means_are_ties_here_too() -> None:
    # Means of systems: .2, .2 but for rounding, 1. The gold tells the first two apart.
    metrics = make_grid([[[0.1, 0.3, 1], [0.2, 0.2, 1], [0.3, 0.1, 1]]])
    gold = make_grid([[[1, 2, 3]] * 3])
    control = make_grid([[[5, 5, 5]] * 3])
    found = correlate_partial(
        metrics, gold, control, level="system", coefficient="kendall", round_ties=True
    )
    assert found.value[0, 0] == pytest.approx(2 / 6**0.5)


@every_way
def test_what_one_of_the_three_lacks_is_left_out_of_all(level: Any, coefficient: Any) -> None:
    grids = made_up(8, (9, 7))
    rng = np.random.default_rng(8)
    for one in grids:
        one.values[rng.random(one.values.shape) < 0.15] = np.nan
    grids[0].values[2] = grids[0].values[1] * 2  # two metrics that lack the same stories
    how = {"level": level, "coefficient": coefficient}
    found = correlate_partial(*grids, **how)
    assert np.allclose(found.value, by_hand(*grids, **how), rtol=0, atol=1e-9)
    drawn = resample_partial(*grids, resamples=3, seed=5, **how)
    counts = draw_counts(9, 3, 5).astype(int)
    for draw, times in zip(drawn, counts, strict=True):
        again = cells(*grids, items=np.repeat(np.arange(9), times))
        assert np.allclose(draw, by_hand(*again, **how), rtol=0, atol=1e-9, equal_nan=True)


def test_items_without_the_control_do_not_count() -> None:
    grids = made_up(9)
    grids[2].values[0, :3] = np.nan
    found = correlate_partial(*grids, level="item", coefficient="pearson")
    assert (found.n == 4).all() and not found.undefined.any()
