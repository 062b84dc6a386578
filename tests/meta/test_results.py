from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fabula.core.dataset import Dataset
from fabula.meta.grid import Layout
from fabula.meta.resampling import Estimate
from fabula.meta.results import FEW, MetricResult, list_cautions
from fakes.grids import make_dataset

ONE = MetricResult(
    "rouge", "plot", "item", "pearson", Estimate(0.5, 0.4, 0.6, 96, 2), direction="higher"
)


def resting_on(n: int, **fields: object) -> MetricResult:
    return replace(ONE, estimate=replace(ONE.estimate, n=n), **fields)


def toy(items: int, systems: int, **card: object) -> tuple[Dataset, Layout]:
    values = np.zeros((items, systems))
    dataset = make_dataset({"rouge": values}, {"plot": values}, **card)
    return dataset, Layout.of(dataset.stories)


def test_a_row_is_flat_and_has_none_for_what_is_missing() -> None:
    row = ONE.row()
    assert list(row)[:9] == ("metric aspect level coefficient value n undefined low high".split())
    assert (row["value"], row["n"], row["undefined"]) == (0.5, 96, 2)
    assert row["ceiling"] is None and row["gain"] is None and row["gain_low"] is None
    assert replace(ONE, estimate=Estimate()).row()["value"] is None
    assert replace(ONE, estimate=Estimate(0.0)).row()["value"] == 0.0


@pytest.mark.parametrize(
    ("level", "units"), [("item", "items"), ("system", "systems"), ("pooled", "stories")]
)
def test_few_are_called_few_and_enough_are_not(level: str, units: str) -> None:
    few = FEW[level]
    [words] = list_cautions(*toy(3, 2), [resting_on(few - 1, level=level)])
    assert f"{few - 1} {units}" in words and f"Fewer than {few}" in words
    assert list_cautions(*toy(3, 2), [resting_on(few, level=level)]) == []


def test_the_best_covered_metric_decides_whether_there_are_few() -> None:
    found = [resting_on(2), resting_on(50)]
    assert list_cautions(*toy(3, 2), found) == []


def test_one_system_leaves_only_the_pooled_level() -> None:
    [words] = list_cautions(*toy(3, 1), [ONE])
    assert "only the pooled level is left" in words


def test_metrics_without_a_direction_are_counted_once() -> None:
    unknown = replace(ONE, direction="descriptive")
    found = [unknown, replace(unknown, aspect="style"), replace(unknown, metric="other"), ONE]
    [words] = list_cautions(*toy(3, 2), found)
    assert words.endswith("as it is: 2.")


def test_unknown_raters_make_ceilings_too_low() -> None:
    [words] = list_cautions(*toy(3, 2, raters_known=False), [ONE])
    assert "ceilings are too low" in words
