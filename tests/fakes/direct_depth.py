"""DepthScore straight from its definition, to hold the fast one against."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def direct_depths(points: Array, along: Array) -> Array:
    """The definition, in 64 bits: sort every direction, write down the ranks, take the mean."""
    order = (points @ along.T).argsort(axis=0)
    ranks = np.empty(order.shape)
    for number in range(len(along)):
        ranks[order[:, number], number] = np.arange(1, len(points) + 1)
    found: Array = np.minimum(ranks / len(points), 1 - ranks / len(points)).mean(axis=1)
    return found


def direct_distance(left: Array, right: Array, along: Array, *, signed: bool = False) -> float:
    """The definition, percentile by percentile."""
    powers = []
    for share in np.linspace(0.3, 1, 5):
        reach = []
        for points in (left, right):
            deep = direct_depths(points, along)
            kept = points[deep >= np.quantile(deep, share)]
            reach.append((kept @ along.T).max(axis=0))
        gaps = reach[0] - reach[1]
        powers.append(((gaps if signed else abs(gaps)) ** 5).max())
    return float(np.mean(powers) ** 0.2)
