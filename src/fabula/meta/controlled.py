"""Correlation with the gold beyond what one column explains: length, above all.

The partial correlation of metric and gold, given the control, from the three coefficients between
them (of Kendall's tau, Kendall's formula of 1942); item by item at the level of items.
`fabula.meta.partial` gives the same for one metric, and for several controls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

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
from fabula.meta.paired import Values
from fabula.meta.resampling import draw_counts

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
    if level == "item" and drawn == "items":
        counts = draw_counts(metrics.layout.shape[0], resamples, seed)
        return weighted_item_means(_items(metrics, gold, control, coefficient), counts)
    how: dict[str, Any] = {
        "level": level, "coefficient": coefficient, "drawn": drawn, "resamples": resamples,
        "seed": seed,
    }  # fmt: skip
    return _given(
        resampled_correlations(metrics, gold, **how),
        resampled_correlations(metrics, control, **how),
        resampled_correlations(control, gold, **how),
    )


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
