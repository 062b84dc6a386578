"""How deep points lie in their cloud, how far its deep parts reach, and how far two clouds differ.

The depth is the integrated rank-weighted one (Ramsay, Durocher and Leblanc, 2019): project the
points on many directions; a point's depth is the mean of min(rank/n, 1 − rank/n). All that a
distance needs of a cloud are the support functions of its trimmed parts, so that a text that is
compared with many others is worked out once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from fabula.models import thread_limit

if TYPE_CHECKING:
    from fabula.core.model import Array

T = TypeVar("T")

PERCENTILES = (30.0, 47.5, 65.0, 82.5, 100.0)
POWER = 5
# Numbers that are sorted at once without numba: they stay in the cache of a core.
_BLOCK = 65_536


@lru_cache(maxsize=2)
def directions(count: int, width: int, seed: int) -> Array:
    """Give unit vectors, any direction as likely as any other: (count, width).

    They are rows of normal numbers from NumPy's `default_rng(seed)`, scaled to length one.
    """
    rows = np.random.default_rng(seed).standard_normal((count, width))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors: Array = rows.astype(np.float32)
    vectors.flags.writeable = False
    return vectors


def depths(points: Array, along: Array) -> Array:
    """Depth of every point in the cloud of all."""
    depths_found: Array = _sums(along @ points.T) / (len(points) * len(along))
    return depths_found


def supports(points: Array, along: Array) -> Array:
    """How far the points reach whose depth is at least each percentile: (percentiles, directions).

    The parts lie in one another: one look at every point serves them all.
    """
    places = along @ points.T  # (directions, points)
    sums = _sums(places)
    bounds = np.percentile(sums, PERCENTILES)
    inside = np.searchsorted(bounds, sums, side="right")
    parts = _map_slices(places, lambda some: _farthest(some, inside))
    return np.maximum.accumulate(np.concatenate(parts, axis=1), axis=0)[::-1]


def distance(left: Array, right: Array, *, signed: bool = False) -> float:
    """Mean over the percentiles of the largest gap between two supports, to the fifth power.

    Signed gaps count only where the left reaches further; their mean may be negative, and then
    there is no distance: NaN.
    """
    gaps = left - right if signed else np.abs(left - right)
    mean = float(np.mean(gaps.max(axis=1).astype(np.float64) ** POWER))
    return math.nan if mean < 0 else mean ** (1 / POWER)


def _farthest(places: Array, inside: Array) -> Array:
    """Farthest place of the points that lie inside so many parts and no more, the most first."""
    supports = np.full((len(PERCENTILES), len(places)), -np.inf, np.float32)
    for row, count in enumerate(range(len(PERCENTILES), 0, -1)):
        some = np.flatnonzero(inside == count)
        if len(some):
            supports[row] = places.take(some, axis=1).max(axis=1)
    return supports


def _sums(places: Array) -> Array:
    """Sum over the directions of min(rank, n − rank), by point; whole numbers, so exact."""
    add = _ranking()

    def sum_ranks(some: Array) -> Array:
        sums = np.zeros(some.shape[1], np.int64)
        add(some, sums)
        return sums

    total: Array = np.sum(_map_slices(places, sum_ranks), axis=0)
    return total


def _map_slices(places: Array, work: Callable[[Array], T]) -> list[T]:
    """Work on slices of directions, as many at once as there are cores for."""
    slices = np.array_split(places, min(thread_limit(), len(places)))
    if len(slices) == 1:
        return [work(slices[0])]
    with ThreadPoolExecutor(len(slices)) as pool:
        return list(pool.map(work, slices))


@lru_cache(maxsize=1)
def _ranking() -> Callable[[Array, Array], None]:
    """Give the compiled loop where numba is installed, else NumPy's sort."""
    try:
        from fabula.metrics._compiled_ranks import add_ranks
    except ImportError:
        return add_ranks_plainly
    compiled: Callable[[Array, Array], None] = add_ranks
    return compiled


def add_ranks_plainly(places: Array, sums: Array) -> None:
    """Add min(rank, n − rank) of every point in every direction to its sum.

    The bits of a place, in an order that whole numbers keep, and the point's number are sorted as
    one: points that lie alike stay in their order.
    """
    points = places.shape[1]
    ranks = np.arange(1, points + 1)
    weights = np.minimum(ranks, points - ranks)
    rows = max(_BLOCK // points, 1)
    for start in range(0, len(places), rows):
        bits = places[start : start + rows].view(np.int32).astype(np.int64)
        keys = np.where(bits < 0, bits ^ 0x7FFFFFFF, bits) << 32 | np.arange(points)
        keys.sort(axis=1)
        order = (keys & 0xFFFFFFFF).ravel()
        counted = np.bincount(order, np.tile(weights, len(keys)), minlength=points)
        sums += counted.astype(np.int64)
