"""Arrays of items × systems: the cells they share, and one correlation of them at a level."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from fabula.core.errors import InputError, SettingError, closest
from fabula.meta.coefficients import COEFFICIENTS, Coefficient, correlate
from fabula.meta.levels import LEVELS, Level, means_of_systems
from fabula.meta.paired import Values


def check_choice(what: str, choice: str, choices: Collection[str]) -> None:
    """Refuse a setting that is none of the choices."""
    if choice not in choices:
        raise SettingError(f"no {what} is called {choice!r}", closest(choice, choices))


def check_level(level: str, coefficient: str = "pearson") -> None:
    """Refuse a level or a coefficient that does not exist."""
    check_choice("level", level, LEVELS)
    check_choice("coefficient", coefficient, COEFFICIENTS)


def only_shared(*arrays: Values) -> tuple[Values, ...]:
    """Keep the cells where all the arrays have a value; the others are NaN in each."""
    if len({array.shape for array in arrays}) > 1 or arrays[0].ndim != 2:
        told = ", ".join(str(array.shape) for array in arrays)
        raise InputError(f"the scores have the shapes {told}", "give items × systems, all alike")
    there = np.logical_and.reduce([np.isfinite(array) for array in arrays])
    return tuple(np.where(there, array, np.nan) for array in arrays)


def mean_defined(x: Values) -> Values:
    """Average what is defined along the last axis; NaN where nothing is."""
    there = ~np.isnan(x)
    if x.shape[-1] and there.all():
        whole: Values = x.mean(-1)
        return whole
    with np.errstate(divide="ignore", invalid="ignore"):
        partly: Values = np.where(there, x, 0.0).sum(-1) / there.sum(-1)
    return partly


def correlate_cells(x: Values, gold: Values, *, level: Level, coefficient: Coefficient) -> float:
    """Correlate two arrays at a level; means of systems that differ by rounding alone are ties."""
    rows = vectors_at(np.stack([x, gold]), level)
    return float(mean_defined(correlate(rows[0], rows[1], coefficient)))


def vectors_at(columns: Values, level: Level) -> Values:
    """Give the vectors that a level correlates: (columns, items, systems) to (columns, rows, n).

    A row is an item at level `item`; there is but one at the others. Rows with fewer than two
    values are left out.
    """
    if level == "system":
        columns = means_of_systems(columns, settle=True)[:, None]
    elif level == "pooled":
        columns = columns.reshape(len(columns), 1, -1)
    enough = (~np.isnan(columns[0])).sum(-1) > 1
    rows: Values = columns[:, enough]
    return rows
