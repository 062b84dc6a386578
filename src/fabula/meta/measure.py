"""One statistic of every metric against every gold column, with its value in every draw.

A coefficient, an accuracy, or a coefficient beyond what one column explains: length, above all.
That is the partial correlation of metric and gold, given the control, from the three coefficients
between them (of Kendall's tau, Kendall's formula of 1942); item by item at the level of items.
Stories that metric, gold or control lacks are left out of all three.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from fabula.meta.accuracies import ACCURACIES, Accuracy, accuracies, accuracy_draws
from fabula.meta.arrays import Flags, Places, Values
from fabula.meta.bootstrap import Drawn, mean_item_draws, resample_correlations
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid
from fabula.meta.levels import (
    CorrelationTable,
    Level,
    average_items,
    correlate_grids,
    correlate_items,
)

Statistic = Literal[Coefficient, Accuracy]
STATISTICS: tuple[Statistic, ...] = (*get_args(Coefficient), *get_args(Accuracy))
Sign = Literal["oriented", "raw", "absolute"]
# Where the control leaves so little of a metric or of the gold, it explains it.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Measuring:
    """How to measure: which draws, what to hold constant (a grid of one column), what are ties."""

    drawn: Drawn = "items"
    resamples: int = 1000
    seed: int = 0
    round_ties: bool = False
    control: Grid | None = None


def measure(
    metrics: Grid, gold: Grid, *, level: Level, statistic: Statistic, how: Measuring
) -> tuple[CorrelationTable, Values]:
    """Give the statistic, and the same in every draw: (draws, metrics, gold columns)."""
    if statistic in ACCURACIES:
        table, epsilons = accuracies(metrics, gold, level=level, kind=statistic, seed=how.seed)
        draws = accuracy_draws(
            metrics, gold, level=level, kind=statistic, epsilons=epsilons,
            resamples=how.resamples, seed=how.seed,
        )  # fmt: skip
        return table, draws
    again: dict[str, Any] = {"drawn": how.drawn, "resamples": how.resamples, "seed": how.seed}
    of: dict[str, Any] = {"level": level, "coefficient": statistic}
    if how.control is not None:
        value = correlate_partial(metrics, gold, how.control, round_ties=how.round_ties, **of)
        return value, resample_partial(metrics, gold, how.control, **of, **again)
    value = correlate_grids(metrics, gold, round_ties=how.round_ties, **of)
    return value, resample_correlations(metrics, gold, **of, **again)


def drop_sign(
    value: Values, low: Values, high: Values, sign: Sign
) -> tuple[Values, Values, Values]:
    """Drop the sign of a value where that is asked for, and turn its interval with it."""
    if sign != "absolute":
        return value, low, high
    down = value < 0
    return np.abs(value), np.where(down, -high, low), np.where(down, -low, high)


def correlate_partial(
    metrics: Grid,
    gold: Grid,
    control: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    round_ties: bool = False,
) -> CorrelationTable:
    """Correlate every metric with every gold column, given the control's one column."""
    shape = len(metrics.columns), len(gold.columns)
    value, n, undefined = np.empty(shape), np.empty(shape, np.int64), np.empty(shape, np.int64)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "round_ties": round_ties}
    for cells, grids in _group_by_gaps(metrics, gold, control):
        part = _correlate_alike(*grids, **how)
        value[cells], n[cells], undefined[cells] = part.value, part.n, part.undefined
    return CorrelationTable(value, n, undefined)


def _correlate_alike(
    metrics: Grid,
    gold: Grid,
    control: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    round_ties: bool,
) -> CorrelationTable:
    if level == "item":
        each = _partial_items(metrics, gold, control, coefficient)
        items = correlate_items(metrics.values, gold.values, coefficient)[1]
        return average_items(each, items)
    how: dict[str, Any] = {"level": level, "coefficient": coefficient, "round_ties": round_ties}
    plain = correlate_grids(metrics, gold, **how)
    with_control = correlate_grids(metrics, control, **how).value
    of_gold = correlate_grids(control, gold, **how).value
    value = _take_out_control(plain.value, with_control, of_gold)
    return CorrelationTable(value, plain.n, np.isnan(value).astype(np.int64))


def resample_partial(
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
    parts = [
        (cells, _resample_alike(*grids, **how))
        for cells, grids in _group_by_gaps(metrics, gold, control)
    ]
    draws = min((len(part) for _, part in parts), default=0)
    table = np.full((draws, len(metrics.columns), len(gold.columns)), np.nan)
    for (rows, columns), part in parts:
        table[:, rows, columns] = part
    return table


def _resample_alike(metrics: Grid, gold: Grid, control: Grid, **how: Any) -> Values:
    level, coefficient = how["level"], how["coefficient"]
    if level == "item" and how["drawn"] == "items":
        each = _partial_items(metrics, gold, control, coefficient)
        return mean_item_draws(each, how["resamples"], how["seed"])
    return _take_out_control(
        resample_correlations(metrics, gold, **how),
        resample_correlations(metrics, control, **how),
        resample_correlations(control, gold, **how),
    )


def _group_by_gaps(
    metrics: Grid, gold: Grid, control: Grid
) -> Iterator[tuple[tuple[Places, Places], tuple[Grid, Grid, Grid]]]:
    """Group the pairs of columns by which stories they lack, and leave these out of all three."""
    held = ~np.isnan(control.values[0])
    for rows, x in _patterns(metrics):
        for columns, y in _patterns(gold):
            there = x & y & held
            grids = (
                Grid(grid.layout, grid.columns, np.where(there, grid.values, np.nan))
                for grid in (
                    metrics.select([metrics.columns[place] for place in rows]),
                    gold.select([gold.columns[place] for place in columns]),
                    control,
                )
            )
            first, second = np.ix_(rows, columns)
            yield (first, second), (*grids,)  # type: ignore[misc]


def _patterns(grid: Grid) -> list[tuple[list[int], Flags]]:
    """Places of the columns that have values for the same stories, and these stories."""
    patterns: dict[bytes, tuple[list[int], Flags]] = {}
    for place, there in enumerate(~np.isnan(grid.values)):
        patterns.setdefault(there.tobytes(), ([], there))[0].append(place)
    return list(patterns.values())


def _partial_items(metrics: Grid, gold: Grid, control: Grid, coefficient: Coefficient) -> Values:
    """Partial correlations item by item: (m, g, items)."""
    return _take_out_control(
        correlate_items(metrics.values, gold.values, coefficient)[0],
        correlate_items(metrics.values, control.values, coefficient)[0],
        correlate_items(control.values, gold.values, coefficient)[0],
    )


def _take_out_control(plain: Values, with_control: Values, of_gold: Values) -> Values:
    """Take the control out; one that is constant explains nothing."""
    a = np.where(np.isnan(with_control), 0.0, with_control)
    b = np.where(np.isnan(of_gold), 0.0, of_gold)
    left = np.minimum(1 - a**2, 1 - b**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        partial = (plain - a * b) / np.sqrt((1 - a**2) * (1 - b**2))
    return np.where(left <= _NOTHING, np.nan, np.clip(partial, -1.0, 1.0))
