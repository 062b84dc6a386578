"""Which tokens BLANC masks, and what it lets a model read beside them.

Tokens are WordPieces, whose continuations begin with ##. Of other tokenisers every token counts as
a whole word.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, takewhile

from fabula.models.networks.tuning import Lesson

Tokens = tuple[str, ...]
CONTINUED = "##"
# Tokens of a sentence that are read at once.
LONGEST = 100


@dataclass(frozen=True)
class Masking:
    """Masks every token that is long enough, those `gap` apart in one go."""

    gap: int = 2
    whole: int = 4
    lead: int = 2
    rest: int = 100

    def evenly(self, tokens: Tokens) -> list[tuple[int, ...]]:
        """Places that are masked together, for each offset that has any."""
        gap, places = min(self.gap, len(tokens)), self.maskable(tokens)
        masks = [tuple(at for at in places if at % gap == offset) for offset in range(gap)]
        return [some for some in masks if some]

    def at_random(self, tokens: Tokens, share: float, draw: random.Random) -> list[tuple[int, ...]]:
        """Places that are masked together, a share of the tokens at a time, each place once."""
        count = max(int(len(tokens) * share), 1)
        places = self.maskable(tokens)
        draw.shuffle(places)
        return [
            tuple(sorted(places[start : start + count])) for start in range(0, len(places), count)
        ]

    def maskable(self, tokens: Tokens) -> list[int]:
        """Places of tokens that are long enough."""
        return [
            at
            for at, token in enumerate(tokens)
            if self._is_long(token, tokens[at + 1] if at + 1 < len(tokens) else "")
        ]

    def _is_long(self, token: str, after: str) -> bool:
        if token.startswith(CONTINUED):
            return len(token) - len(CONTINUED) >= self.rest
        return len(token) >= (self.lead if after.startswith(CONTINUED) else self.whole)


def cut_rows(sentences: Sequence[Tokens], room: int) -> list[Tokens]:
    """Part long sentences into pieces of one size that leave at least half of the room."""
    most = max(min(LONGEST, room // 2), 1)
    return [piece for sentence in sentences for piece in _pieces(sentence, most)]


def _pieces(sentence: Tokens, most: int) -> list[Tokens]:
    count = -(-len(sentence) // most)
    size = -(-len(sentence) // max(count, 1))
    return [sentence[start : start + size] for start in range(0, len(sentence), size or 1)]


def beginning(summary: Sequence[Tokens], room: int) -> Tokens:
    """First sentences of a summary, as many as there is room for."""
    sizes = accumulate(map(len, summary))
    return tuple(chain.from_iterable(summary[: sum(1 for _ in takewhile(room.__ge__, sizes))]))


def mask_rows(tokens: Tokens, places: Sequence[int]) -> list[str | None]:
    """Tokens with gaps."""
    hidden = set(places)
    return [None if at in hidden else token for at, token in enumerate(tokens)]


@dataclass(frozen=True)
class Chunks:
    """Pieces of a text that overlap, to be trained on."""

    size: int = 64
    stride: int = 32

    def of(self, tokens: Tokens) -> list[Tokens]:
        """Chunks from left to right.

        The beginning comes once more, in shorter ones, as it would otherwise be in fewer.
        """
        masks = []
        for start in range(0, len(tokens), self.stride):
            masks.append(tokens[start : start + self.size])
            if 0 < start < self.size:
                masks.append(tokens[:start])
        return masks


def lessons(
    chunks: Sequence[Tokens], masking: Masking, *, share: float | None, seed: int
) -> list[Lesson]:
    """Rows to train on: masked evenly, or a share of each at random."""
    draw = random.Random(seed)
    return [
        Lesson(chunk, places)
        for chunk in chunks
        for places in (
            masking.evenly(chunk) if share is None else masking.at_random(chunk, share, draw)
        )
    ]


@dataclass(frozen=True)
class Counts:
    """How many gaps were filled right only with help, only without it, and how many there are."""

    gained: int
    lost: int
    total: int

    @property
    def share(self) -> float:
        """Gaps that help has gained, as a share of all."""
        return (self.gained - self.lost) / self.total


def count(answers: Sequence[str], plain: Sequence[str], helped: Sequence[str]) -> Counts:
    """Compare what was filled in without help and with it."""
    rights = [
        (one == answer, other == answer)
        for answer, one, other in zip(answers, plain, helped, strict=True)
    ]
    return Counts(rights.count((False, True)), rights.count((True, False)), len(rights))
