"""Longest common subsequences: their length, and the weighted kind that favours runs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq

Array = np.ndarray[Any, np.dtype[Any]]

_DIAGONAL, _UP, _LEFT = 0, 1, 2


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence, by bit-parallel search."""
    return int(LCSseq.similarity(left, right))


def weighted_lcs(left: Sequence[int], right: Sequence[int], weight: float) -> tuple[float, Array]:
    """Weight of the common subsequence of two sequences, and which of `left` lie on it.

    A run of k matches weighs k**weight, found by Lin's recurrence (2004, figure 2): a match
    always extends, otherwise the heavier neighbour wins and the one above (earlier in `left`) on
    ties. With weight 1 this is the longest common subsequence.
    """
    gains = np.diff(np.arange(min(len(left), len(right)) + 2, dtype=np.float64) ** weight)
    rows, columns = (np.asarray(side, dtype=np.int64) for side in (left, right))
    total, moves = _kernel()(rows, columns, gains)
    return float(total), _marks(moves, len(left), len(right))


def _marks(moves: Callable[[int, int], int], rows: int, columns: int) -> Array:
    """Walk back from the end and mark the rows where a match was taken."""
    marks = np.zeros(rows, dtype=bool)
    i, j = rows, columns
    while i and j:
        move = moves(i, j)
        if move == _DIAGONAL:
            marks[i - 1] = True
        i -= move != _LEFT
        j -= move != _UP
    return marks


@lru_cache(maxsize=1)
def _kernel() -> Callable[[Array, Array, Array], tuple[float, Callable[[int, int], int]]]:
    """Give the compiled kernel where numba is installed, else the one by diagonals."""
    try:
        from fabula.text._compiled import fill
    except ImportError:
        return fill_by_diagonals

    def compiled(left: Array, right: Array, gains: Array) -> tuple[float, Any]:
        total, moves = fill(left, right, gains)
        return total, lambda i, j: int(moves[i - 1, j - 1])

    return compiled


def fill_by_diagonals(
    left: Array, right: Array, gains: Array
) -> tuple[float, Callable[[int, int], int]]:
    """Fill the table one diagonal at a time, all of whose cells are independent."""
    rows, columns = len(left), len(right)
    before = last = np.zeros(rows + 1)
    runs_before = runs_last = np.zeros(rows + 1, dtype=np.int64)
    moves: list[tuple[int, Array]] = []
    for diagonal in range(2, rows + columns + 1):
        low, high = max(1, diagonal - columns), min(rows, diagonal - 1)
        up, here = slice(low - 1, high), slice(low, high + 1)
        match = left[up] == right[diagonal - high - 1 : diagonal - low][::-1]
        goes_up = last[up] >= last[here]
        now, runs = np.zeros(rows + 1), np.zeros(rows + 1, dtype=np.int64)
        now[here] = np.where(
            match, before[up] + gains[runs_before[up]], np.where(goes_up, last[up], last[here])
        )
        runs[here] = np.where(match, runs_before[up] + 1, 0)
        moves.append((low, np.where(match, _DIAGONAL, np.where(goes_up, _UP, _LEFT)).astype("i1")))
        before, last, runs_before, runs_last = last, now, runs_last, runs
    total = float(last[rows])

    def move(i: int, j: int) -> int:
        low, steps = moves[i + j - 2]
        return int(steps[i - low])

    return total, move
