"""Longest common subsequences: their length, and the weighted kind that favours runs."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq

Array = np.ndarray[Any, np.dtype[Any]]

Move = Callable[[int, int], int]

_DIAGONAL, _UP, _LEFT = 0, 1, 2
_SMALL = 2_000
# One match costs about as much as so many cells that are filled without compiled code.
_DENSE = 4


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


def weigh_lcs(left: Sequence[int], right: Sequence[int], weight: float) -> float:
    """Weight of the common subsequence alone, as `weighted_lcs` finds it.

    Where few tokens are alike, most cells of the table hold what stands above them: without a
    compiled kernel only the cells where something can change are looked at.
    """
    gains = np.diff(np.arange(min(len(left), len(right)) + 2, dtype=np.float64) ** weight)
    kernel = _kernel()
    if kernel is fill_plainly:
        counts = Counter(right)
        matches = sum(counts[token] for token in left)
        if matches * _DENSE <= len(left) * len(right):
            return weigh_sparsely(left, right, gains.tolist())
    rows, columns = (np.asarray(side, dtype=np.int64) for side in (left, right))
    return float(kernel(rows, columns, gains)[0])


def weigh_sparsely(left: Sequence[int], right: Sequence[int], gains: Sequence[float]) -> float:
    """Go down the rows of the table with one list, and in each to where it can change.

    A row differs from the one above at matches and to the right of them, as far as what they
    gained is more than what stands there. A match may be worth less than the cell to its left
    (a dip): that cell alone is below its neighbour, and the next row raises it.
    """
    columns: dict[int, list[int]] = {}
    for column, token in enumerate(right, 1):
        columns.setdefault(token, []).append(column)
    row, runs, dips = [0.0] * (len(right) + 1), {}, []  # type: list[float], dict[int, int], list[int]
    for token in left:
        matches = columns.get(token, [])
        runs, dips = _weigh_row(row, matches, runs, dips, gains)
    return row[-1]


def _weigh_row(
    row: list[float],
    matches: list[int],
    runs: dict[int, int],
    dips: list[int],
    gains: Sequence[float],
) -> tuple[dict[int, int], list[int]]:
    """Turn a row into the next; give the runs that end at its matches, and its dips."""
    places = sorted({*matches, *dips}) if dips else matches
    matched, new_runs, new_dips = set(matches) if dips else None, {}, []
    # What stood in the last cell that was written, in the row above.
    written, above = -1, 0.0
    for at, column in enumerate(places):
        diagonal = above if written == column - 1 else row[column - 1]
        neighbour, value = row[column - 1], row[column]
        written, above = column, value
        if matched is None or column in matched:
            run = runs.get(column - 1, 0)
            value, new_runs[column] = diagonal + gains[run], run + 1
            if value < neighbour:
                new_dips.append(column)
        else:
            value = max(value, neighbour)
        row[column] = value
        # Up to the next place the row above does not fall: what is less gives way.
        stop = places[at + 1] if at + 1 < len(places) else len(row)
        end = bisect_left(row, value, column + 1, stop)
        if end > column + 1:
            written, above = end - 1, row[end - 1]
            row[column + 1 : end] = [value] * (end - column - 1)
    return new_runs, new_dips


def _marks(moves: Move, rows: int, columns: int) -> Array:
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
def _kernel() -> Callable[[Array, Array, Array], tuple[float, Move]]:
    """Give the compiled kernel where numba is installed, else one of the two without it."""
    try:
        from fabula.text._compiled import fill
    except ImportError:
        return fill_plainly

    def compiled(left: Array, right: Array, gains: Array) -> tuple[float, Any]:
        total, moves = fill(left, right, gains)
        return total, lambda i, j: int(moves[i - 1, j - 1])

    return compiled


def fill_plainly(left: Array, right: Array, gains: Array) -> tuple[float, Move]:
    """Fill small tables cell by cell and large ones by diagonals: what is faster for each."""
    small = len(left) * len(right) <= _SMALL
    return (fill_by_cells if small else fill_by_diagonals)(left, right, gains)


def fill_by_cells(left: Array, right: Array, gains: Array) -> tuple[float, Move]:
    """Fill the table row by row."""
    others, steps = right.tolist(), gains.tolist()
    above, runs_above = [0.0] * (len(others) + 1), [0] * (len(others) + 1)
    moves: list[list[int]] = []
    for word in left.tolist():
        now, runs, row = [0.0], [0], []
        for j, other in enumerate(others):
            if word == other:
                run, move, value = runs_above[j] + 1, _DIAGONAL, above[j] + steps[runs_above[j]]
            elif above[j + 1] >= now[j]:
                run, move, value = 0, _UP, above[j + 1]
            else:
                run, move, value = 0, _LEFT, now[j]
            now.append(value)
            runs.append(run)
            row.append(move)
        above, runs_above = now, runs
        moves.append(row)
    return above[-1], lambda i, j: moves[i - 1][j - 1]


def fill_by_diagonals(left: Array, right: Array, gains: Array) -> tuple[float, Move]:
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
