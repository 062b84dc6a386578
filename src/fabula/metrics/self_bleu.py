"""Self-BLEU: how alike the stories of one system are."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, cast

import numpy as np

from fabula.core.card import Card
from fabula.core.metric import BatchMetric, BatchStatistics
from fabula.core.score import Reading, Status
from fabula.core.story import Story
from fabula.text.grams import count_codes, gram_codes, look_up, word_codes

Array = np.ndarray[Any, np.dtype[Any]]

_HEAP = 2_000_000


class TopCounts:
    """For each n-gram the highest count in one story and the next highest in another."""

    def __init__(self) -> None:
        self._kinds: Array = np.empty(0, dtype=np.uint64)
        self._first: Array = np.empty(0, dtype=np.int64)
        self._second: Array = np.empty(0, dtype=np.int64)
        self._heap: list[tuple[Array, Array]] = []
        self._waiting = 0

    def add(self, kinds: Array, counts: Array) -> None:
        """Take in a story by its different n-grams and their counts."""
        self._heap.append((kinds, counts))
        self._waiting += len(kinds)
        if self._waiting > _HEAP:
            self._merge()

    def among_others(self, kinds: Array, counts: Array) -> Array:
        """Highest count in any other story, for a story with these counts that was added."""
        if self._heap:
            self._merge()
        first = look_up(kinds, self._kinds, self._first)
        second = look_up(kinds, self._kinds, self._second)
        # A story that holds the highest count itself is left the second; if two stories tie
        # for the highest, the second is as high.
        return np.where(counts == first, second, first)

    def _merge(self) -> None:
        if not self._waiting:
            self._heap = []
            return
        kinds = np.concatenate([self._kinds, self._kinds, *(kind for kind, _ in self._heap)])
        counts = np.concatenate([self._first, self._second, *(count for _, count in self._heap)])
        order = np.lexsort((-counts, kinds))
        kinds, counts = kinds[order], counts[order]
        starts = np.flatnonzero(np.append(True, kinds[1:] != kinds[:-1]))
        ends = np.append(starts[1:], len(kinds))
        self._kinds, self._first = kinds[starts], counts[starts]
        seconds = counts[np.minimum(starts + 1, len(counts) - 1)]
        self._second = np.where(starts + 1 < ends, seconds, 0)
        self._heap, self._waiting = [], 0


class _Batch:
    """Stories of a batch: the highest counts of each n-gram, and all lengths."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.tops = [TopCounts() for _ in range(order)]
        self.lengths: list[int] = []

    def add(self, story: Story) -> None:
        grams = _grams(story.text, self.order)
        self.lengths.append(len(grams[0]))
        for top, codes in zip(self.tops, grams, strict=True):
            top.add(*count_codes(codes))


@dataclass(frozen=True)
class SelfBleu(BatchMetric):
    """BLEU of a story with all other stories of its system as references (Zhu et al., 2018)."""

    card = Card(
        title="Self-BLEU",
        family="string",
        direction="lower",
        low=0.0,
        high=100.0,
        batch="system",
        paper="Zhu et al. (2018). Texygen: A benchmarking platform for text generation models. "
        "SIGIR, 1097–1100.",
        formula="BLEU(story; all other stories of the system)",
        quirks=(
            "It rises with the number of stories: compare systems of equally many.",
            "Tokens and smoothing are those of `bleu`.",
            "A system with one story has no value.",
        ),
        cannot_see="Sense: stories of random words are as different as can be.",
    )

    order: Literal[1, 2, 3, 4] = 4

    def traits(self) -> dict[str, str]:
        """Tokeniser, smoothing, and sacrebleu's version."""
        import sacrebleu

        return {"tok": "13a", "smooth": "exp", "eff": "yes", "sacrebleu": sacrebleu.__version__}

    def empty_statistics(self) -> BatchStatistics:
        """Gather the highest counts of n-grams among the stories of a system."""
        return _Batch(self.order)

    def compute_in(self, stories: Sequence[Story], statistics: BatchStatistics) -> list[Reading]:
        """Score stories of one system."""
        batch = cast(_Batch, statistics)
        if len(batch.lengths) < 2:
            note = "the system has no other story to compare with"
            return [self.missing(Status.UNDEFINED, note) for _ in stories]
        lengths = sorted(batch.lengths)
        return [self._reading(story, batch, lengths) for story in stories]

    def _reading(self, story: Story, batch: _Batch, lengths: list[int]) -> Reading:
        from sacrebleu import BLEU

        grams = _grams(story.text, self.order)
        size = len(grams[0])
        if not size:
            return self.missing(Status.UNDEFINED, "the story has no tokens")
        bleu = BLEU.compute_bleu(
            correct=[_clipped(order, top) for order, top in zip(grams, batch.tops, strict=True)],
            total=[len(order) for order in grams],
            sys_len=size,
            ref_len=_nearest_other(size, lengths),
            smooth_method="exp",
            effective_order=True,
            max_ngram_order=self.order,
        )
        return Reading((min(float(bleu.score), 100.0),))


def _clipped(grams: Array, top: TopCounts) -> int:
    """n-grams of a story that another story has too, each as often as at most one other."""
    kinds, counts = count_codes(grams)
    return int(np.minimum(counts, top.among_others(kinds, counts)).sum())


def _nearest_other(size: int, lengths: list[int]) -> int:
    """Length of the other story that is nearest in length; the shorter of two."""
    place = bisect_left(lengths, size)
    others = lengths[max(0, place - 1) : place] + lengths[place + 1 : place + 2]
    return min(others, key=lambda other: (abs(other - size), other))


@lru_cache(maxsize=256)
def _grams(text: str, order: int) -> list[Array]:
    return gram_codes(word_codes(_tokenizer()(text).split()), order)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()
