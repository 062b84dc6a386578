"""Student's t and Fisher's F: tails and quantiles, from scipy."""

from __future__ import annotations

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


def _special() -> ModuleType:
    try:
        import scipy.special
    except ImportError:
        raise PackageMissing("scipy", "meta") from None
    found: ModuleType = scipy.special
    return found
