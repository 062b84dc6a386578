"""Texts as clouds of points, the states of their tokens, and how near points lie to each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.model import (
    Embedder,
    Span,
    TokenCount,
    TokenStates,
    Truncating,
    WordVectors,
)
from fabula.core.story import Story

if TYPE_CHECKING:
    from fabula.core.model import Array

# OpenBLAS works on products of fewer multiplications alone. Waking its threads for the few words of
# a story costs more than it gains, and on a busy machine ten times as much.
_ALONE = 250_000
_FEWEST_ROWS = 4


def dot_products(left: Array, right: Array) -> Array:
    """Give the dot product of every vector of the left with every one of the right."""
    rows = _ALONE // max(right.size, 1)
    if rows < _FEWEST_ROWS:
        whole: Array = left @ right.T
        return whole
    products = np.empty((len(left), len(right)), dtype=np.result_type(left, right))
    for start in range(0, len(left), rows):
        np.matmul(left[start : start + rows], right.T, out=products[start : start + rows])
    return products


def squared_distances(left: Array, right: Array) -> Array:
    """Give the squares of all Euclidean distances: left × right."""
    squares = [np.einsum("th,th->t", side, side) for side in (left, right)]
    products = dot_products(left, right)
    products *= -2
    products += squares[0][:, None]
    products += squares[1]
    squared: Array = np.maximum(products, 0.0, out=products)
    return squared


def distances(left: Array, right: Array) -> Array:
    """Give all Euclidean distances: left × right."""
    squared = squared_distances(left, right)
    roots: Array = np.sqrt(squared, out=squared)
    return roots


# Pairs that are compared within seconds, and those held at once.
MOST_PAIRS = 200_000_000
BLOCK_PAIRS = 4_000_000


def excess(left: int, right: int) -> str:
    """Say why so many tokens on both sides are too many to match; '' where they are not."""
    if left * right <= MOST_PAIRS:
        return ""
    return f"{left:,} × {right:,} tokens: over the limit of {MOST_PAIRS:,} pairs"


def largest_cosines(left: Array, right: Array) -> tuple[Array, Array]:
    """Largest cosine of every vector to one of the other side: those of the left, of the right."""
    rows = max(BLOCK_PAIRS // len(right), 1)
    forth, back = [], np.full(len(right), -1.0)
    for start in range(0, len(left), rows):
        cosines = left[start : start + rows] @ right.T
        forth.append(cosines.max(axis=1))
        back = np.maximum(back, cosines.max(axis=0))
    return np.minimum(np.concatenate(forth), 1.0), np.minimum(back, 1.0)


@dataclass(frozen=True)
class Cloud:
    """Tokens of a text with their points by layer (layers × tokens × width).

    `words` says which tokens stand for a part of the text; the others were added by the model.
    """

    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    points: Array
    words: Array
    coverage: float

    def __len__(self) -> int:
        """How many tokens there are, added ones included."""
        return len(self.tokens)


def distinct_texts(stories: Sequence[Story]) -> list[str]:
    """Give every text of the stories and of their references once."""
    return list(dict.fromkeys(text for story in stories for text in texts_of(story)))


def texts_of(story: Story) -> list[str]:
    """Give the text of a story, then those of its references that are not blank."""
    return [story.text, *story.nonblank_references]


def count_unknown_words(words: Sequence[str], vectors: WordVectors) -> TokenCount:
    """Count the words of a text and those that have no vector."""
    counts = Counter(words)
    rows = vectors.rows(list(counts))
    lost = sum(count for count, row in zip(counts.values(), rows, strict=True) if np.isnan(row[0]))
    return TokenCount(len(words), lost)


def make_clouds(
    encoder: Embedder,
    texts: Sequence[str],
    *,
    layers: Sequence[int],
    cut: bool = False,
    exact: bool = False,
) -> Iterator[Cloud]:
    """Encode texts in one pass: whole, or cut where the model's window ends.

    Points have as many bits as the model's states, or 64 if they are to be exact.
    """
    parts = _cut(encoder, texts) if cut else texts
    # A cut text fits one window, so that no state comes from further on.
    for text, part, states in zip(texts, parts, encoder.states(parts, layers), strict=True):
        yield _make_cloud(states, exact, share=len(part) / len(text))


def _cut(encoder: Embedder, texts: Sequence[str]) -> Sequence[str]:
    """Give the part of every text that one window holds, with a beginning and an end."""
    window = getattr(encoder, "window", None)
    return encoder.truncate(texts, window) if window and isinstance(encoder, Truncating) else texts


def _make_cloud(token_states: TokenStates, exact: bool, *, share: float) -> Cloud:
    states: Array = token_states.states.astype(np.float64) if exact else token_states.states
    lengths = np.sqrt(np.einsum("lth,lth->lt", states, states))[..., None]
    points = states / np.maximum(lengths, 1e-12)
    spans = np.array(token_states.spans, dtype=np.int64).reshape(-1, 2)
    words = spans[:, 1] > spans[:, 0]
    return Cloud(
        token_states.tokens, token_states.spans, points, words, share * token_states.coverage
    )
