"""Correlations in every draw of the bootstrap, and what they gain over the trivial baselines.

Deutsch, Dror and Roth (2021) for what to draw: with `items` the systems are taken as given; with
`both` the interval also says what other systems would have done, and is wider. All columns share
the same draws.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from fabula.meta.arrays import Flags, Values
from fabula.meta.coefficients import Coefficient, cross_correlate
from fabula.meta.grid import Grid
from fabula.meta.levels import Level, correlate_grids, correlate_items, system_bounds
from fabula.meta.resampling import (
    Estimates,
    count_blocks,
    draw_units,
    mean_draws,
    percentile_interval,
)
from fabula.meta.weighted import pooled_draws

Drawn = Literal["items", "both"]
# Pooled tau-b goes through all pairs of items: with more items than this, fewer draws will do.
_MANY_ITEMS = 2000
_FEW_DRAWS = 200


def resample_correlations(
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
        return _draw_both(metrics, gold, level, coefficient, resamples, seed)
    if level == "pooled" and coefficient == "kendall" and items > _MANY_ITEMS:
        resamples = min(resamples, _FEW_DRAWS)
    if level == "item":
        each = correlate_items(metrics.values, gold.values, coefficient)[0]
        return mean_item_draws(each, resamples, seed)
    correlate = _system_draws if level == "system" else pooled_draws
    blocks = count_blocks(items, resamples, seed)
    return np.concatenate(
        [correlate(metrics.values, gold.values, coefficient, counts) for counts in blocks]
    )


def mean_item_draws(each: Values, resamples: int, seed: int) -> Values:
    """Average the items' coefficients in every draw, undefined ones left out: (draws, m, g)."""
    defined = ~np.isnan(each)  # (m, g, items)
    shape, items = each.shape[:2], each.shape[2]
    flat = np.where(defined, each, 0.0).reshape(-1, items).T
    there = defined.reshape(-1, items).T.astype(np.float64)
    blocks = count_blocks(items, resamples, seed)
    means = np.concatenate([mean_draws(counts, flat, there) for counts in blocks])
    return means.reshape(len(means), *shape)


def _system_draws(x: Values, y: Values, coefficient: Coefficient, counts: Values) -> Values:
    a, b = _draw_system_means(x, counts), _draw_system_means(y, counts)  # (columns, B, systems)
    return np.moveaxis(cross_correlate(a, b, coefficient), 2, 0)


def _draw_system_means(x: Values, counts: Values) -> Values:
    """Means of the systems in every draw: (columns, items, systems) to (columns, B, systems)."""
    there = ~np.isnan(x)
    sums = np.einsum("bi,cis->cbs", counts, np.where(there, x, 0.0), optimize=True)
    present = np.einsum("bi,cis->cbs", counts, there.astype(np.float64), optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums / present
    low, high = system_bounds(x)
    clipped: Values = np.clip(means, low[:, None], high[:, None])
    return clipped


def _draw_both(
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
    draws = np.empty((resamples, len(metrics.columns), len(gold.columns)))
    for number in range(resamples):
        rows, columns = draw_units(items, rng), draw_units(systems, rng)
        drawn = [
            Grid(grid.layout, grid.columns, grid.values[:, rows][:, :, columns])
            for grid in (metrics, gold)
        ]
        draws[number] = correlate_grids(*drawn, level=level, coefficient=coefficient).value
    return draws


def gains_over(value: Values, draws: Values, trivial: Flags, alpha: float = 0.05) -> Estimates:
    """Estimate the gain of each metric over the best baseline, by the same draws.

    `value` is metrics × gold columns, `draws` the same in every draw; `trivial` says which metrics
    are baselines. The best baseline of a column is the one with the largest coefficient, whatever
    its sign, which flatters the baseline: it was chosen on the same data. A metric that declares a
    direction is held to its sign, so that one that is wrong throughout gains nothing. NaN for the
    baselines themselves, and where there is none.
    """
    gain, low, high = (np.full(value.shape, np.nan) for _ in range(3))
    others = np.flatnonzero(~trivial)
    for column in range(value.shape[1] if len(others) else 0):
        rivals = np.where(trivial, np.abs(value[:, column]), np.nan)
        if np.isnan(rivals).all():
            continue
        best = int(np.nanargmax(rivals))
        sign = np.sign(value[best, column])
        gain[others, column] = value[others, column] - sign * value[best, column]
        differences = draws[:, others, column] - sign * draws[:, [best], column]
        low[others, column], high[others, column] = percentile_interval(differences, alpha)
    none = np.zeros(value.shape, dtype=np.int64)
    return Estimates(gain, low, high, none, none)
