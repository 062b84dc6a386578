from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.meta.levels import correlate_top_k, order_best_first
from fakes.grids import make_grid
from fakes.hanna_figures import CRITERIA, bare, hanna_grids, hanna_tables


def test_the_best_come_first_to_two_decimals() -> None:
    # 2.501 and 2.504 are both 2.50: the later one comes first. NaN has no place but the last.
    assert order_best_first(np.array([2.501, 3.0, np.nan, 2.504])) == [1, 3, 0, 2]


def test_correlations_are_over_the_best_alone() -> None:
    gold = np.array([[[4.0, 3.0, 2.0, 1.0]]])
    metric = np.array([[[3.0, 4.0, 2.0, 1.0]]])
    found = correlate_top_k(make_grid(metric), make_grid(gold), sizes=(2, 4))
    # All four: deviations (.5, 1.5, -.5, -1.5)·(1.5, .5, -.5, -1.5) = 4 over 5.
    assert found[0, 0].tolist() == pytest.approx([-1, 0.8])


def test_a_metric_that_tells_none_of_the_best_apart_is_undefined() -> None:
    gold, metric = [[[4.0, 3.0, 1.0]]], [[[2.0, 2.0, 1.0]]]
    found = correlate_top_k(make_grid(metric), make_grid(gold), sizes=(2, 3))
    assert np.isnan(found[0, 0, 0]) and not np.isnan(found[0, 0, 1])


@pytest.mark.parametrize("size", [1, 5])
def test_k_lies_between_two_and_all(size: int) -> None:
    grid = make_grid(np.zeros((1, 2, 4)))
    with pytest.raises(SettingError, match="give 2 to 4"):
        correlate_top_k(grid, grid, sizes=(size,))


@pytest.mark.parametrize("coefficient", ["pearson", "spearman"])
def test_figure_8_of_hanna(shared: Path, coefficient: str) -> None:
    metrics, gold = hanna_grids(shared)
    sizes = range(4, 11)
    found = np.abs(correlate_top_k(metrics, gold, sizes=sizes, coefficient=coefficient))
    rows = {one.scorer: place for place, one in enumerate(metrics.columns)}
    columns = {one.aspect: place for place, one in enumerate(gold.columns)}
    for short, table in hanna_tables(shared)["fig8_topk"][coefficient].items():
        for name, values in table.items():
            mine = found[rows[bare(name)], columns[CRITERIA[short]]]
            assert mine == pytest.approx([values[str(k)] for k in sizes], abs=5.1e-5), name
