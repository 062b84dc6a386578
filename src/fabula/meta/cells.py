"""Arrays of items × systems: the cells they share, and one correlation of them at a level."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from fabula.core.errors import SettingError, closest
from fabula.meta.arrays import Values, mean_defined
from fabula.meta.coefficients import COEFFICIENTS, Coefficient, correlate
from fabula.meta.levels import LEVELS, Level, means_of_systems


def check_choice(what: str, choice: str, choices: Collection[str]) -> None:
    """Refuse a setting that is none of the choices."""
    if choice not in choices:
        raise SettingError(f"no {what} is called {choice!r}", closest(choice, choices))


def check_level(level: str, coefficient: str = "pearson") -> None:
    """Refuse a level or a coefficient that does not exist."""
    check_choice("level", level, LEVELS)
    check_choice("coefficient", coefficient, COEFFICIENTS)


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
