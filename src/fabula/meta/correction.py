"""Adjusted p-values: what a p is worth when it is one of many."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fabula.meta.paired import Values


def holm(p: Values) -> Values:
    """Adjust for the chance of any false finding (Holm, 1979); NaN is no comparison."""
    return _adjusted(p, _step_down)


def benjamini_hochberg(p: Values) -> Values:
    """Adjust for the share of false findings (Benjamini and Hochberg, 1995)."""
    return _adjusted(p, _step_up)


CORRECTIONS: Mapping[str, Callable[[Values], Values]] = {"holm": holm, "bh": benjamini_hochberg}


def _step_down(ascending: Values) -> Values:
    count = len(ascending)
    return np.maximum.accumulate(ascending * np.arange(count, 0, -1))


def _step_up(ascending: Values) -> Values:
    count = len(ascending)
    return np.minimum.accumulate((ascending * (count / np.arange(1, count + 1)))[::-1])[::-1]


def _adjusted(p: Values, step: Callable[[Values], Values]) -> Values:
    """Adjust the values that are there, each in its place."""
    adjusted = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted[order] = np.minimum(step(p[order]), 1.0)
    return adjusted
