"""Student's t, Fisher's F and the binomial from scipy: tails, quantiles, intervals of formulas."""

from __future__ import annotations

import math
from statistics import NormalDist
from types import ModuleType

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.meta.arrays import Values


def t_quantile(share: float, freedom: float) -> float:
    """Give the value below which a share of Student's t lies."""
    return float(_special().stdtrit(freedom, share))


def t_tail(t: Values | np.float64, freedom: float) -> Values:
    """Give the share of Student's t that lies above each value: one-sided p-values."""
    tail: Values = _special().stdtr(freedom, -t)
    return tail


def f_quantile(share: float, above: float, below: float) -> float:
    """Give the value under which a share of Fisher's F lies, by its degrees of freedom."""
    return float(_special().fdtri(above, below, share))


def f_tail(f: float, above: float, below: float) -> float:
    """Give the share of Fisher's F that lies above a value."""
    return float(_special().fdtrc(above, below, f))


def binomial_tail(successes: int, trials: int, rate: float) -> float:
    """Give the chance of so many successes or more, each with the same rate."""
    if successes <= 0:
        return 1.0
    return float(_special().betainc(successes, trials - successes + 1, min(1.0, rate)))


def t_reach(values: Values, alpha: float = 0.05) -> float:
    """Half the length of Student's t interval of a mean; NaN for fewer than two values."""
    count = len(values)
    if count < 2:
        return math.nan
    return t_quantile(1 - alpha / 2, count - 1) * float(values.std(ddof=1)) / math.sqrt(count)


def wilson_interval(successes: float, trials: int, alpha: float = 0.05) -> tuple[float, float]:
    """Give the score interval of a share (Wilson, 1927), without continuity correction."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    rate = successes / trials
    centre = rate + z * z / (2 * trials)
    reach = z * math.sqrt(rate * (1 - rate) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    return max(0.0, (centre - reach) / scale), min(1.0, (centre + reach) / scale)


def _special() -> ModuleType:
    try:
        import scipy.special
    except ImportError:
        raise PackageMissing("scipy", "meta") from None
    module: ModuleType = scipy.special
    return module
