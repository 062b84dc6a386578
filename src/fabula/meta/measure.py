"""One statistic of every metric against every gold column, with its value in every draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from fabula.meta.accuracies import ACCURACIES, Accuracy, accuracies, accuracy_draws
from fabula.meta.arrays import Values
from fabula.meta.bootstrap import Drawn, resampled_correlations
from fabula.meta.coefficients import Coefficient
from fabula.meta.controlled import controlled_correlations, controlled_draws
from fabula.meta.grid import Grid
from fabula.meta.levels import Correlations, Level, correlate_grids

Statistic = Coefficient | Accuracy
STATISTICS: tuple[Statistic, ...] = (*get_args(Coefficient), *get_args(Accuracy))
Sign = Literal["oriented", "raw", "absolute"]


@dataclass(frozen=True)
class Measuring:
    """How to measure: which draws, what to hold constant (a grid of one column), what are ties."""

    drawn: Drawn = "items"
    resamples: int = 1000
    seed: int = 0
    settle: bool = False
    control: Grid | None = None


def measure(
    metrics: Grid, gold: Grid, *, level: Level, statistic: Statistic, how: Measuring
) -> tuple[Correlations, Values]:
    """Give the statistic, and the same in every draw: (draws, metrics, gold columns)."""
    if statistic in ACCURACIES:
        found, epsilons = accuracies(metrics, gold, level=level, kind=statistic, seed=how.seed)
        draws = accuracy_draws(
            metrics, gold, level=level, kind=statistic, epsilons=epsilons,
            resamples=how.resamples, seed=how.seed,
        )  # fmt: skip
        return found, draws
    again: dict[str, Any] = {"drawn": how.drawn, "resamples": how.resamples, "seed": how.seed}
    of: dict[str, Any] = {"level": level, "coefficient": statistic}
    if how.control is not None:
        value = controlled_correlations(metrics, gold, how.control, settle=how.settle, **of)
        return value, controlled_draws(metrics, gold, how.control, **of, **again)
    value = correlate_grids(metrics, gold, settle=how.settle, **of)
    return value, resampled_correlations(metrics, gold, **of, **again)


def signed(value: Values, low: Values, high: Values, sign: Sign) -> tuple[Values, Values, Values]:
    """Drop the sign of a value where that is asked for, and turn its interval with it."""
    if sign != "absolute":
        return value, low, high
    down = value < 0
    return np.abs(value), np.where(down, -high, low), np.where(down, -low, high)
