"""Texts as clouds of points: the states of their tokens, each of length one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.model import Cutter, Embedder, Span, TokenStates
from fabula.core.story import Story

if TYPE_CHECKING:
    from fabula.core.model import Array


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
    return [story.text, *(one for one in story.references if one.strip())]


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
    for text, part, one in zip(texts, parts, encoder.states(parts, layers), strict=True):
        yield _cloud(one, exact, share=len(part) / len(text))


def _cut(encoder: Embedder, texts: Sequence[str]) -> Sequence[str]:
    """Give the part of every text that one window holds, with a beginning and an end."""
    window = getattr(encoder, "window", None)
    return encoder.heads(texts, window) if window and isinstance(encoder, Cutter) else texts


def _cloud(found: TokenStates, exact: bool, *, share: float) -> Cloud:
    states: Array = found.states.astype(np.float64) if exact else found.states
    lengths = np.sqrt(np.einsum("lth,lth->lt", states, states))[..., None]
    points = states / np.maximum(lengths, 1e-12)
    spans = np.array(found.spans, dtype=np.int64).reshape(-1, 2)
    words = spans[:, 1] > spans[:, 0]
    return Cloud(found.tokens, found.spans, points, words, share * found.coverage)
