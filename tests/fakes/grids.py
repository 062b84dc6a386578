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
from fabula.meta.bootstrap import resample_correlations
from fabula.meta.grid import Grid, GridColumn, Layout
from fabula.meta.resampling import percentile_interval

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
    columns = tuple(GridColumn(f"scorer{number}") for number in range(count))
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


def correlation_intervals(
    metrics: Grid, gold: Grid, *, alpha: float = 0.05, **how: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Ends of the intervals of correlations: metrics × gold columns."""
    return percentile_interval(resample_correlations(metrics, gold, **how), alpha)


def scipy_partial(
    x: np.ndarray, gold: np.ndarray, control: np.ndarray, *, level: str, coefficient: str
) -> float:
    """Partial correlation given one control (Kendall, 1942), from scipy's three coefficients.

    Cells that any of the three lacks are left out; NaN where the control explains one of the two.
    """
    there = ~(np.isnan(x) | np.isnan(gold) | np.isnan(control))
    columns = [np.where(there, column, np.nan) for column in (x, gold, control)]
    if level == "item":
        rows = [list(row) for row in zip(*columns, strict=True)]
    elif level == "system":
        filled = [np.where(there, column, 0.0).sum(0) / there.sum(0) for column in columns]
        rows = [filled]
    else:
        rows = [[column.ravel() for column in columns]]
    found = []
    for a, b, c in rows:
        ab, ac, bc = (
            scipy_value(one, other, coefficient) for one, other in ((a, b), (a, c), (b, c))
        )
        ac, bc = np.nan_to_num(ac), np.nan_to_num(bc)
        if not np.isnan(ab) and min(1 - ac**2, 1 - bc**2) > 1e-9:
            found.append((ab - ac * bc) / np.sqrt((1 - ac**2) * (1 - bc**2)))
    return float(np.mean(found)) if found else float("nan")
