"""Arrays that statistics work on: their types, and sums and quotients that know what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.core.errors import InputError

Values = np.ndarray[Any, np.dtype[np.float64]]
Counts = np.ndarray[Any, np.dtype[np.int64]]
Places = np.ndarray[Any, np.dtype[np.int64]]  # positions along an axis
Flags = np.ndarray[Any, np.dtype[np.bool_]]

# Values that agree to so many digits are equal but for rounding: means of the same ratings, added
# up in another order, are to be ties.
_DIGITS = 12
# Below this a divisor is 0 but for rounding.
_NOTHING = 1e-12


def round_digits(x: Values) -> Values:
    """Round to 12 significant digits, so that sums that differ by rounding alone are equal."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.floor(np.log10(np.abs(x)))
    scale = 10.0 ** (_DIGITS - 1 - np.where(np.isfinite(power), np.clip(power, -290, 290), 0))
    rounded: Values = np.round(x * scale) / scale
    return rounded


def mean_defined(x: Values) -> Values:
    """Average what is defined along the last axis; NaN where nothing is."""
    there = ~np.isnan(x)
    if x.shape[-1] and there.all():
        whole: Values = x.mean(-1)
        return whole
    with np.errstate(divide="ignore", invalid="ignore"):
        partly: Values = np.where(there, x, 0.0).sum(-1) / there.sum(-1)
    return partly


def divide(above: Values, below: Values) -> Values:
    """Divide; NaN where the divisor is 0 but for rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: Values = np.where(np.abs(below) > _NOTHING, above / below, np.nan)
    return quotient


def keep_shared(*arrays: Values) -> tuple[Values, ...]:
    """Keep the cells (items × systems) where all arrays have a value; NaN in the others."""
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 2:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InputError(f"the scores have the shapes {shapes}", "give items × systems, all alike")
    there = np.logical_and.reduce([np.isfinite(array) for array in arrays])
    return tuple(np.where(there, array, np.nan) for array in arrays)


def average_ranks(x: Values) -> Values:
    """Rank along the last axis from 1; ties share the mean of their ranks, NaN has none."""
    if not x.size:
        return x.copy()
    flat = x.reshape(-1, x.shape[-1])
    ranks = np.empty_like(flat)
    order = np.argsort(flat, axis=1, kind="stable")
    ordered = np.take_along_axis(flat, order, axis=1)
    count = flat.shape[1]
    places = np.arange(count)
    fresh = np.ones(flat.shape, dtype=bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(fresh, places, 0), axis=1)
    ends = np.ones(flat.shape, dtype=bool)
    ends[:, :-1] = fresh[:, 1:]
    last = np.minimum.accumulate(np.where(ends, places, count)[:, ::-1], axis=1)[:, ::-1]
    np.put_along_axis(ranks, order, (first + last) / 2 + 1.0, axis=1)
    ranks[np.isnan(flat)] = np.nan
    return ranks.reshape(x.shape)
