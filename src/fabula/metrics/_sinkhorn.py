"""Entropic optimal transport between two uniform clouds, to one tolerance however weak the entropy.

Sinkhorn's sweeps alone need ever more rounds as the strength r of the entropy falls, and underflow
where costs / r is large. Here they are the first rounds only. Then Newton's method climbs the dual,
a smooth concave function of the potentials of one side, in logarithms; every strength starts from
where the last two point to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.metrics._plans import AllPairs, Kind, Pairs

if TYPE_CHECKING:
    from fabula.core.model import Array

# Mass that may be amiss on one side (the other is exact), summed over its points.
TOLERANCE = 1e-9
_LOOSE = 1e-2  # the same for strengths that only lead to the next one
_LONGEST_STRIDE = 5.0  # ratio of neighbouring strengths
# Potentials are nearly straight in r from here on.
_STRAIGHT = 0.1
# Sweeps take exponentials of -costs / r, which up to here stay far above 1e-308.
_STEEPEST = 250.0
_MOST_SWEEPS = 40
_PLAIN_SWEEPS = 5
_RELAXATION = 1.6
_MOST_STEPS = 200
# Newton's method is trusted where no point has e times too much or too little, and for so many r.
_NEAR = 1.0
_REACH = 30.0
_ROUGH = 1e-4
# Strengths from here on leave most pairs without mass. Those that may matter are chosen anew when
# the potentials have moved by so many r.
_FEW_MATTER = 0.005
_LEASH = 20.0
_MOST_PRUNINGS = 50


@dataclass(frozen=True)
class Entropic:
    """Transport at strength r: its `cost` ΣPC, its `value` ΣPC + r KL(P | uniform), its error.

    `potentials` are what the columns are worth.
    """

    r: float
    cost: float
    value: float
    error: float
    potentials: Array


def entropic(costs: Array, strengths: Sequence[float]) -> list[Entropic]:
    """Solve for every strength, given from large to small; fast where columns are few."""
    pairs, solutions = AllPairs(costs), []
    trail = [(math.inf, np.zeros(costs.shape[1]))]
    for r in _waypoints(strengths):
        tolerance = TOLERANCE if r in strengths else _LOOSE
        place = _summit(pairs, r, _extrapolate(trail, r), tolerance=tolerance)
        trail.append((r, place.potentials))
        if r in strengths:
            solutions.append(place.transport)
    return solutions


def _waypoints(strengths: Sequence[float]) -> list[float]:
    """Put others between strengths that lie far from each other."""
    path = list(strengths[:1])
    for r in strengths[1:]:
        strides = math.ceil(math.log(path[-1] / r) / math.log(_LONGEST_STRIDE) - 1e-9)
        path += np.geomspace(path[-1], r, strides + 1)[1:-1].tolist() if strides > 1 else []
        path.append(r)
    return path


def _extrapolate(trail: list[tuple[float, Array]], r: float) -> Array:
    """Go on in a straight line; potentials are nearly one in r where r is small."""
    (before, first), (last, second) = trail[-2] if len(trail) > 1 else trail[-1], trail[-1]
    if before > _STRAIGHT:
        return second
    return second + (second - first) * (last - r) / (before - last)


@dataclass(frozen=True)
class _Place:
    """Potentials of the columns, and the plan that goes with them; its rows are exact."""

    pairs: Pairs
    r: float
    potentials: Array
    plan: Array
    mass: Array
    height: float

    @classmethod
    def at(cls, pairs: Pairs, r: float, potentials: Array) -> _Place:
        plan, mean_log = pairs.plan(potentials, r)
        height = float(potentials.mean()) - mean_log
        return cls(pairs, r, potentials, plan, pairs.masses(plan), height)

    @property
    def slope(self) -> Array:
        """What each column still lacks: the dual's gradient."""
        lack: Array = 1 / len(self.mass) - self.mass
        return lack

    @property
    def error(self) -> float:
        return float(np.abs(self.slope).sum())

    @property
    def near(self) -> bool:
        share = self.mass * len(self.mass)
        return bool(share.min() > math.exp(-_NEAR) and share.max() < math.exp(_NEAR))

    @property
    def transport(self) -> Entropic:
        value = self.height + self.r * math.log(len(self.mass))
        cost = self.pairs.cost(self.plan)
        return Entropic(self.r, cost, value, self.error, self.potentials)

    def move(self, by: Array) -> _Place:
        plan, growths = self.pairs.grow(self.plan, np.exp(by / self.r))
        height = self.height + float(by.mean()) - self.r * float(np.log(growths).mean())
        mass = self.pairs.masses(plan)
        return _Place(self.pairs, self.r, self.potentials + by, plan, mass, height)


