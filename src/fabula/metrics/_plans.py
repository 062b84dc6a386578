"""Plans that the potentials of one side make: all pairs of points, or those few that matter.

The mass of every row is 1 / rows; it goes to the columns in proportion to exp((g − cost) / r).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from fabula.core.model import Array

Kind = type[np.float32] | type[np.float64]

# Exponentials that underflow take ten times as long as others.
_LOWEST = -300.0
# Pairs that come after the best of their row by so many r have no part in a plan.
_SLACK = 45.0
# Shares of a row's mass that are smaller do not change the direction of a step.
_FELT = 1e-8


class Pairs(Protocol):
    """Pairs of points between which mass may go, with their costs."""

    @property
    def shape(self) -> tuple[int, int]:
        """Points on either side: rows, columns."""
        ...

    def plan(self, potentials: Array, r: float) -> tuple[Array, float]:
        """Give the mass of every pair, and the mean over rows of r · log Σ exp((g − cost) / r)."""
        ...

    def grow(self, plan: Array, growth: Array) -> tuple[Array, Array]:
        """Multiply columns, then rows so that their mass is as before; and give the rows' growth.

        This is the plan of other potentials, without another exponential of all pairs.
        """
        ...

    def masses(self, plan: Array) -> Array:
        """Give the mass that every column gets."""
        ...

    def gram(self, plan: Array, kind: Kind) -> Array:
        """Give the products of all columns with each other, in 32 or 64 bits."""
        ...

    def cost(self, plan: Array) -> float:
        """Give the sum of mass × cost."""
        ...


@dataclass(frozen=True)
class AllPairs:
    """Every point with every other: rows × columns."""

    costs: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Points on either side."""
        rows, columns = self.costs.shape
        return rows, columns

    def plan(self, potentials: Array, r: float) -> tuple[Array, float]:
        """Give the plan as a matrix."""
        plan = np.subtract(potentials, self.costs)
        top = plan.max(axis=1)
        plan -= top[:, None]
        plan *= 1 / r
        top /= r
        np.maximum(plan, _LOWEST, out=plan)
        np.exp(plan, out=plan)
        sums = plan.sum(axis=1)
        plan *= (1 / (len(plan) * sums))[:, None]
        return plan, r * float((top + np.log(sums)).mean())

    def grow(self, plan: Array, growth: Array) -> tuple[Array, Array]:
        """Multiply columns, then rows so that their mass is as before."""
        growths = len(plan) * (plan @ growth)
        grown = plan * growth
        grown *= (1 / growths)[:, None]
        return grown, growths

    def masses(self, plan: Array) -> Array:
        """Give the sums of the columns."""
        masses: Array = plan.sum(axis=0)
        return masses

    def gram(self, plan: Array, kind: Kind) -> Array:
        """Give the products of all columns with each other."""
        plan = plan.astype(kind, copy=False)
        gram: Array = plan.T @ plan
        return gram

    def cost(self, plan: Array) -> float:
        """Give the sum of mass × cost."""
        return float(np.vdot(plan, self.costs))

    def prune(self, potentials: Array, r: float) -> SomePairs:
        """Keep the pairs that matter near these potentials."""
        gains = potentials - self.costs
        rows, columns = np.nonzero(gains >= gains.max(axis=1, keepdims=True) - _SLACK * r)
        starts = np.searchsorted(rows, np.arange(len(gains) + 1))
        return SomePairs(self.costs[rows, columns], rows, columns, starts, self.shape)


@dataclass(frozen=True)
class SomePairs:
    """A few pairs, row by row; every row has at least one."""

    costs: Array
    rows: Array
    columns: Array
    starts: Array
    shape: tuple[int, int]

    def plan(self, potentials: Array, r: float) -> tuple[Array, float]:
        """Give the plan as a list of masses."""
        plan = (potentials[self.columns] - self.costs) / r
        top = np.maximum.reduceat(plan, self.starts[:-1])
        plan = np.exp(np.maximum(plan - top[self.rows], _LOWEST))
        sums = np.add.reduceat(plan, self.starts[:-1])
        plan /= (self.shape[0] * sums)[self.rows]
        return plan, r * float((top + np.log(sums)).mean())

    def grow(self, plan: Array, growth: Array) -> tuple[Array, Array]:
        """Multiply columns, then rows so that their mass is as before."""
        grown = plan * growth[self.columns]
        growths = self.shape[0] * np.add.reduceat(grown, self.starts[:-1])
        grown /= growths[self.rows]
        return grown, growths

    def masses(self, plan: Array) -> Array:
        """Give the sums of the columns."""
        return np.bincount(self.columns, plan, minlength=self.shape[1])

    def gram(self, plan: Array, kind: Kind) -> Array:
        """Give the products of all columns with each other."""
        felt = np.flatnonzero(plan > _FELT / self.shape[0])
        rows, columns, masses = self.rows[felt], self.columns[felt], plan[felt]
        counts = np.bincount(rows, minlength=self.shape[0])
        if int(counts @ counts) > plan.size + self.shape[1] ** 2:
            matrix = np.zeros(self.shape)
            matrix[rows, columns] = masses
            return AllPairs(matrix).gram(matrix, kind)
        left, right = _mates(rows, counts)
        size = self.shape[1]
        places = columns[left] * size + columns[right]
        products = np.bincount(places, masses[left] * masses[right], minlength=size * size)
        gram: Array = products.reshape(size, size).astype(kind, copy=False)
        return gram

    def cost(self, plan: Array) -> float:
        """Give the sum of mass × cost."""
        return float(plan @ self.costs)


def _mates(rows: Array, counts: Array) -> tuple[Array, Array]:
    """Give all pairs of entries that stand in one row, entries being sorted by row."""
    each = counts[rows]
    left = np.repeat(np.arange(len(rows)), each)
    first = (np.cumsum(counts) - counts)[rows]
    right = np.arange(len(left)) - np.repeat(np.cumsum(each) - each - first, each)
    return left, right
