"""Self-BLEU: how alike the stories of one system are."""

from __future__ import annotations

import hashlib
import heapq
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, cast

import numpy as np

from fabula.core.card import Card
from fabula.core.metric import BatchMetric, BatchStatistics
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast, Means
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

    def merge(self, other: TopCounts) -> None:
        """Take in the stories that another has seen, of which none is here."""
        other._merge()
        for counts in (other._first, other._second):
            self.add(other._kinds, counts)

    def among_others(self, kinds: Array, counts: Array, *, added: bool = True) -> Array:
        """Highest count in any other story, for a story with these counts that was `added`."""
        if self._heap:
            self._merge()
        first = look_up(kinds, self._kinds, self._first)
        if not added:
            return first
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
        self.lengths: Counter[int] = Counter()

    def add(self, story: Story) -> None:
        grams = _grams(story.text, self.order)
        self.lengths[len(grams[0])] += 1
        for top, codes in zip(self.tops, grams, strict=True):
            top.add(*count_codes(codes))

    def merge(self, other: _Batch) -> None:
        self.lengths.update(other.lengths)
        for top, more in zip(self.tops, other.tops, strict=True):
            top.merge(more)


class _Sample:
    """So many stories of a batch, those whose texts have the lowest hashes: in any order the same.

    A sample of what two parts have sampled is that of the whole.
    """

    def __init__(self, order: int, size: int) -> None:
        self.order, self.size, self.stories = order, size, 0
        self._texts: list[tuple[int, str]] = []  # a heap with the highest hash on top
        self._batch: _Batch | None = None

    def add(self, story: Story) -> None:
        self.stories += 1
        self._keep(-_hash(story.text), story.text)

    def merge(self, other: _Sample) -> None:
        self.stories += other.stories
        for key, text in other._texts:
            self._keep(key, text)

    def _keep(self, key: int, text: str) -> None:
        self._batch = None
        put = heapq.heappush if len(self._texts) < self.size else heapq.heappushpop
        put(self._texts, (key, text))

    def holds(self, text: str) -> bool:
        """Whether a text is among those of the sample, and so no other than itself."""
        self.batch()
        return text in self._held

    def batch(self) -> _Batch:
        """Give what is known of the stories of the sample."""
        if self._batch is None:
            self._batch = _Batch(self.order)
            self._held = {text for _, text in self._texts}
            for _, text in self._texts:
                self._batch.add(Story("sampled", text))
        return self._batch

    def __getstate__(self) -> dict[str, object]:
        """Travel with the texts alone."""
        return {**vars(self), "_batch": None, "_held": set()}


def _hash(text: str) -> int:
    raw = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(raw, "big")


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
            "Memory grows with the different n-grams of a system. For very many stories there is "
            "sample=1000: each is compared with the 1,000 whose texts have the lowest hashes. The "
            "value is lower than with all, and does not rise with the number of stories.",
        ),
        cannot_see="Sense: stories of random words are as different as can be.",
    )

    order: Literal[1, 2, 3, 4] = 4
    sample: Annotated[
        int, AtLeast(0), Means("compare with so many stories of the system; 0: with all")
    ] = 0

    def check(self) -> None:
        """Refuse a sample in which a story may be alone with itself."""
        if self.sample == 1:
            raise self.setting_error("sample=1 may be the story itself", "take more, or 0 for all")

    def traits(self) -> dict[str, str]:
        """Tokeniser, smoothing, and sacrebleu's version."""
        import sacrebleu

        return {"tok": "13a", "smooth": "exp", "eff": "yes", "sacrebleu": sacrebleu.__version__}

    def empty_statistics(self) -> BatchStatistics:
        """Gather the highest counts of n-grams among the stories of a system."""
        return _Sample(self.order, self.sample) if self.sample else _Batch(self.order)

    def compute_in(self, stories: Sequence[Story], statistics: BatchStatistics) -> list[Reading]:
        """Score stories of one system."""
        sample = statistics if isinstance(statistics, _Sample) else None
        batch = sample.batch() if sample else cast(_Batch, statistics)
        if batch.lengths.total() < 2:
            note = "the system has no other story to compare with"
            return [self.missing(Status.UNDEFINED, note) for _ in stories]
        lengths = sorted(batch.lengths)
        return [
            self._reading(story, batch, lengths, added=sample is None or sample.holds(story.text))
            for story in stories
        ]

    def _reading(self, story: Story, batch: _Batch, lengths: list[int], *, added: bool) -> Reading:
        from sacrebleu import BLEU

        grams = _grams(story.text, self.order)
        size = len(grams[0])
        if not size:
            return self.missing(Status.UNDEFINED, "the story has no tokens")
        bleu = BLEU.compute_bleu(
            correct=[
                _clipped(order, top, added=added)
                for order, top in zip(grams, batch.tops, strict=True)
            ],
            total=[len(order) for order in grams],
            sys_len=size,
            ref_len=_nearest_other(size, lengths, batch.lengths[size] - added),
            smooth_method="exp",
            effective_order=True,
            max_ngram_order=self.order,
        )
        return Reading((min(float(bleu.score), 100.0),))


def _clipped(grams: Array, top: TopCounts, *, added: bool) -> int:
    """n-grams of a story that another story has too, each as often as at most one other."""
    kinds, counts = count_codes(grams)
    return int(np.minimum(counts, top.among_others(kinds, counts, added=added)).sum())


def _nearest_other(size: int, lengths: list[int], others_as_long: int) -> int:
    """Length of the other story that is nearest in length; the shorter of two.

    `lengths` are those that occur, each once and in order.
    """
    if others_as_long:
        return size
    place = bisect_left(lengths, size)
    above = place + (lengths[place : place + 1] == [size])
    others = lengths[max(0, place - 1) : place] + lengths[above : above + 1]
    return min(others, key=lambda other: (abs(other - size), other))


@lru_cache(maxsize=256)
def _grams(text: str, order: int) -> list[Array]:
    return gram_codes(word_codes(_tokenizer()(text).split()), order)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    return Tokenizer13a()
