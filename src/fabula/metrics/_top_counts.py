"""The two highest counts of each n-gram among many stories, gathered in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.text.grams import looked_up

Array = np.ndarray[Any, np.dtype[Any]]

_HEAP = 2_000_000


class TopCounts:
    """For each n-gram the highest count in one story and the next highest in another."""

    def __init__(self) -> None:
        self._kinds: Array = np.empty(0, dtype=np.uint64)
        self._first: Array = np.empty(0, dtype=np.int64)
        self._second: Array = np.empty(0, dtype=np.int64)
        self._heap: list[tuple[Array, Array]] = []
        self._waiting = 0

    def add(self, kinds: Array, counts: Array) -> None:
        """Take in a story by its different n-grams and their counts."""
        self._heap.append((kinds, counts))
        self._waiting += len(kinds)
        if self._waiting > _HEAP:
            self._settle()

    def among_others(self, kinds: Array, counts: Array) -> Array:
        """Highest count in any other story, for a story with these counts that was added."""
        if self._heap:
            self._settle()
        first = looked_up(kinds, self._kinds, self._first)
        second = looked_up(kinds, self._kinds, self._second)
        # A story that holds the highest count itself is left the second; if two stories tie
        # for the highest, the second is as high.
        return np.where(counts == first, second, first)

    def _settle(self) -> None:
        if not self._waiting:
            self._heap = []
            return
        kinds = np.concatenate([self._kinds, self._kinds, *(kind for kind, _ in self._heap)])
        counts = np.concatenate([self._first, self._second, *(count for _, count in self._heap)])
        order = np.lexsort((-counts, kinds))
        kinds, counts = kinds[order], counts[order]
        starts = np.flatnonzero(np.append(True, kinds[1:] != kinds[:-1]))
        ends = np.append(starts[1:], len(kinds))
        self._kinds, self._first = kinds[starts], counts[starts]
        seconds = counts[np.minimum(starts + 1, len(counts) - 1)]
        self._second = np.where(starts + 1 < ends, seconds, 0)
        self._heap, self._waiting = [], 0
