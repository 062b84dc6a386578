from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from fabula.meta.accuracies import (
    ACCURACIES,
    accuracies,
    accuracy_draws,
    pairwise_accuracy,
    soft_pairwise_accuracy,
    tie_calibrated_accuracy,
)
from fabula.meta.levels import LEVELS
from fabula.meta.resampling import draw_counts
from fakes.grids import made_up_grids, make_grid

NAN = math.nan


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_pairwise_accuracy_is_that_on_held_out_items_cell_by_cell(
    level: Any, missing: float
) -> None:
    metrics, gold = made_up_grids(3, missing=missing)
    found, epsilons = accuracies(metrics, gold, level=level, kind="pairwise", seed=5)
    for i, x in enumerate(metrics.values):
        for j, y in enumerate(gold.values):
            one = tie_calibrated_accuracy(x, y, level=level, seed=5)
            assert (found.value[i, j], epsilons[i, j]) == (one.held_out, one.epsilon)
    assert not found.undefined.any() and ((found.value > 0) & (found.value < 1)).all()


def test_soft_pairwise_accuracy_is_one_of_systems_alone() -> None:
    metrics, gold = made_up_grids(4)
    found, epsilons = accuracies(metrics, gold, level="system", kind="soft_pairwise", seed=2)
    for i, x in enumerate(metrics.values):
        for j, y in enumerate(gold.values):
            assert found.value[i, j] == soft_pairwise_accuracy(x, y, seed=2)
    assert np.isnan(epsilons).all()
    for level in ("item", "pooled"):
        none, _ = accuracies(metrics, gold, level=level, kind="soft_pairwise")
        assert np.isnan(none.value).all() and (none.undefined == 1).all()


def test_n_counts_what_there_is_to_pair() -> None:
    # Of three items the second has one story with both values and the third has none.
    x = make_grid([[[1, 2, 3], [1, NAN, 3], [NAN, NAN, NAN]]])
    y = make_grid([[[1, 2, 2], [1, 2, NAN], [1, 2, 3]]])
    counts = {level: accuracies(x, y, level=level, kind="pairwise")[0].n[0, 0] for level in LEVELS}
    assert counts == {"item": 1, "system": 3, "pooled": 4}


def test_a_metric_that_is_the_gold_is_always_right() -> None:
    _, gold = made_up_grids(5)
    found, _ = accuracies(gold, gold, level="item", kind="pairwise")
    assert np.diag(found.value).tolist() == [1.0, 1.0]
    soft, _ = accuracies(gold, gold, level="system", kind="soft_pairwise")
    assert np.diag(soft.value).tolist() == [1.0, 1.0]


def test_draws_weigh_the_accuracies_of_items_with_epsilon_held() -> None:
    metrics, gold = made_up_grids(6, missing=0.2)
    epsilons = np.array([[0.0, 0.25], [0.5, 1.0], [2.0, 0.0]])
    how: dict[str, Any] = {"level": "item", "kind": "pairwise", "epsilons": epsilons}
    found = accuracy_draws(metrics, gold, resamples=4, seed=9, **how)
    counts = draw_counts(8, 4, 9).astype(int)
    for draw, times in zip(found, counts, strict=True):
        rows = np.repeat(np.arange(8), times)
        for i, x in enumerate(metrics.values):
            for j, y in enumerate(gold.values):
                goal = pairwise_accuracy(x[rows], y[rows], level="item", epsilon=epsilons[i, j])
                assert draw[i, j] == pytest.approx(goal, abs=1e-12)


@pytest.mark.parametrize("kind", ACCURACIES)
@pytest.mark.parametrize("level", LEVELS)
def test_elsewhere_there_are_no_draws(kind: Any, level: Any) -> None:
    metrics, gold = made_up_grids(7)
    none = np.zeros((3, 2))
    found = accuracy_draws(metrics, gold, level=level, kind=kind, epsilons=none, resamples=3)
    if (kind, level) == ("pairwise", "item"):
        assert found.shape == (3, 3, 2) and not np.isnan(found).any()
    else:
        assert found.shape == (1, 3, 2) and np.isnan(found).all()


def test_one_item_has_no_draws() -> None:
    metrics, gold = made_up_grids(8, shape=(1, 5))
    found = accuracy_draws(metrics, gold, level="item", kind="pairwise", epsilons=np.zeros((3, 2)))
    assert found.shape == (1, 3, 2) and np.isnan(found).all()
