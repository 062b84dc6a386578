"""n-grams of words and characters, and how many two texts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T", bound=Hashable)
Array = np.ndarray[Any, np.dtype[Any]]

_MOST_BITS = 62


def ngrams(tokens: Sequence[T], n: int) -> list[tuple[T, ...]]:
    """All runs of n tokens, in order."""
    if n > len(tokens):
        return []
    return list(zip(*(tokens[start:] for start in range(n)), strict=False))


def count_shared_ngrams(left: Sequence[T], right: Sequence[T], n: int) -> int:
    """Number of n-grams two token sequences share, each as often as in the one with fewer."""
    counts, others = Counter(ngrams(left, n)), Counter(ngrams(right, n))
    if len(others) < len(counts):
        counts, others = others, counts
    get = others.get
    return sum(min(count, get(gram, 0)) for gram, count in counts.items())


def count_shared_char_ngrams(left: str, right: str, order: int) -> list[int]:
    """Number of character n-grams two texts share, for n = 1 … order.

    The characters from each position on are packed into one integer. One sort of these serves
    every n, for n-grams that are alike lie together. Scripts with too many different characters
    to be packed are counted n by n.
    """
    if not left or not right:
        return [0] * order
    codes = [np.frombuffer(_utf32(text), dtype=np.uint32) for text in (left, right)]
    alphabet = np.unique(np.concatenate(codes))
    bits = len(alphabet).bit_length()
    if order * bits + 1 > _MOST_BITS:
        return [count_shared_ngrams(left, right, n) for n in range(1, order + 1)]
    packed = [_pack(np.searchsorted(alphabet, part) + 1, order, bits) for part in codes]
    keys = np.sort(np.concatenate([packed[0] << 1, packed[1] << 1 | 1]))
    shortest = min(len(left), len(right))
    ends = [k <= shortest and left[-k:] == right[-k:] for k in range(1, order)]
    counts = _count_shared_runs(keys, order, bits)
    return [shared - sum(ends[:n]) for n, shared in enumerate(counts)]


def _utf32(text: str) -> bytes:
    """Bytes of a text, four a character, lone surrogates included."""
    return text.encode("utf-32-le", "surrogatepass")


def _pack(ranks: Array, order: int, bits: int) -> Array:
    """Pack the characters from each position on into one integer; 0 is beyond the end."""
    padded = np.concatenate([ranks.astype(np.int64), np.zeros(order - 1, dtype=np.int64)])
    packed = padded[: len(ranks)]
    for offset in range(1, order):
        packed = packed << bits | padded[offset : offset + len(ranks)]
    return packed


def _count_shared_runs(keys: Array, order: int, bits: int) -> list[int]:
    """Count the starts of equal grams that texts share, from sorted keys with the text's bit last.

    The few grams that reach beyond the end of their text are counted as well. A group of l grams
    of the left and r of the right text shares min(l, r) = (l + r - |l - r|) / 2; groups of
    length n are joined into those of length n - 1.
    """
    surplus = np.cumsum(1 - 2 * (keys & 1))
    changes = np.append(keys[1:] ^ keys[:-1], 1 << _MOST_BITS - 1)
    shared = []
    for n in range(order, 0, -1):
        last = np.flatnonzero(changes >= 2 << bits * (order - n))
        changes, surplus = changes[last], surplus[last]
        apart = abs(int(surplus[0])) + int(np.abs(surplus[1:] - surplus[:-1]).sum())
        shared.append((len(keys) - apart) // 2)
    return shared[::-1]


def count_shared_skip_bigrams(left: Sequence[int], right: Sequence[int]) -> int:
    """Number of ordered word pairs, at any distance, that two sequences share (clipped).

    Only words of both texts matter. Their pairs are counted as a matrix, word by earlier word;
    where that would be large, a column at a time, which takes a seventh of the time there.
    """
    both = sorted(set(left) & set(right))
    if not both:
        return 0
    rank = {word: position for position, word in enumerate(both)}
    sides = [np.array([rank[w] for w in side if w in rank]) for side in (left, right)]
    size = len(both)
    if size * max(len(side) for side in sides) <= 2_000_000:
        return int(np.minimum(*(_pairs_before(side, size) for side in sides)).sum())
    columns = ([_pairs_after(side, word, size) for side in sides] for word in range(size))
    return sum(int(np.minimum(*column).sum()) for column in columns)


def _pairs_before(side: Array, size: int) -> Array:
    """Count, for every word, how often each word stands before it."""
    is_word = (side[:, None] == np.arange(size)[None, :]).astype(np.int32)  # (T, size)
    before = np.cumsum(is_word, axis=0, dtype=np.int32) - is_word
    order = np.argsort(side, kind="stable")
    starts = np.searchsorted(side[order], np.arange(size))
    return np.add.reduceat(before[order], starts, axis=0)  # (size, size)


def _pairs_after(side: Array, word: int, size: int) -> Array:
    """Count how often each word stands after one: by how many of that one stand before it."""
    places = np.flatnonzero(side == word)
    after = side[places[0] + 1 :]
    if len(places) == 1:
        return np.bincount(after, minlength=size)
    is_word = np.zeros(len(side) - places[0], dtype=np.int64)
    is_word[places - places[0]] = 1
    return np.bincount(after, np.cumsum(is_word)[:-1], minlength=size)
