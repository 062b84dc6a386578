"""n-grams that match where their words are near: what ROUGE-WE and S3 count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.model import WordVectors
from fabula.core.score import Missing, Status
from fabula.metrics._rouge_counts import Hits
from fabula.metrics._vectors import dot_products

if TYPE_CHECKING:
    from fabula.core.model import Array

# Pairs of different n-grams that are compared within seconds, and those held at once.
MOST_PAIRS = 100_000_000
_BLOCK_PAIRS = 2_000_000
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=256)
def plain_words(text: str) -> tuple[str, ...]:
    r"""Lower-case words by `\w+`, as ROUGE-WE and S3 cut them."""
    return tuple(_WORD.findall(text.lower()))


@dataclass(frozen=True)
class Lexis:
    """Some words with their vectors; the row of an unknown one is NaN."""

    places: dict[str, int]
    rows: Array

    @classmethod
    def of(cls, texts: Iterable[str], vectors: WordVectors) -> Lexis:
        """Look the words of all texts up in one go."""
        words = list(dict.fromkeys(word for text in texts for word in plain_words(text)))
        places = {word: place for place, word in enumerate(words)}
        return cls(places, np.asarray(vectors.rows(words), dtype=np.float64))


@dataclass(frozen=True)
class _Grams:
    """Different n-grams of a text in the order they come, with counts, sums and who has one.

    `units` are the sums of the words' vectors, of length one; zeros where a word is unknown.
    """

    ids: list[tuple[int, ...]]
    counts: list[int]
    units: Array
    known: Array


def soft_hits(text: str, reference: str, n: int, *, lexis: Lexis, threshold: float) -> Hits:
    """Shared n-grams, clipped, where the nearest one left counts as the same.

    Each n-gram of the text, in the order they come, takes its like from the reference if it is
    left, else the one with the largest cosine, if that is at least the threshold.
    """
    ours, theirs = (_grams(side, n, lexis) for side in (text, reference))
    if (pairs := len(ours.ids) * len(theirs.ids)) > MOST_PAIRS:
        counts = f"{len(ours.ids):,} × {len(theirs.ids):,} different n-grams"
        raise Missing(Status.TOO_LONG, f"{counts}: over the limit of {MOST_PAIRS:,} pairs")
    hits = _Matching(ours, theirs, threshold).hits() if pairs else 0
    return Hits(hits, sum(theirs.counts), sum(ours.counts))


class _Matching:
    """A greedy matching as it goes on: how much of each n-gram of the reference is left."""

    def __init__(self, ours: _Grams, theirs: _Grams, threshold: float) -> None:
        self.ours, self.theirs, self.threshold = ours, theirs, threshold
        self.place = {gram: place for place, gram in enumerate(theirs.ids)}
        self.left = np.array(theirs.counts)
        # Unknown ones are like nothing, not even each other.
        self.open = theirs.known.copy()

    def hits(self) -> int:
        rows = max(_BLOCK_PAIRS // len(self.left), 1)
        starts = range(0, len(self.ours.ids), rows)
        return sum(self._hits_of(range(s, min(s + rows, len(self.ours.ids)))) for s in starts)

    def _hits_of(self, block: range) -> int:
        columns = np.flatnonzero(self.open)
        near = dot_products(self.ours.units[block.start : block.stop], self.theirs.units[columns])
        hits = 0
        for gram, cosines, known in zip(
            block, near, self.ours.known[block.start : block.stop], strict=True
        ):
            same = self.place.get(self.ours.ids[gram], -1)
            if same >= 0 and self.left[same]:
                hits += self._take(same, self.ours.counts[gram])
            elif known and len(columns):
                nearest = self._nearest(cosines, columns)
                if nearest >= 0:
                    hits += self._take(nearest, self.ours.counts[gram])
        return hits

    def _nearest(self, cosines: Array, columns: Array) -> int:
        """The nearest one that is left and near enough; -1 where there is none."""
        best = int(cosines.argmax())
        if not self.open[columns[best]]:
            cosines[~self.open[columns]] = -1.0
            best = int(cosines.argmax())
        return int(columns[best]) if cosines[best] >= self.threshold else -1

    def _take(self, place: int, count: int) -> int:
        taken = min(int(self.left[place]), count)
        self.left[place] -= taken
        self.open[place] &= self.left[place] > 0
        return taken


def _grams(text: str, n: int, lexis: Lexis) -> _Grams:
    words = [lexis.places[word] for word in plain_words(text)]
    counts = Counter(_runs(words, n))
    ids = list(counts)
    parts = lexis.rows[np.array(ids, dtype=np.int64).reshape(-1, n)]  # (grams, n, width)
    sums = parts.sum(axis=1)
    lengths = np.sqrt(np.einsum("gw,gw->g", sums, sums))
    known = lengths > 0
    units = np.zeros(sums.shape, dtype=np.float32)
    units[known] = sums[known] / lengths[known, None]
    return _Grams(ids, list(counts.values()), units, known)


def _runs(words: Sequence[int], n: int) -> Iterable[tuple[int, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)
