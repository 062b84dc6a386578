"""The weighted table, compiled. Importing this needs numba (the `fast` extra)."""

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
