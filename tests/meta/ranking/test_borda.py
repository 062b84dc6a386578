from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.meta.levels import correlation_table
from fabula.meta.ranking.aggregation import borda, mean_strength, rank_places
from fakes.hanna_figures import bare, hanna_grids, hanna_tables

TOP_STORY = {
    "chrF": 1237, "S3-Pyramid": 1198, "ROUGE-1 Recall": 1186, "S3-Responsiveness": 1177,
    "BERTScore Recall": 1158,
}  # fmt: skip


def test_points_are_how_many_metrics_are_weaker() -> None:
    table = np.array([[0.9, -0.8], [0.5, 0.1], [-0.7, 0.2]])
    assert borda(table).tolist() == [4, 0, 2]


def test_ties_share_their_points_even_where_rounding_parts_them() -> None:
    table = np.array([[0.3], [0.1 + 0.2], [0.9]])
    assert borda(table).tolist() == [0.5, 0.5, 2]
    assert borda(table, ties="stable").tolist() == [0, 1, 2]


def test_undefined_is_last() -> None:
    table = np.array([[np.nan, 0.5], [0.0, 0.4], [np.nan, 0.3]])
    assert borda(table).tolist() == [0.5 + 2, 2 + 1, 0.5 + 0]


def test_the_mean_is_over_columns_that_anybody_has() -> None:
    table = np.array([[0.2, -0.4, np.nan], [0.8, np.nan, np.nan]])
    means = mean_strength(table)
    assert means[0] == pytest.approx(0.3) and np.isnan(means[1])
    assert np.isnan(mean_strength(np.full((2, 2), np.nan))).all()


def test_equal_points_share_the_better_place_and_nan_is_last() -> None:
    assert rank_places(np.array([5.0, np.nan, 7.0, 5.0])).tolist() == [2, 4, 1, 2]


@given(st.integers(0, 2**32 - 1), st.permutations(range(6)), st.permutations(range(4)))
def test_order_does_not_matter(seed: int, rows: list[int], columns: list[int]) -> None:
    table = np.random.default_rng(seed).integers(-3, 4, (6, 4)) / 3
    table[0, 0] = np.nan
    assert borda(table[rows][:, columns]).tolist() == borda(table)[rows].tolist()


def tables(shared: Path, *levels: str) -> tuple[list[str], np.ndarray]:
    metrics, gold = hanna_grids(shared)
    found = [
        correlation_table(metrics, gold, level=level, coefficient=coefficient)
        for level in levels
        for coefficient in ("pearson", "spearman", "kendall")
    ]
    return [one.scorer for one in metrics.columns], np.concatenate(found, axis=1)


def best(names: list[str], points: np.ndarray) -> dict[str, float]:
    order = np.argsort(-points, kind="stable")[:5]
    return {names[place]: float(points[place]) for place in order}


@pytest.mark.parametrize("ties", ["average", "stable"])
def test_the_story_level_of_table_6(shared: Path, ties: str) -> None:
    names, table = tables(shared, "item")
    assert table.shape == (72, 18)
    assert best(names, borda(table, ties=ties)) == TOP_STORY


@pytest.mark.parametrize(
    ("ties", "key"),
    [
        ("average", "average ranks (values rounded to 10 decimals, rank-1)"),
        ("stable", "stable double-argsort"),
    ],
)
@pytest.mark.parametrize("part", ["system", "global"])
def test_the_system_and_global_rankings_of_table_6(
    shared: Path, ties: str, key: str, part: str
) -> None:
    levels = ("system",) if part == "system" else ("item", "system")
    expected = hanna_tables(shared)["tab6_tie_conventions"][key][part]
    found = best(*_points(tables(shared, *levels), ties))
    assert found == {bare(name): value for name, value in expected}


def _points(named: tuple[list[str], np.ndarray], ties: str) -> tuple[list[str], np.ndarray]:
    names, table = named
    return names, borda(table, ties=ties)
