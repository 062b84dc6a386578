"""How large a difference is: how often A wins, and the difference in units of its spread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from fabula.meta.arrays import Values

# Differences that are equal but for rounding have no spread to divide by.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Share:
    """A share with its interval, all from 0 to 1."""

    rate: float
    low: float
    high: float


NO_SHARE = Share(math.nan, math.nan, math.nan)


def win_rate(differences: Values, alpha: float = 0.05) -> Share:
    """Share of the items that A wins; a tie counts half. The interval is Wilson's."""
    if not len(differences):
        return NO_SHARE
    wins = np.count_nonzero(differences > 0) + np.count_nonzero(differences == 0) / 2
    low, high = wilson_interval(wins, len(differences), alpha)
    return Share(float(wins / len(differences)), low, high)


def wilson_interval(successes: float, trials: int, alpha: float = 0.05) -> tuple[float, float]:
    """Give the score interval of a share (Wilson, 1927), without continuity correction."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    rate = successes / trials
    centre = rate + z * z / (2 * trials)
    reach = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)


def cohen_dz(differences: Values) -> float:
    """Mean difference over its standard deviation (Cohen, 1988); NaN where nothing spreads."""
    if len(differences) < 2:
        return math.nan
    spread = differences.std(ddof=1)
    if spread <= _ROUNDING * np.abs(differences).max():
        return math.nan
    return float(differences.mean() / spread)


def rank_biserial(differences: Values) -> float:
    """Share of the ranks that favour A less that of the others (Kerby, 2014), from -1 to 1.

    The ranks are those of Wilcoxon's test: ties share theirs, differences of 0 have none. NaN
    where all are 0.
    """
    moving = differences[differences != 0]
    if not len(moving):
        return math.nan
    ranks = _shared_ranks(np.abs(moving))
    return float((ranks * np.sign(moving)).sum() / ranks.sum())


def _shared_ranks(values: Values) -> Values:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    ranks: Values = (last - (counts - 1) / 2)[places]
    return ranks
