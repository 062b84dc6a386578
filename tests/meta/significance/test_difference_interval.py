from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabula.meta.significance.permutation import difference_interval, perm_test


def make(seed: int, shape: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=shape)
    return [gold + noise * rng.normal(size=shape) for noise in (1, 2)] + [gold.round(1)]


@pytest.mark.parametrize("level", ["item", "system", "pooled"])
@pytest.mark.parametrize("drawn", ["items", "both"])
def test_the_interval_of_the_difference_holds_it_and_turns_round(level: Any, drawn: Any) -> None:
    x, y, gold = make(11, (30, 6))
    how: dict[str, Any] = {"level": level, "coefficient": "pearson", "drawn": drawn}
    low, high = difference_interval(x, y, gold, resamples=200, **how)
    observed = perm_test(x, y, gold, level=level, coefficient="pearson", resamples=1).difference
    assert low < observed < high
    other = difference_interval(y, x, gold, resamples=200, **how)
    assert other == pytest.approx((-high, -low), abs=1e-12)


def test_the_interval_is_that_of_a_direct_loop_but_for_chance() -> None:
    stats = pytest.importorskip("scipy.stats")
    x, y, gold = make(12, (40, 5))
    each = [
        [stats.kendalltau(row, goal).statistic for row, goal in zip(one, gold, strict=True)]
        for one in (x, y)
    ]
    rng = np.random.default_rng(1)
    apart = np.subtract(*each)
    found = [apart[rng.integers(0, 40, 40)].mean() for _ in range(4000)]
    goal = np.quantile(found, [0.025, 0.975])
    ends = difference_interval(x, y, gold, level="item", coefficient="kendall", resamples=4000)
    assert ends == pytest.approx(goal, abs=0.015)


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall"])
@pytest.mark.parametrize("level", ["item", "system", "pooled"])
def test_a_constant_metric_has_no_interval(level: Any, coefficient: Any) -> None:
    x, _, gold = make(1, (9, 5))
    flat = np.full_like(x, 0.1)
    ends = difference_interval(x, flat, gold, level=level, coefficient=coefficient)
    assert np.isnan(ends).all()
