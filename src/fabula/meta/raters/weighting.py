"""Statistics as functions of how often every story counts; so they are bootstrapped all at once.

Efron and Tibshirani (1993), chapter 6: to draw stories with replacement is to give them weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from fabula.meta.paired import Values

# How often every story counts, resample by resample, gives a value per resample; NaN is undefined.
Statistic = Callable[[Values], Values]  # (resamples, stories) -> (resamples,)

# Cells of weights that are held at once: 16 MB of floats.
_CELLS = 2_000_000


@dataclass(frozen=True)
class Spread:
    """Percentile interval of a statistic, and in how many resamples it was undefined."""

    low: float
    high: float
    undefined: int = 0


def undefined(weights: Values) -> Values:
    """Be undefined, whatever the weights."""
    return np.full(len(weights), np.nan)


def value_of(statistic: Statistic, stories: int) -> float:
    """Give the value where every story counts once."""
    return float(statistic(np.ones((1, stories)))[0])


def spreads_of(
    statistics: Mapping[str, Statistic],
    stories: int,
    *,
    resamples: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
) -> dict[str, Spread]:
    """Give the bootstrap intervals of several statistics over the same resampled stories."""
    found: dict[str, list[Values]] = {name: [] for name in statistics}
    for weights in story_weights(stories, resamples=resamples, seed=seed):
        for name, statistic in statistics.items():
            found[name].append(statistic(weights))
    return {name: _spread(np.concatenate(values), alpha) for name, values in found.items()}


def story_weights(stories: int, *, resamples: int, seed: int) -> Iterator[Values]:
    """Draw as many stories as there are with replacement; say how often each came."""
    rng = np.random.default_rng(seed)
    most = max(1, _CELLS // max(1, stories))
    for start in range(0, resamples, most):
        rows = min(most, resamples - start)
        drawn = rng.integers(0, stories, (rows, stories))
        drawn += stories * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * stories)
        yield counts.reshape(rows, stories).astype(np.float64)


def _spread(values: Values, alpha: float) -> Spread:
    defined = values[~np.isnan(values)]
    if not len(defined):
        return Spread(np.nan, np.nan, len(values))
    low, high = np.quantile(defined, [alpha / 2, 1 - alpha / 2])
    return Spread(float(low), float(high), len(values) - len(defined))


def quotient(above: Values, below: Values) -> Values:
    """Divide; NaN where the divisor is 0 but for rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Values = np.where(np.abs(below) > 1e-12, above / below, np.nan)
    return found
