"""The noise ceiling of every gold aspect, at a level and by a coefficient."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fabula.core.score import Score
from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.grid import Grid, Layout
from fabula.meta.levels import Level, system_means
from fabula.meta.paired import Values


def gold_ceilings(
    ratings: Iterable[Score], gold: Grid, *, level: Level, coefficient: Coefficient
) -> dict[str, float]:
    """Give what a perfect metric could reach on each aspect; NaN where one rater is all there is."""
    return {}
