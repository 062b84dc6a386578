"""Scorers that say the same stand side by side: hierarchical clustering of correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Clustering:
    """An order of rows, and the merges behind it.

    A merge joins two clusters at a distance; the first clusters are the rows themselves, and
    every merge makes the next one.
    """

    order: tuple[int, ...]
    merges: tuple[tuple[int, int, float], ...]


def cluster(matrix: Array) -> Clustering:
    """Cluster by average linkage on 1 − |r|, leaves in the best order (Bar-Joseph et al., 2001).

    An undefined correlation counts as none.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    size = len(matrix)
    if size < 3:
        return Clustering(tuple(range(size)), ())
    strength = np.nan_to_num(np.abs(np.asarray(matrix, dtype=float)), nan=0.0)
    far = np.clip(1 - (strength + strength.T) / 2, 0, 1)
    np.fill_diagonal(far, 0)
    links = linkage(squareform(far, checks=False), "average", optimal_ordering=True)
    merges = tuple((int(one), int(other), float(height)) for one, other, height, _ in links)
    return Clustering(tuple(int(place) for place in leaves_list(links)), merges)


def branches(clustering: Clustering) -> list[tuple[float, float, float, float, float]]:
    """Brackets of the tree: two places, their distances, and the distance where they join."""
    place = {row: float(at) for at, row in enumerate(clustering.order)}
    reached = dict.fromkeys(place, 0.0)
    leaves = []
    for number, (one, other, height) in enumerate(clustering.merges, len(place)):
        leaves.append((place[one], place[other], reached[one], reached[other], height))
        place[number], reached[number] = (place[one] + place[other]) / 2, height
    return leaves
