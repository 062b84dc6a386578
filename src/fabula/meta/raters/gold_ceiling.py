"""The noise ceiling of every gold aspect, at a level and by a coefficient."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from fabula.core.score import Score
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid, Layout
from fabula.meta.levels import Level, correlate_pairs
from fabula.meta.raters.ceiling import noise_ceiling
from fabula.meta.raters.ratings import ratings_of

_SPLITS = 50


def gold_ceilings(
    ratings: Iterable[Score],
    gold: Grid,
    *,
    level: Level,
    coefficient: Coefficient,
    raters_known: bool = True,
) -> dict[str, float]:
    """Give what a perfect metric could reach on each aspect; NaN where raters were alone.

    Where the raters are not known their strictness counts as noise, and the ceilings are too low.
    """
    correlate = partial(correlate_pairs, level=level, coefficient=coefficient)
    wanted = {column.aspect for column in gold.columns}
    return {
        one.aspect: noise_ceiling(
            _laid_out(one.matrix if raters_known else one.packed, one.stories, gold.layout),
            correlate,
            by_rater=raters_known,
            splits=_SPLITS,
            interval=False,
        ).ceiling
        for one in ratings_of(ratings)
        if one.aspect in wanted
    }


def _laid_out(matrix: Values, stories: Sequence[str], layout: Layout) -> Values:
    """Stories × raters as raters × items × systems."""
    values = np.full((matrix.shape[1], *layout.shape), np.nan)
    for story, given in zip(stories, matrix, strict=True):
        if place := layout.places.get(story):
            values[:, *place] = given
    return values
