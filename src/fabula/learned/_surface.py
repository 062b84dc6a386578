"""Surface features as scales look at them: standardised, bounded, faint in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabula.text.features import FEATURE_NAMES

if TYPE_CHECKING:
    from fabula.core.model import Array

_WORDS = FEATURE_NAMES.index("log_words")
_COUNTS = [FEATURE_NAMES.index(name) for name in ("log_words", "log_unique_words")]


def standing(features: Array, means: Array, deviations: Array, clip: float) -> Array:
    """Give how far features lie from their means, in deviations, none beyond ±clip: (texts, 17).

    Shares and means over a few words jump. In a text shorter than `clip` deviations below the
    mean, all but the counts of words fade in proportion to its length.
    """
    found: Array = np.clip((features - means) / deviations, -clip, clip)
    shortest = max(np.expm1(means[_WORDS] - clip * deviations[_WORDS]), 1.0)
    share = np.minimum(np.expm1(features[:, _WORDS]) / shortest, 1.0)
    counts = found[:, _COUNTS]
    found = found * share[:, None]
    found[:, _COUNTS] = counts
    return found
