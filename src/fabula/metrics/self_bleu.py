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
from fabula.metrics._top_counts import TopCounts
from fabula.text.grams import counted, gram_codes, word_codes

Array = np.ndarray[Any, np.dtype[Any]]


class _Batch:
    """Stories of a batch: the highest counts of each n-gram, and all lengths."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.tops = [TopCounts() for _ in range(order)]
        self.lengths: list[int] = []

    def add(self, story: Story) -> None:
        grams = _grams(story.text, self.order)
        self.lengths.append(len(grams[0]))
        for top, found in zip(self.tops, grams, strict=True):
            top.add(*counted(found))


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
        found = BLEU.compute_bleu(
            correct=[_clipped(one, top) for one, top in zip(grams, batch.tops, strict=True)],
            total=[len(one) for one in grams],
            sys_len=size,
            ref_len=_nearest_other(size, lengths),
            smooth_method="exp",
            effective_order=True,
            max_ngram_order=self.order,
        )
        return Reading((min(float(found.score), 100.0),))


def _clipped(grams: Array, top: TopCounts) -> int:
    """n-grams of a story that another story has too, each as often as at most one other."""
    kinds, counts = counted(grams)
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
