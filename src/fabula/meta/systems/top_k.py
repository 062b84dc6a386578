"""Correlation over the best systems alone: does a metric tell good systems from one another?

Chhun et al. (2022), figure 8; the idea is that of Mathur et al. (2020) for translation.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabula.core.errors import SettingError
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.cross import cross_correlate
from fabula.meta.grid import Grid
from fabula.meta.levels import means_of_systems


def top_k_correlations(
    metrics: Grid, gold: Grid, *, sizes: Sequence[int], coefficient: Coefficient = "pearson"
) -> Values:
    """Correlate the means of the best k systems, for every k: (metrics, gold columns, sizes).

    The best are those with the highest mean on each gold column. Signed; NaN where undefined.
    """
    count = len(gold.layout.systems)
    for size in sizes:
        if not 2 <= size <= count:
            raise SettingError(f"k={size} will not do", f"give 2 to {count}, the number of systems")
    means, gold_means = means_of_systems(metrics.values), means_of_systems(gold.values)
    found = np.empty((len(metrics.columns), len(gold.columns), len(sizes)))
    for place, truth in enumerate(gold_means):
        order = best_first(truth)
        for k, size in enumerate(sizes):
            best = order[:size]
            table = cross_correlate(means[:, best], truth[None, best], coefficient)
            found[:, place, k] = table[:, 0]
    return found


def best_first(means: Values) -> list[int]:
    """Places of the systems from best to worst, by their means to two decimals.

    Of systems that agree so far the later one comes first, as in HANNA's release: a k that parts
    such systems is arbitrary. One without a mean comes last.
    """
    rounded = np.where(np.isnan(means), -np.inf, np.round(means, 2))
    return [int(place) for place in np.argsort(rounded, kind="stable")[::-1]]
