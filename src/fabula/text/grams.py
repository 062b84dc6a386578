"""n-grams as numbers: the same in every process, to be counted and looked up by the million."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_MIX = np.uint64(0x9E3779B97F4A7C15)
_MOST = 500_000
_codes: dict[str, int] = {}


def word_codes(words: Sequence[str]) -> Array:
    """A number of 64 bits for every word; Python's own hashes differ from run to run."""
    if len(_codes) > _MOST:
        _codes.clear()
    return np.array([_codes.get(word) or _code(word) for word in words], dtype=np.uint64)


def _code(word: str) -> int:
    raw = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    _codes[word] = code = int.from_bytes(raw, "big")
    return code


def gram_codes(codes: Array, order: int) -> list[Array]:
    """Numbers of all n-grams, for n = 1 … order; two different n-grams hardly ever share one."""
    marked, grams = [], codes
    for n in range(1, order + 1):
        if n > 1:
            grams = (grams[:-1] ^ (grams[:-1] >> np.uint64(29))) * _MIX + codes[n - 1 :]
        marked.append(grams)
    return marked


def mark_orders(codes: Array, order: int) -> Array:
    """Numbers of all n-grams, for n = 1 … order ≤ 4, in one array; `order_of` tells n − 1."""
    marked = [
        (grams >> np.uint64(2)) | np.uint64(n << 62)
        for n, grams in enumerate(gram_codes(codes, order))
    ]
    return np.concatenate(marked)


def order_of(marked: Array) -> Array:
    """Which n a marked number belongs to, counted from 0."""
    return (marked >> np.uint64(62)).astype(np.int64)


def count_codes(grams: Array) -> tuple[Array, Array]:
    """Different n-grams, sorted, and how often each occurs."""
    kinds, counts = np.unique(grams, return_counts=True)
    return kinds, counts


def look_up(wanted: Array, kinds: Array, values: Array, default: float = 0.0) -> Array:
    """Value of each n-gram wanted, by sorted kinds; `default` for those that are not there."""
    if not len(kinds):
        return np.full(len(wanted), default)
    places = np.minimum(np.searchsorted(kinds, wanted), len(kinds) - 1)
    return np.where(kinds[places] == wanted, values[places], default)
