from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.dataset import Dataset
from fabula.meta.correlated import FEW, Correlated, cautions_of
from fabula.meta.grid import Layout
from grids import make_dataset

ONE = Correlated("rouge", "plot", "item", "pearson", 0.5, 96, 2, 0.4, 0.6, direction="higher")


def toy(items: int, systems: int, **card: object) -> tuple[Dataset, Layout]:
    values = np.zeros((items, systems))
    dataset = make_dataset({"rouge": values}, {"plot": values}, **card)
    return dataset, Layout.of(dataset.stories)


def test_a_row_is_flat_and_has_none_for_what_is_missing() -> None:
    row = ONE.row()
    assert list(row)[:9] == ("metric aspect level coefficient value n undefined low high".split())
    assert (row["value"], row["n"], row["undefined"]) == (0.5, 96, 2)
    assert row["ceiling"] is None and row["gain"] is None and row["gain_low"] is None
    assert replace(ONE, value=math.nan).row()["value"] is None
    assert replace(ONE, value=0.0).row()["value"] == 0.0


@pytest.mark.parametrize(
    ("level", "units"), [("item", "items"), ("system", "systems"), ("pooled", "stories")]
)
def test_few_are_called_few_and_enough_are_not(level: str, units: str) -> None:
    few = FEW[level]
    [words] = cautions_of(*toy(3, 2), [replace(ONE, level=level, n=few - 1)])
    assert f"{few - 1} {units}" in words and f"Fewer than {few}" in words
    assert cautions_of(*toy(3, 2), [replace(ONE, level=level, n=few)]) == []


def test_the_best_covered_metric_decides_whether_there_are_few() -> None:
    found = [replace(ONE, n=2), replace(ONE, n=50)]
    assert cautions_of(*toy(3, 2), found) == []


def test_one_system_leaves_only_the_pooled_level() -> None:
    [words] = cautions_of(*toy(3, 1), [ONE])
    assert "only the pooled level is left" in words


def test_metrics_without_a_direction_are_counted_once() -> None:
    unknown = replace(ONE, direction="descriptive")
    found = [unknown, replace(unknown, aspect="style"), replace(unknown, metric="other"), ONE]
    [words] = cautions_of(*toy(3, 2), found)
    assert words.endswith("as it is: 2.")


def test_unknown_raters_make_ceilings_too_low() -> None:
    [words] = cautions_of(*toy(3, 2, raters_known=False), [ONE])
    assert "ceilings are too low" in words
