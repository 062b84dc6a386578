"""How many documents of a batch hold each n-gram, gathered in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.text.grams import looked_up

Array = np.ndarray[Any, np.dtype[Any]]

# So many kinds wait in a heap before they are sorted into the whole.
_HEAP = 2_000_000


class DocumentCounts:
    """Counts documents by n-gram; kinds are 64-bit numbers and lie sorted."""

    def __init__(self) -> None:
        self.documents = 0
        self._kinds: Array = np.empty(0, dtype=np.uint64)
        self._counts: Array = np.empty(0, dtype=np.int64)
        self._heap: list[Array] = []
        self._waiting = 0

    def add(self, kinds: Array) -> None:
        """Take in a document by its different n-grams."""
        self.documents += 1
        self._heap.append(kinds)
        self._waiting += len(kinds)
        if self._waiting > _HEAP:
            self._settle()

    def of(self, kinds: Array) -> Array:
        """Number of documents that hold each n-gram."""
        if self._heap:
            self._settle()
        return looked_up(kinds, self._kinds, self._counts)

    def _settle(self) -> None:
        kinds = np.concatenate([self._kinds, *self._heap])
        counts = np.concatenate([self._counts, np.ones(self._waiting, dtype=np.int64)])
        self._kinds, places = np.unique(kinds, return_inverse=True)
        self._counts = np.bincount(places, weights=counts).astype(np.int64)
        self._heap, self._waiting = [], 0
