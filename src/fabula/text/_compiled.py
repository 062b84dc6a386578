"""Searches and tables that are compiled. Importing this needs numba (the `fast` extra)."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def fill(left: Any, right: Any, gains: Any) -> Any:
    """Fill the table row by row; moves are 0 match, 1 up, 2 left."""
    rows, columns = len(left), len(right)
    moves = np.empty((rows, columns), dtype=np.uint8)
    above = np.zeros(columns + 1)
    runs_above = np.zeros(columns + 1, dtype=np.int64)
    for i in range(rows):
        corner, run_corner, before = 0.0, 0, 0.0
        for j in range(columns):
            up, run_up = above[j + 1], runs_above[j + 1]
            if left[i] == right[j]:
                before, run, moves[i, j] = corner + gains[run_corner], run_corner + 1, 0
            elif up >= before:
                before, run, moves[i, j] = up, 0, 1
            else:
                run, moves[i, j] = 0, 2
            corner, run_corner = up, run_up
            above[j + 1], runs_above[j + 1] = before, run
    return above[columns], moves


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def search(left: Any, right: Any, offsets: Any, places: Any) -> Any:
    """Give all blocks as rows (left, right, size), in the order they are found.

    A window is a part of both sequences; those still to be looked at wait on a stack.
    """
    most = min(len(left), len(right)) + 1
    blocks = np.empty((most, 3), dtype=np.int64)
    waiting = np.empty((2 * most + 2, 4), dtype=np.int64)
    sizes = np.zeros(len(right) + 1, dtype=np.int64)
    rows = np.full(len(right) + 1, -2, dtype=np.int64)
    waiting[0] = (0, len(left), 0, len(right))
    count, top, row = 0, 1, 0
    while top > 0:
        top -= 1
        a, a_end, b, b_end = waiting[top]
        i, j, size = _longest(left, offsets, places, waiting[top], sizes, rows, row)
        row += a_end - a + 2
        while i > a and j > b and left[i - 1] == right[j - 1]:
            i, j, size = i - 1, j - 1, size + 1
        while i + size < a_end and j + size < b_end and left[i + size] == right[j + size]:
            size += 1
        if size == 0:
            continue
        blocks[count] = (i, j, size)
        count += 1
        if a < i and b < j:
            waiting[top] = (a, i, b, j)
            top += 1
        if i + size < a_end and j + size < b_end:
            waiting[top] = (i + size, a_end, j + size, b_end)
            top += 1
    return blocks[:count]


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _longest(
    left: Any, offsets: Any, places: Any, window: Any, sizes: Any, rows: Any, row: Any
) -> Any:
    """Find the longest run in a window; of several the first in left, then in right.

    `sizes[j + 1]` is the length of the run that ends at place j, if `rows[j + 1]` says that it
    was written for the token before the one at hand. Places are taken from the last, so that
    what the token before has written is read before it is written over.
    """
    a, a_end, b, b_end = window
    best_i, best_j, best = a, b, 0
    for i in range(a, a_end):
        row += 1
        for p in range(offsets[left[i] + 1] - 1, offsets[left[i]] - 1, -1):
            j = places[p]
            if j >= b_end:
                continue
            if j < b:
                break
            size = sizes[j] + 1 if rows[j] == row - 1 else 1
            sizes[j + 1], rows[j + 1] = size, row
            start = j - size + 1
            if size > best or (size == best and i - size + 1 == best_i and start < best_j):
                best_i, best_j, best = i - size + 1, start, size
    return best_i, best_j, best
