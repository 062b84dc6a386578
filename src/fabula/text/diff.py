"""Blocks that two token sequences share, as difflib finds them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_POPULAR_FROM = 200


class Block(NamedTuple):
    """A run of tokens that stands at `left` in one sequence and at `right` in the other."""

    left: int
    right: int
    size: int


def matching_blocks(
    left: Sequence[Hashable], right: Sequence[Hashable], *, autojunk: bool = True
) -> list[Block]:
    """Blocks by Ratcliff and Obershelp: the longest first, then those on either side of it.

    With `autojunk`, where `right` has 200 tokens or more, those that make up over 1 % of it do
    not count in the search for the longest block, though a block is extended by them. Blocks
    are those of `difflib.SequenceMatcher(None, left, right, autojunk)`, which is what finds them
    where numba is not installed.
    """
    search = _load_search()
    if search is None:
        matcher = difflib.SequenceMatcher(None, left, right, autojunk)
        return [Block(*blocks) for blocks in matcher.get_matching_blocks()[:-1]]
    numbers: dict[Hashable, int] = {}
    rows, columns = (
        np.array([numbers.setdefault(token, len(numbers)) for token in side], dtype=np.int64)
        for side in (left, right)
    )
    blocks = search(rows, columns, *_index(columns, len(numbers), autojunk))
    return _join(sorted(Block(*row) for row in blocks.tolist()))


def count_equal_pairs(
    left: Sequence[Hashable], right: Sequence[Hashable], *, autojunk: bool = True
) -> int:
    """Number of pairs of equal tokens that a search has to look at: what it costs."""
    counts, others = Counter(left), Counter(right)
    most = len(right) // 100 + 1 if autojunk and len(right) >= _POPULAR_FROM else len(right)
    return sum(count * others[token] for token, count in counts.items() if others[token] <= most)


def _index(tokens: Array, kinds: int, autojunk: bool) -> tuple[Array, Array]:
    """Where the places of each kind of token begin, and these places, one kind after the other."""
    counts = np.bincount(tokens, minlength=kinds)
    if autojunk and len(tokens) >= _POPULAR_FROM:
        # Kinds that are too frequent to begin a block have no places.
        counts[counts > len(tokens) // 100 + 1] = 0
    kept = np.flatnonzero(counts[tokens])
    order = np.argsort(tokens[kept], kind="stable")
    return np.concatenate([[0], np.cumsum(counts)]), kept[order]


def _join(blocks: list[Block]) -> list[Block]:
    """Join blocks that touch in both sequences."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else Block(-1, -1, 0)
        if (last.left + last.size, last.right + last.size) == (block.left, block.right):
            joined[-1] = Block(last.left, last.right, last.size + block.size)
        else:
            joined.append(block)
    return joined


@lru_cache(maxsize=1)
def _load_search() -> Callable[[Array, Array, Array, Array], Array] | None:
    """Give the compiled search where numba is installed."""
    try:
        from fabula.text._compiled import search
    except ImportError:
        return None
    function: Callable[[Array, Array, Array, Array], Array] = search
    return function
