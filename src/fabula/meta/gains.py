"""What a metric is worth beyond the trivial baselines, by the same draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.resampling import percentile_interval

Flags = np.ndarray[Any, np.dtype[np.bool_]]


def gains_over(
    value: Values, draws: Values, trivial: Flags, alpha: float = 0.05
) -> tuple[Values, Values, Values]:
    """Give the gain of each metric over the best baseline and the ends of its interval.

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
    return gain, low, high