def _summit(pairs: AllPairs, r: float, start: Array, *, tolerance: float) -> _Place:
    """Climb with the pairs that matter, then see whether the others leave it at that."""
    if r <= _FEW_MATTER:
        for _ in range(_MOST_PRUNINGS):
            few = _Place.at(pairs.prune(start, r), r, start)
            reached = _climb(few, tolerance / 2, leash=_LEASH * r)
            start = reached.potentials
            if reached.error > tolerance / 2:
                continue
            place = _Place.at(pairs, r, start)
            if place.error <= tolerance:
                return place
    return _climb(_swept(pairs, r, start) or _Place.at(pairs, r, start), tolerance)


def _swept(pairs: AllPairs, r: float, potentials: Array) -> _Place | None:
    """Sinkhorn's own sweeps, where they can be done without logarithms."""
    if pairs.costs.max() / r > _STEEPEST:
        return None
    rows, columns = pairs.shape
    kernel = np.exp(pairs.costs * (-1 / r))
    right = np.exp((potentials - potentials.max()) / r)
    for sweep in range(_MOST_SWEEPS):
        left = 1 / (rows * (kernel @ right))
        mass = right * (left @ kernel)
        if np.abs(mass - 1 / columns).sum() <= TOLERANCE or sweep == _MOST_SWEEPS - 1:
            break
        # Sweeps that go too far, once they have begun, come there sooner.
        right /= (mass * columns) ** (1.0 if sweep < _PLAIN_SWEEPS else _RELAXATION)
    kernel *= left[:, None]
    kernel *= right
    height = r * float(np.log(right).mean() + np.log(rows * left).mean())
    return _Place(pairs, r, r * np.log(right), kernel, mass, height)


def _climb(place: _Place, tolerance: float, *, leash: float = math.inf) -> _Place:
    """Climb to where no column has too much or too little, or as far as the leash goes."""
    start = place.potentials
    for _ in range(_MOST_STEPS):
        if place.error <= tolerance or float(np.ptp(place.potentials - start)) > leash:
            break
        place = (_step(place) if place.near else None) or _swept_once(place)
    return place


def _swept_once(place: _Place) -> _Place:
    """One sweep of Sinkhorn's, in logarithms: it leads up, however far off."""
    share = np.clip(place.mass * len(place.mass), 1e-9, 1e9)
    return place.move(-place.r * np.log(share))


def _step(place: _Place) -> _Place | None:
    """One step of Newton's, shortened until it leads up; none where it does not."""
    slope, direction = place.slope, _newton(place)
    if direction is None:
        return None
    length = min(1.0, _REACH * place.r / max(float(np.abs(direction).max()), 1e-300))
    rounding = 1e-14 * max(place.r, 1.0)
    for _ in range(4):
        there = place.move(length * direction)
        if there.height >= place.height + 1e-4 * length * float(slope @ direction) - rounding:
            return there
        length /= 4
    return None


def _newton(place: _Place) -> Array | None:
    """Solve for the step, damped where far: parts of a plan may hardly hang together."""
    try:
        from scipy.linalg import get_lapack_funcs
    except ImportError:
        raise PackageMissing("scipy", "models") from None
    rows, columns = place.pairs.shape
    # Far off, where steps are damped and rough anyway, 32 bits do.
    kind: Kind = np.float32 if place.error > _ROUGH else np.float64
    curve = place.pairs.gram(place.plan, kind)
    curve *= kind(-rows)
    damping = max(0.05 * place.error, 1e-13)
    curve.flat[:: columns + 1] += (place.mass * (1 + damping)).astype(kind)
    # All potentials can rise together without any change; this pins their mean.
    curve += kind(1 / columns**2)
    factorise, solve = get_lapack_funcs(("potrf", "potrs"), (curve,))
    # The matrix is its own mirror image; LAPACK takes the image without a copy.
    factor, wrong = factorise(curve.T, lower=True, overwrite_a=True, clean=False)
    if wrong:
        return None
    solution, _ = solve(factor, place.slope.astype(kind), lower=True)
    step: Array = place.r * solution.astype(np.float64)
    return step if np.isfinite(step).all() else None
