"""Builders of grids and of small data sets, for tests of correlations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.stats

from fabula.core.dataset import Dataset, DatasetCard, ScorerCard
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.meta.grid import Column, Grid, Layout

Table = Sequence[Sequence[float]]  # items × systems


def scipy_value(x: np.ndarray, y: np.ndarray, coefficient: str) -> float:
    """Coefficient of two vectors by scipy (1.17.1): pairs with NaN left out, constants NaN."""
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    if coefficient == "pearson":
        return float(scipy.stats.pearsonr(x, y).statistic)
    if coefficient == "spearman":
        return float(scipy.stats.spearmanr(x, y).statistic)
    variant = "c" if coefficient == "kendall_c" else "b"
    return float(scipy.stats.kendalltau(x, y, variant=variant).statistic)


def make_grid(values: Any) -> Grid:
    """Make a grid of an array of columns × items × systems."""
    values = np.asarray(values, dtype=float)
    count, items, systems = values.shape
    names = [tuple(map(str, range(size))) for size in (items, systems)]
    places = {f"{i}-{s}": (i, s) for i in range(items) for s in range(systems)}
    columns = tuple(Column(f"scorer{number}") for number in range(count))
    return Grid(Layout(names[0], names[1], places), columns, values)


def made_up_grids(
    seed: int, shape: tuple[int, int] = (8, 5), missing: float = 0.0
) -> tuple[Grid, Grid]:
    """Make two grids with ties, of three and two columns, that correlate a little.

    Values are multiples of 1/4, so that sums of them are exact in whatever order.
    """
    rng = np.random.default_rng(seed)
    y = rng.integers(4, 21, (2, *shape)) / 4
    x = rng.integers(0, 12, (3, *shape)) / 4 + np.stack([y[0], -y[1], y[0] * 0])
    if missing:
        x[rng.random(x.shape) < missing] = np.nan
        y[rng.random(y.shape) < missing / 2] = np.nan
    return make_grid(x), make_grid(y)


def make_dataset(
    scores: Mapping[str | tuple[str, str], Table],
    gold: Mapping[str, Table],
    *,
    cards: Mapping[str, ScorerCard] | None = None,
    systems: str = "abcdefghij",
    raters: int = 1,
    **card: Any,
) -> Dataset:
    """Make a data set of tables of items × systems; NaN is a story that lacks the value."""
    first = next(iter(gold.values()))
    cells = [(i, s) for i in range(len(first)) for s in range(len(first[0]))]
    stories = [
        Story(f"{i}-{systems[s]}", "Once.", None, (), (), systems[s], f"i{i}") for i, s in cells
    ]
    ids = [story.id for story in stories]

    def laid(scorer: str, aspect: str, table: Table) -> list[Score]:
        values = [table[i][s] for i, s in cells]
        pairs = zip(ids, values, strict=True)
        return [Score(id, scorer, aspect, value) for id, value in pairs if not np.isnan(value)]

    people = range(1, raters + 1)
    rated = [one for p in people for key in gold for one in laid(f"human:{p}", key, gold[key])]
    keys = {key: (key, "") if isinstance(key, str) else key for key in scores}
    scored = [one for key, column in keys.items() for one in laid(*column, scores[key])]
    return Dataset(
        "toy",
        DatasetCard("Toy", "Made up.", "CC0", **card),
        tuple(stories),
        ScoreTable(stories, rated),
        ScoreTable(stories, scored),
        cards or {},
    )
