"""Dot products of two small sets of vectors, without waiting for other threads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fabula.core.model import Array

# OpenBLAS works on products of fewer multiplications alone. Waking its threads for the few words of
# a story costs more than it gains, and on a busy machine ten times as much.
_ALONE = 250_000
_FEWEST_ROWS = 4


def dot_products(left: Array, right: Array) -> Array:
    """Give the dot product of every vector of the left with every one of the right."""
    rows = _ALONE // max(right.size, 1)
    if rows < _FEWEST_ROWS:
        whole: Array = left @ right.T
        return whole
    found = np.empty((len(left), len(right)), dtype=np.result_type(left, right))
    for start in range(0, len(left), rows):
        np.matmul(left[start : start + rows], right.T, out=found[start : start + rows])
    return found
