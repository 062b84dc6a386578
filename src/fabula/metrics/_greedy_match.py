"""Greedy matching of two clouds of unit vectors: every one looks for its nearest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fabula.core.model import Array

# Pairs that are compared within seconds, and those held at once.
MOST_PAIRS = 200_000_000
BLOCK_PAIRS = 4_000_000


def excess(left: int, right: int) -> str:
    """Say why so many tokens on both sides are too many to match; '' where they are not."""
    if left * right <= MOST_PAIRS:
        return ""
    return f"{left:,} × {right:,} tokens: over the limit of {MOST_PAIRS:,} pairs"


def largest_cosines(left: Array, right: Array) -> tuple[Array, Array]:
    """Largest cosine of every vector to one of the other side: those of the left, of the right."""
    rows = max(BLOCK_PAIRS // len(right), 1)
    forth, back = [], np.full(len(right), -1.0)
    for start in range(0, len(left), rows):
        cosines = left[start : start + rows] @ right.T
        forth.append(cosines.max(axis=1))
        back = np.maximum(back, cosines.max(axis=0))
    return np.minimum(np.concatenate(forth), 1.0), np.minimum(back, 1.0)
