"""Partial correlation: how far a metric agrees with the gold beyond what, say, length explains.

Of Pearson's r and Spearman's rho it is the correlation of what is left of either (or of their
ranks) once the controls are regressed out; of Kendall's tau it is Kendall's (1942) formula. All
three are had from the coefficients between metric, gold and controls.
"""

from __future__ import annotations

import numpy as np

from fabula.meta.arrays import Values, keep_shared, mean_defined
from fabula.meta.cells import check_level, vectors_at
from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.levels import Level

# Where the controls leave so little of a metric or of the gold, they explain it.
_NOTHING = 1e-9


def partial_correlation(
    x: Values, gold: Values, controls: Values, *, level: Level, coefficient: Coefficient
) -> float:
    """Correlate x with the gold given one control (items, systems) or several (c, items, systems).

    Cells that any of them lacks are left out. NaN where x or the gold is constant or wholly
    explained by the controls; at level `item` such items are left out. A constant control explains
    nothing.
    """
    check_level(level, coefficient)
    held = controls.reshape(-1, *controls.shape[-2:])
    columns = np.stack(keep_shared(x, gold, *held))  # (2 + c, items, systems)
    return float(mean_defined(_partial(vectors_at(columns, level), coefficient)))


def _partial(columns: Values, coefficient: Coefficient) -> Values:
    """Correlate the first two columns given the others.  (2 + c, rows, n) -> (rows,)"""
    table = correlate(columns[:, None], columns[None], coefficient)  # (2 + c, 2 + c, rows)
    table = np.moveaxis(table, (0, 1), (-2, -1))
    undefined = np.isnan(table[..., 0, 1])
    table = np.where(np.isnan(table), np.eye(len(columns)), table)
    pairs, across = table[..., :2, :2], table[..., :2, 2:]
    inverse = np.linalg.pinv(table[..., 2:, 2:], rcond=_NOTHING, hermitian=True)
    left = pairs - across @ inverse @ np.swapaxes(across, -1, -2)  # (rows, 2, 2)
    spread = np.minimum(left[..., 0, 0], left[..., 1, 1])
    with np.errstate(divide="ignore", invalid="ignore"):
        found = left[..., 0, 1] / np.sqrt(left[..., 0, 0] * left[..., 1, 1])
    return np.where(undefined | (spread <= _NOTHING), np.nan, np.clip(found, -1.0, 1.0))
