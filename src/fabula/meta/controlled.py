"""Correlation with the gold beyond what one column explains: length, above all.

The partial correlation of metric and gold, given the control, from the three coefficients between
them (of Kendall's tau, Kendall's formula of 1942); item by item at the level of items. Stories
that metric, gold or control lacks are left out of all three.
`fabula.meta.partial` gives the same for one metric, and for several controls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.bootstrap import Drawn, resampled_correlations, weighted_item_means
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid
from fabula.meta.levels import (
    Correlations,
    Level,
    correlate_grids,
    item_correlations,
    mean_correlations,
)
from fabula.meta.resampling import draw_counts

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Places = np.ndarray[Any, np.dtype[np.int64]]
# Where the control leaves so little of a metric or of the gold, it explains it.
_NOTHING = 1e-9


def controlled_correlations(
    metrics: Grid,
    gold: Grid,
    control: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    settle: bool = False,
) -> Correlations:
    """Correlate every metric with every gold column, given the control's one column."""
    shape = len(metrics.columns), len(gold.columns)
    value, n, undefined = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "settle": settle}
    for cells, grids in _alike(metrics, gold, control):
        found = _correlations(*grids, **how)
        value[cells], n[cells], undefined[cells] = found.value, found.n, found.undefined
    return Correlations(value, n, undefined)


def _correlations(
    metrics: Grid,
    gold: Grid,
    control: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    settle: bool,
) -> Correlations:
    if level == "item":
        each = _items(metrics, gold, control, coefficient)
        items = item_correlations(metrics.values, gold.values, coefficient)[1]
        return mean_correlations(each, items)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "settle": settle}
    plain = correlate_grids(metrics, gold, **how)
    with_control = correlate_grids(metrics, control, **how).value
    of_gold = correlate_grids(control, gold, **how).value
    value = _given(plain.value, with_control, of_gold)
    return Correlations(value, plain.n, np.isnan(value).astype(np.int64))


def controlled_draws(
    metrics: Grid,
    gold: Grid,
    control: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    drawn: Drawn = "items",
    resamples: int = 1000,
    seed: int = 0,
) -> Values:
    """Give the same in every draw: (draws, metrics, gold columns)."""
    how: dict[str, Any] = {
        "level": level, "coefficient": coefficient, "drawn": drawn, "resamples": resamples,
        "seed": seed,
    }  # fmt: skip
    parts = [(cells, _draws(*grids, **how)) for cells, grids in _alike(metrics, gold, control)]
    draws = min((len(part) for _, part in parts), default=0)
    found = np.full((draws, len(metrics.columns), len(gold.columns)), np.nan)
    for (rows, columns), part in parts:
        found[:, rows, columns] = part
    return found


def _draws(metrics: Grid, gold: Grid, control: Grid, **how: Any) -> Values:
    level, coefficient = how["level"], how["coefficient"]
    if level == "item" and how["drawn"] == "items":
        counts = draw_counts(metrics.layout.shape[0], how["resamples"], how["seed"])
        return weighted_item_means(_items(metrics, gold, control, coefficient), counts)
    return _given(
        resampled_correlations(metrics, gold, **how),
        resampled_correlations(metrics, control, **how),
        resampled_correlations(control, gold, **how),
    )


def _alike(
    metrics: Grid, gold: Grid, control: Grid
) -> Iterator[tuple[tuple[Places, Places], tuple[Grid, Grid, Grid]]]:
    """Part the pairs of columns by which stories they lack, and leave these out of all three."""
    held = ~np.isnan(control.values[0])
    for rows, x in _patterns(metrics):
        for columns, y in _patterns(gold):
            there = x & y & held
            grids = (
                Grid(one.layout, one.columns, np.where(there, one.values, np.nan))
                for one in (
                    metrics.only([metrics.columns[place] for place in rows]),
                    gold.only([gold.columns[place] for place in columns]),
                    control,
                )
            )
            first, second = np.ix_(rows, columns)
            yield (first, second), (*grids,)  # type: ignore[misc]


def _patterns(grid: Grid) -> list[tuple[list[int], Flags]]:
    """Places of the columns that have values for the same stories, and these stories."""
    found: dict[bytes, tuple[list[int], Flags]] = {}
    for place, there in enumerate(~np.isnan(grid.values)):
        found.setdefault(there.tobytes(), ([], there))[0].append(place)
    return list(found.values())


def _items(metrics: Grid, gold: Grid, control: Grid, coefficient: Coefficient) -> Values:
    """Partial correlations item by item: (m, g, items)."""
    return _given(
        item_correlations(metrics.values, gold.values, coefficient)[0],
        item_correlations(metrics.values, control.values, coefficient)[0],
        item_correlations(control.values, gold.values, coefficient)[0],
    )


def _given(plain: Values, with_control: Values, of_gold: Values) -> Values:
    """Take the control out; one that is constant explains nothing."""
    a = np.where(np.isnan(with_control), 0.0, with_control)
    b = np.where(np.isnan(of_gold), 0.0, of_gold)
    left = np.minimum(1 - a**2, 1 - b**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (plain - a * b) / np.sqrt((1 - a**2) * (1 - b**2))
    return np.where(left <= _NOTHING, np.nan, np.clip(found, -1.0, 1.0))
