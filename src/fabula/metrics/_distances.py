"""Euclidean distances between two sets of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fabula.metrics._dot_products import dot_products

if TYPE_CHECKING:
    from fabula.core.model import Array


def squared_distances(left: Array, right: Array) -> Array:
    """Give the squares of all Euclidean distances: left × right."""
    squares = [np.einsum("th,th->t", one, one) for one in (left, right)]
    found = dot_products(left, right)
    found *= -2
    found += squares[0][:, None]
    found += squares[1]
    squared: Array = np.maximum(found, 0.0, out=found)
    return squared


def distances(left: Array, right: Array) -> Array:
    """Give all Euclidean distances: left × right."""
    squared = squared_distances(left, right)
    found: Array = np.sqrt(squared, out=squared)
    return found
