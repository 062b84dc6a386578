"""Sums of ranks over many directions, compiled. Importing this needs numba (the `fast` extra).

NumPy sorts whole numbers of 32 bits many times faster than it finds an order. So a point's place,
rounded, and its number make one such number; what rounding has left undecided is settled after.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

# Numbers that are sorted at once: they stay in the cache of a core.
_BLOCK = 65_536
# A point that has to pass more than so many in its rounded place leaves it to a sort of all.
_MOST_PASSED = 64


def add_ranks(places: Any, sums: Any) -> None:
    """Add min(rank, n − rank) of every point in every direction to its sum.

    Points that lie alike stay in their order.
    """
    points = places.shape[1]
    bits = (points - 1).bit_length()
    rows = max(_BLOCK // points, 1)
    for start in range(0, len(places), rows):
        some = places[start : start + rows]
        keys = np.empty(some.shape, np.int32)
        _fill(some, bits, keys)
        keys.sort(axis=1)
        _add(some, bits, keys, sums)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill(places: Any, bits: int, keys: Any) -> None:
    """Write every point's rounded place, and in the last bits which point it is."""
    steps = np.float32((1 << (30 - bits)) - 1)
    for row in range(len(places)):
        low, high = places[row, 0], places[row, 0]
        for value in places[row]:
            low, high = min(low, value), max(high, value)
        # In a span this small the scale would be infinite.
        scale = steps / (high - low) if high - low > 1e-30 else np.float32(0)
        for point in range(places.shape[1]):
            whole = np.int32((places[row, point] - low) * scale)
            keys[row, point] = whole << bits | point


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add(places: Any, bits: int, keys: Any, sums: Any) -> None:
    points = places.shape[1]
    last = (1 << bits) - 1
    for row in range(len(places)):
        order = keys[row]
        if not _settled(places[row], bits, order):
            order[:] = np.argsort(places[row], kind="mergesort")
        for rank in range(1, points + 1):
            sums[order[rank - 1] & last] += min(rank, points - rank)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _settled(places: Any, bits: int, keys: Any) -> bool:
    """Order points in one rounded place by where they truly lie; give up if that takes long."""
    last = (1 << bits) - 1
    for start in range(1, len(keys)):
        key, at = keys[start], start
        while at > 0 and (keys[at - 1] ^ key) >> bits == 0:
            if places[keys[at - 1] & last] <= places[key & last]:
                break
            keys[at] = keys[at - 1]
            at -= 1
        keys[at] = key
        if start - at > _MOST_PASSED:
            return False
    return True
