"""Exact optimal transport between two clouds of weighted points, by POT's network simplex."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import PackageMissing

if TYPE_CHECKING:
    from fabula.core.model import Array

# Pivots after which the simplex would give up; stories of 2,000 tokens need fewer than a million.
_MOST_PIVOTS = 100_000_000
# How far duals may overstep a cost and still prove one.
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Transport:
    """The cheapest way to carry one cloud's mass to the other.

    `plan` is how much goes from each point to each (left × right). The duals u and v prove that
    nothing is cheaper: u + v is nowhere above the costs, and their means are the cost.
    """

    cost: float
    plan: Array
    left: Array
    right: Array


def exact_cost(a: Array, b: Array, costs: Array) -> float:
    """Give the least cost of carrying weights a to weights b; both are scaled to sum to 1.

    Points without weight cost nothing, neither money nor time.
    """
    kept_a, kept_b = np.flatnonzero(a), np.flatnonzero(b)
    if len(kept_a) < len(a) or len(kept_b) < len(b):
        a, b, costs = a[kept_a], b[kept_b], costs[np.ix_(kept_a, kept_b)]
    return exact_transport(a, b, costs).cost


def exact_plan(a: Array, b: Array, costs: Array) -> Array:
    """Give the cheapest plan of carrying weights a to weights b."""
    return exact_transport(a, b, costs).plan


def exact_transport(a: Array, b: Array, costs: Array) -> Transport:
    """Give the cheapest plan with its cost and its duals."""
    if not (a.sum() > 0 and b.sum() > 0):
        raise ValueError("there is nothing to carry: all weights are 0")
    left, right = (np.asarray(mass, dtype=np.float64) / mass.sum() for mass in (a, b))
    matrix = np.ascontiguousarray(costs, dtype=np.float64)
    plan, log = _emd()(left, right, matrix, numItermax=_MOST_PIVOTS, log=True)
    if log["warning"]:
        raise RuntimeError(f"optimal transport came to no end: {log['warning']}")
    return Transport(float(log["cost"]), plan, log["u"], log["v"])


def certified_cost(costs: Array, potentials: Array, *, width: float) -> float:
    """Give the least cost between uniform clouds, given what the columns are nearly worth.

    Only pairs whose cost lies at most `width` above what they are worth are tried. Where the duals
    that come of it do not prove the cost for all pairs, all are.
    """
    gains = costs - potentials
    gains -= gains.min(axis=1, keepdims=True)
    for times in (1, 4):
        cost = _among(costs, *np.nonzero(gains <= times * width))
        if cost is not None:
            return cost
    rows, columns = costs.shape
    return exact_cost(np.full(rows, 1 / rows), np.full(columns, 1 / columns), costs)


def _among(costs: Array, rows: Array, columns: Array) -> float | None:
    """Give the least cost with some pairs alone, if it is the least with all."""
    from scipy.sparse import coo_matrix

    some = coo_matrix((costs[rows, columns], (rows, columns)), shape=costs.shape)
    sides = [np.full(size, 1 / size) for size in costs.shape]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, log = _emd()(*sides, some, numItermax=_MOST_PIVOTS, log=True)
    if log["warning"]:
        return None
    proof = float((costs - log["u"][:, None] - log["v"]).min())
    return max(float(log["cost"]), 0.0) if proof >= -_ROUNDING else None


def _emd() -> Callable[..., Any]:
    try:
        from ot.lp import emd
    except ImportError:
        raise PackageMissing("POT", "models") from None
    solver: Callable[..., Any] = emd
    return solver
