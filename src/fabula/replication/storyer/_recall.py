"""How many of the aspects that people chose to speak of are among the surest."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def recalls(values: Array, chosen: Array, k: int) -> Array:
    """Give for every story the share of its chosen aspects among the `k` with the highest value.

    Both are (stories, aspects). Of aspects with equal values the first ones count.
    """
    top = np.argsort(-values, axis=1, kind="stable")[:, :k]
    hits = np.take_along_axis(chosen, top, axis=1).sum(1)
    counts = chosen.sum(1)
    found: Array = np.where(counts > 0, hits / np.maximum(counts, 1), np.nan)
    return found
