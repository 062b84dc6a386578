"""Blocks that two token sequences share, as difflib finds them."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

_POPULAR_FROM = 200
# More pairs of equal words than this take too long to look at: frequent words begin no block then.
_MOST_PAIRS = 5_000_000
_PARAGRAPH = re.compile(r"[^\n]+\n*|\n+")
_WORD = re.compile(r"\w+(?:['’-]\w+)*\s*|[^\w\s]\s*|\s+")


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


class Change(NamedTuple):
    """A piece of two texts: the same words in both, or others in one than in the other."""

    is_same: bool
    left: str
    right: str


def diff_words(left: str, right: str) -> list[Change]:
    """Lay two versions of a text side by side, word by word.

    Paragraphs that stand in both are found first, words within the others after that: so a
    paragraph that was moved or rewritten does not pull apart what is around it. Put together, the
    left pieces are the left text, and the right ones the right.
    """
    changes: list[Change] = []
    rows, columns = _PARAGRAPH.findall(left), _PARAGRAPH.findall(right)
    for is_same, before, after in _align(rows, columns, [text.strip() for text in rows],
                                         [text.strip() for text in columns]):  # fmt: skip
        if is_same or not before or not after:
            changes.append(Change(is_same, before, after))
        else:
            changes += _diff_words_within(before, after)
    return _join_changes(changes)


def _diff_words_within(left: str, right: str) -> list[Change]:
    rows, columns = _WORD.findall(left), _WORD.findall(right)
    keys, others = [word.strip() for word in rows], [word.strip() for word in columns]
    changes = [Change(*piece) for piece in _align(rows, columns, keys, others)]
    # A lone word or sign that both have between others is chance, and only makes reading harder.
    return [
        change._replace(is_same=False)
        if change.is_same
        and 0 < at < len(changes) - 1
        and len(_WORD.findall(change.left)) < 2
        and min(len(changes[near].left + changes[near].right) for near in (at - 1, at + 1)) > 20
        else change
        for at, change in enumerate(changes)
    ]


def _align(
    rows: Sequence[str], columns: Sequence[str], keys: Sequence[str], others: Sequence[str]
) -> list[tuple[bool, str, str]]:
    """Give the pieces of two lists of texts that are the same by their keys, and what is between
    them."""
    pieces = []
    left = right = 0
    for block in [*_find_blocks(keys, others), Block(len(rows), len(columns), 0)]:
        pieces.append(
            (False, "".join(rows[left : block.left]), "".join(columns[right : block.right]))
        )
        left, right = block.left + block.size, block.right + block.size
        same = ("".join(rows[block.left : left]), "".join(columns[block.right : right]))
        pieces.append((True, *same))
    return [piece for piece in pieces if piece[1] or piece[2]]


def _find_blocks(keys: Sequence[str], others: Sequence[str]) -> list[Block]:
    """Blocks of two lists; how both begin and how both end is seen at once."""
    most = min(len(keys), len(others))
    head = next((at for at in range(most) if keys[at] != others[at]), most)
    most -= head
    tail = next((at for at in range(most) if keys[-1 - at] != others[-1 - at]), most)
    left, right = keys[head : len(keys) - tail], others[head : len(others) - tail]
    autojunk = count_equal_pairs(left, right, autojunk=False) > _MOST_PAIRS
    within = matching_blocks(left, right, autojunk=autojunk)
    return [
        Block(0, 0, head),
        *(Block(block.left + head, block.right + head, block.size) for block in within),
        Block(len(keys) - tail, len(others) - tail, tail),
    ]


def _join_changes(changes: Sequence[Change]) -> list[Change]:
    """Join neighbours of one kind."""
    joined: list[Change] = []
    for change in changes:
        if joined and joined[-1].is_same == change.is_same:
            last = joined.pop()
            change = Change(change.is_same, last.left + change.left, last.right + change.right)
        joined.append(change)
    return joined


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
