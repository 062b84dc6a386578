"""Bootstrap intervals of correlations: items are drawn again, or systems and items.

Efron and Tibshirani (1993); Deutsch, Dror and Roth (2021) for what to draw. With `items` the
systems are taken as given; with `both` the interval also says what other systems would have done,
and is wider. All columns share the same draws.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.cross import cross_correlate
from fabula.meta.grid import Grid
from fabula.meta.levels import Level, correlate_grids, item_correlations, system_ends
from fabula.meta.pooled_bootstrap import pooled_resamples
from fabula.meta.resampling import draw_counts, percentile_interval

Drawn = Literal["items", "both"]
# Pooled tau-b goes through all pairs of items: with more items than this, fewer draws will do.
_MANY_ITEMS = 2000
_FEW_DRAWS = 200


def correlation_intervals(
    metrics: Grid, gold: Grid, *, alpha: float = 0.05, **how: Any
) -> tuple[Values, Values]:
    """Give the ends of percentile intervals: metrics × gold columns, NaN where there is none.

    What else can be said is what `resampled_correlations` takes.
    """
    return percentile_interval(resampled_correlations(metrics, gold, **how), alpha)


def resampled_correlations(
    metrics: Grid,
    gold: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    drawn: Drawn = "items",
    resamples: int = 1000,
    seed: int = 0,
) -> Values:
    """Give the coefficients of every draw: (draws, metrics, gold columns), NaN where undefined.

    Below two items (or systems, where they are drawn) there is nothing to draw.
    """
    items, systems = metrics.layout.shape
    if min(items, systems if drawn == "both" else 2) < 2:
        return np.full((1, len(metrics.columns), len(gold.columns)), np.nan)
    if drawn == "both":
        return _both(metrics, gold, level, coefficient, resamples, seed)
    if level == "pooled" and coefficient == "kendall" and items > _MANY_ITEMS:
        resamples = min(resamples, _FEW_DRAWS)
    counts = draw_counts(items, resamples, seed)
    if level == "item":
        return weighted_item_means(
            item_correlations(metrics.values, gold.values, coefficient)[0], counts
        )
    if level == "system":
        return _system_level(metrics.values, gold.values, coefficient, counts)
    return pooled_resamples(metrics.values, gold.values, coefficient, counts)


def weighted_item_means(each: Values, counts: Values) -> Values:
    """Average the items' coefficients in every draw, undefined ones left out: (draws, m, g)."""
    defined = ~np.isnan(each)  # (m, g, items)
    shape = each.shape[:2]
    flat = np.where(defined, each, 0.0).reshape(-1, each.shape[2]).T
    there = defined.reshape(-1, each.shape[2]).T.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (counts @ flat) / (counts @ there)
    return means.reshape(len(counts), *shape)


def _system_level(x: Values, y: Values, coefficient: Coefficient, counts: Values) -> Values:
    a, b = _resampled_means(x, counts), _resampled_means(y, counts)  # (columns, B, systems)
    return np.moveaxis(cross_correlate(a, b, coefficient), 2, 0)


def _resampled_means(x: Values, counts: Values) -> Values:
    """Means of the systems in every draw: (columns, items, systems) to (columns, B, systems)."""
    there = ~np.isnan(x)
    sums = np.einsum("bi,cis->cbs", counts, np.where(there, x, 0.0), optimize=True)
    present = np.einsum("bi,cis->cbs", counts, there.astype(np.float64), optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums / present
    low, high = system_ends(x)
    within: Values = np.clip(means, low[:, None], high[:, None])
    return within


def _both(
    metrics: Grid,
    gold: Grid,
    level: Level,
    coefficient: Coefficient,
    resamples: int,
    seed: int,
) -> Values:
    """Draw systems and items, and correlate what was drawn, a draw at a time."""
    rng = np.random.default_rng(seed)
    items, systems = metrics.layout.shape
    found = np.empty((resamples, len(metrics.columns), len(gold.columns)))
    for number in range(resamples):
        rows, columns = rng.integers(items, size=items), rng.integers(systems, size=systems)
        drawn = [
            Grid(one.layout, one.columns, one.values[:, rows][:, :, columns])
            for one in (metrics, gold)
        ]
        found[number] = correlate_grids(*drawn, level=level, coefficient=coefficient).value
    return found
