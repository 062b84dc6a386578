"""The cloud that lies between several: a free-support barycentre in the Wasserstein-2 distance.

Its points move to the mean of where each cloud's transport takes them, until they stay. They start
at the means of the points of one token. POT starts from zeros, where all plans cost the same; it
then takes the same plan for every cloud, so that its first round gives the same means, reordered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.metrics._distances import squared_distances
from fabula.metrics._transport import exact_plan

if TYPE_CHECKING:
    from fabula.core.model import Array

_MOST_ROUNDS = 100
_STILL = 1e-7  # sum of squares of all moves, as in POT
# Inner products of vectors of length one, in 32 bits, are much better than this.
_SPARE = 1e-5
_MOST_PATHS = 20


def barycentre(clouds: Array, weights: Array | None = None) -> Array:
    """Give as many points, of the same weight each, as every cloud has (clouds × points × width).

    `weights` are those of the points in every cloud; without them they are uniform.
    """
    exact = list(clouds.astype(np.float64, copy=False))
    centre: Array = np.mean(exact, axis=0)
    for _ in range(_MOST_ROUNDS):
        carried = [_carried(centre, cloud, weights) for cloud in exact]
        if all(one is cloud for one, cloud in zip(carried, exact, strict=True)):
            break
        found = np.mean(carried, axis=0)
        move = float(np.square(found - centre).sum())
        centre = found
        if move <= _STILL:
            break
    return centre


def _carried(centre: Array, cloud: Array, weights: Array | None) -> Array:
    """Give for every point of the centre the mean of where its mass goes."""
    if weights is None:
        return cloud if _stays(centre, cloud) else cloud[_assigned(centre, cloud)]
    heavy = np.flatnonzero(weights)
    size = len(centre)
    costs = squared_distances(centre, cloud[heavy])
    plan = exact_plan(np.full(size, 1 / size), weights[heavy], costs)
    carried: Array = size * (plan @ cloud[heavy])
    return carried


def _stays(centre: Array, cloud: Array) -> bool:
    """Whether it is proved that no pairing is cheaper than every point with its own partner.

    The proof are prices of the partners: with them none is a better bargain for a point than its
    own. They are found as shortest paths are, and with so much to spare that 32 bits will do.
    """
    halves = np.einsum("th,th->t", cloud, cloud) / 2
    own = np.einsum("th,th->t", centre, cloud) - halves
    gains = centre.astype(np.float32) @ cloud.astype(np.float32).T
    gains -= halves.astype(np.float32)
    gains -= own.astype(np.float32)[:, None]
    np.fill_diagonal(gains, -np.inf)
    prices = np.zeros(len(own), dtype=np.float32)
    least = gains.max(axis=0) + _SPARE
    for _ in range(_MOST_PATHS):
        changed = np.flatnonzero(least > prices)
        if not len(changed):
            return True
        prices[changed] = least[changed]
        least = (gains[changed] + prices[changed, None]).max(axis=0) + _SPARE
    return False


def _assigned(centre: Array, cloud: Array) -> Array:
    """Give the partner of every point in the cheapest pairing."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise PackageMissing("scipy", "models") from None
    partners: Array = linear_sum_assignment(squared_distances(centre, cloud))[1]
    return partners
