"""Texts that are one text: in another case, with other tokens, with names masked, cut off."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fabula.text.grams import gram_codes, word_codes

Array = np.ndarray[Any, np.dtype[Any]]

PLACEHOLDER = re.compile(r"\[(?:MALE|FEMALE|NEUTRAL)\]", re.IGNORECASE)
_CONTRACTION = re.compile(r"\s+(n['’]t|['’]\w)")
_WORD = re.compile(r"[^\W_]+")
_ORDER = 5
_LAGS = 24


def near_duplicate_groups(texts: Sequence[str], share: float = 0.5) -> list[int]:
    """Number the groups of texts that share 5-word runs: `share` of those of the shorter text.

    Runs do not cross a masked name. A text without a run is alone.
    """
    runs = [np.unique(word_runs(text)) for text in texts]
    sizes = np.array([len(one) for one in runs])
    groups = Groups(len(texts))
    for first, second in _alike(runs, sizes, share):
        groups.join(first, second)
    return groups.numbers()


def word_runs(text: str) -> Array:
    """Numbers of all runs of five words."""
    found = []
    for part in PLACEHOLDER.split(_CONTRACTION.sub(r"\1", text.lower())):
        words = _WORD.findall(part.replace("'", "").replace("’", ""))
        if len(words) >= _ORDER:
            found.append(gram_codes(word_codes(words), _ORDER)[-1])
    return np.concatenate(found) if found else np.zeros(0, dtype=np.uint64)


def _alike(runs: list[Array], sizes: Array, share: float) -> Iterable[tuple[int, int]]:
    """Pairs of texts with enough runs in common.

    Texts with the same run stand side by side once sorted; only the nearest 24 are compared, so
    that a phrase everybody uses costs little.
    """
    if not sizes.sum():
        return []
    codes, owners = np.concatenate(runs), np.repeat(np.arange(len(runs)), sizes)
    order = np.lexsort((owners, codes))
    codes, owners = codes[order], owners[order]
    pairs = []
    for lag in range(1, min(_LAGS, len(codes) - 1) + 1):
        same = np.flatnonzero(codes[lag:] == codes[:-lag])
        pairs.append(owners[same] * len(runs) + owners[same + lag])
    kinds, counts = np.unique(np.concatenate(pairs or [owners[:0]]), return_counts=True)
    first, second = np.divmod(kinds, len(runs))
    enough = counts >= share * np.minimum(sizes[first], sizes[second])
    return zip(first[enough].tolist(), second[enough].tolist(), strict=True)


class Groups:
    """Numbers that are joined step by step."""

    def __init__(self, count: int) -> None:
        self._above = list(range(count))

    def top(self, one: int) -> int:
        """Give the smallest number of a group."""
        while self._above[one] != one:
            self._above[one] = self._above[self._above[one]]
            one = self._above[one]
        return one

    def join(self, one: int, other: int) -> None:
        """Make one group of two."""
        low, high = sorted((self.top(one), self.top(other)))
        self._above[high] = low

    def numbers(self) -> list[int]:
        """Give the group of every number."""
        return [self.top(one) for one in range(len(self._above))]
