from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fabula.meta.significance import permutation
from fabula.meta.significance.permutation import prepare_mixtures


def make(seed: int, shape: tuple[int, int]) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=shape)
    return [gold + noise * rng.normal(size=shape) for noise in (1, 2)] + [gold.round(1)]


@pytest.mark.parametrize("coefficient", ["pearson", "spearman", "kendall", "kendall_c"])
def test_looking_up_gives_what_correlating_each_gives(
    coefficient: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, gold = (one.round(1) for one in make(9, (20, 6)))
    swaps = np.random.default_rng(0).integers(0, 2, (50, 20, 6)).astype(bool)
    looked_up = prepare_mixtures(x, y, gold, level="item", coefficient=coefficient)(swaps)
    monkeypatch.setattr(permutation, "_TABLE_SYSTEMS", 0)
    each = prepare_mixtures(x, y, gold, level="item", coefficient=coefficient)(swaps)
    for one, other in zip(looked_up, each, strict=True):
        assert one == pytest.approx(other, abs=1e-12)


def test_values_that_hardly_differ_are_correlated_as_exactly_as_others() -> None:
    rng = np.random.default_rng(6)
    gold = rng.normal(size=(5, 6))
    x, y = 5 + 1e-7 * rng.normal(size=(5, 6)), -5 + 1e-7 * rng.normal(size=(5, 6))
    swaps = np.zeros((1, 5, 6), dtype=bool)
    left, right = prepare_mixtures(x, y, gold, level="item", coefficient="pearson")(swaps)
    for found, one in ((left, x), (right, y)):
        goal = np.mean([np.corrcoef(a, b)[0, 1] for a, b in zip(one, gold, strict=True)])
        assert found[0] == pytest.approx(goal, abs=1e-7)


def test_without_items_of_two_systems_nothing_is_defined() -> None:
    x = np.array([[1.0, np.nan], [np.nan, 2.0]])
    found = prepare_mixtures(x, x, x, level="item", coefficient="pearson")(
        np.zeros((3, 2, 2), dtype=bool)
    )
    assert np.isnan(found).all()
