"""What ROUGE counts in a text and a reference: hits, and how many there could have been."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from fabula.core.score import Missing, Status
from fabula.metrics._rouge_words import numbered
from fabula.text.ngrams import shared_ngrams, shared_skip_bigrams
from fabula.text.subsequence import lcs_length, weighted_lcs

Words = Sequence[str]

MOST_CELLS = 100_000_000


class Hits(NamedTuple):
    """Hits, and the most there could be in the reference and in the text."""

    hits: float
    reference: float
    text: float


def ngram_hits(text: Words, reference: Words, n: int) -> Hits:
    """Shared n-grams, clipped."""
    totals = (max(0, len(side) - n + 1) for side in (reference, text))
    return Hits(shared_ngrams(text, reference, n), *totals)


def lcs_hits(text: Words, reference: Words) -> Hits:
    """Words on the longest common subsequence."""
    return Hits(lcs_length(text, reference), len(reference), len(text))


def weighted_hits(text: Words, reference: Words, weight: float) -> Hits:
    """Weight of the common subsequence; a whole text of k words would weigh k**weight."""
    refuse_long(text, reference)
    sides = numbered(reference, text)
    total, _ = weighted_lcs(sides[0], sides[1], weight)
    return Hits(total, len(reference) ** weight, len(text) ** weight)


def skip_hits(text: Words, reference: Words) -> Hits:
    """Shared pairs of words in order, at any distance, clipped."""
    shared = _shared_skips(tuple(text), tuple(reference))
    return Hits(shared, *(len(side) * (len(side) - 1) // 2 for side in (reference, text)))


def refuse_long(
    text: Sequence[object], reference: Sequence[object], most: int = MOST_CELLS
) -> None:
    """Refuse pairs whose table would take too long and too much memory."""
    if len(text) * len(reference) > most:
        raise Missing(
            Status.TOO_LONG,
            f"{len(text):,} × {len(reference):,} words are more than the limit of "
            f"{most:,} word pairs",
        )


@lru_cache(maxsize=8)
def _shared_skips(text: tuple[str, ...], reference: tuple[str, ...]) -> int:
    """Shared skip bigrams, remembered because S* and SU* both ask."""
    refuse_long(text, reference)
    return shared_skip_bigrams(*numbered(text, reference))
