"""CIDEr-D: overlap with a reference in n-grams that are rare among the references."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, cast

import numpy as np

from fabula.core.card import Card
from fabula.core.metric import BatchMetric, BatchStatistics
from fabula.core.score import Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.text.grams import count_codes, look_up, mark_orders, order_of, word_codes
from fabula.text.words import bare_words, caption_words

Array = np.ndarray[Any, np.dtype[Any]]

# So many kinds wait in a heap before they are sorted into the whole.
_HEAP = 2_000_000
# Numbers of n-grams begin with their order: multiplied they are spread (Knuth, 6.4).
_MIXING = np.uint64(0x9E3779B97F4A7C15)


class DocumentCounts:
    """Counts documents by n-gram; kinds are 64-bit numbers and lie sorted."""

    def __init__(self) -> None:
        self.documents = 0
        self._kinds: Array = np.empty(0, dtype=np.uint64)
        self._counts: Array = np.empty(0, dtype=np.int64)
        self._heap: list[Array] = []
        self._waiting = 0

    def add(self, kinds: Array) -> None:
        """Take in a document by its different n-grams."""
        self.documents += 1
        self._heap.append(kinds)
        self._waiting += len(kinds)
        if self._waiting > _HEAP:
            self._merge()

    def of(self, kinds: Array) -> Array:
        """Number of documents that hold each n-gram."""
        if self._heap:
            self._merge()
        return look_up(kinds, self._kinds, self._counts)

    def merge(self, other: DocumentCounts) -> None:
        """Take in the documents that another has counted."""
        self._merge()
        other._merge()
        self.documents += other.documents
        self._add_counts(other._kinds, other._counts)

    def split(self, parts: int) -> list[DocumentCounts]:
        """Part the n-grams by lot, the same way everywhere; the first part knows the documents."""
        self._merge()
        lots = (self._kinds * _MIXING) >> np.uint64(40)
        made = []
        for number in range(parts):
            part, own = DocumentCounts(), lots % np.uint64(parts) == number
            part._kinds, part._counts = self._kinds[own], self._counts[own]
            made.append(part)
        made[0].documents = self.documents
        return made

    def drop_single(self) -> None:
        """Forget n-grams of one document: with log(N / 1) they weigh as much as unknown ones."""
        self._merge()
        several = self._counts > 1
        self._kinds, self._counts = self._kinds[several], self._counts[several]

    def _merge(self) -> None:
        if self._heap:
            kinds = np.concatenate(self._heap)
            self._heap, self._waiting = [], 0
            self._add_counts(kinds, np.ones(len(kinds), dtype=np.int64))

    def _add_counts(self, kinds: Array, counts: Array) -> None:
        counts = np.concatenate([self._counts, counts])
        self._kinds, places = np.unique(np.concatenate([self._kinds, kinds]), return_inverse=True)
        # Sums of whole numbers, exact in floats up to 2⁵³ documents.
        self._counts = np.bincount(places, weights=counts).astype(np.int64)


_ORDER = 4
_SIGMA = 6.0
_RULES: dict[str, Callable[[str], list[str]]] = {
    "unicode": bare_words,
    "captions": caption_words,
    "word-characters": re.compile(r"\w+").findall,
    "blanks": str.split,
}


class Counts(NamedTuple):
    """n-grams of a text with their orders and counts, and the number of its bigrams."""

    kinds: Array
    orders: Array
    counts: Array
    bigrams: int


@dataclass
class _References:
    """References of a batch: in how many stories' references each n-gram occurs."""

    rule: str
    counts: DocumentCounts

    def add(self, story: Story) -> None:
        texts = [_counts(reference, self.rule) for reference in _references(story)]
        self.counts.add(np.unique(np.concatenate([counts.kinds for counts in texts])))

    def merge(self, other: _References) -> None:
        self.counts.merge(other.counts)

    def split(self, parts: int) -> list[_References]:
        return [_References(self.rule, counts) for counts in self.counts.split(parts)]


@dataclass(frozen=True)
class Cider(BatchMetric):
    """Agreement with the references in n-grams, rare ones counting more (Vedantam et al., 2015).

    How rare an n-gram is, the references of all stories of the same system tell.
    """

    revision = 2
    card = Card(
        title="CIDEr-D",
        family="string",
        direction="higher",
        low=0.0,
        high=10.0,
        needs=("reference",),
        batch="system",
        references="the mean over the references",
        paper="Vedantam, Zitnick and Parikh (2015). CIDEr: Consensus-based image description "
        "evaluation. CVPR, 4566–4575.",
        formula="10 · mean over n = 1…4 of Σ min(h, r) · r / (‖h‖ ‖r‖) · exp(−Δ² / 72), with h and "
        "r the counts times log(N / documents) and Δ the difference of lengths",
        compat="HANNA's column: words as `\\w+` finds them, case kept.",
        quirks=(
            "Made for captions: with Δ words of difference in length a text keeps exp(−Δ²/72) of "
            "its score, so stories come out near 0.",
            "A length is the number of bigrams, as in the captioning toolkit.",
            "tokenize='captions' parts words as that toolkit does, on which RoViST's baselines "
            "stand: contractions parted, lower case, no punctuation.",
            "A batch of one story has no rare n-grams: `undefined`. So has a reference whose "
            "n-grams are all in those of every other story, which the toolkit gives 0.",
        ),
        cannot_see="Quality, and stories of another length than the reference.",
        published={"hanna": {"CIDEr": ("cider(compat=True)", "")}},
    )

    tokenized: Annotated[bool, Means("True: the texts are tokens with blanks between")] = False
    tokenize: Literal["unicode", "captions"] = "unicode"

    def check(self) -> None:
        """Refuse two rules for words at once."""
        if self.tokenize != "unicode" and (self.tokenized or self.compat):
            other = "tokenized" if self.tokenized else "compat"
            problem = f"{other} and tokenize={self.tokenize!r} both say what a word is"
            raise self.setting_error(problem, "leave one of them out")

    def traits(self) -> dict[str, str]:
        """Tokeniser and how references are joined."""
        return {"tok": self._rule, "refs": "mean"}

    @property
    def _rule(self) -> str:
        if self.tokenized:
            return "blanks"
        return "word-characters" if self.compat else self.tokenize

    def empty_statistics(self) -> BatchStatistics:
        """Count in how many stories' references each n-gram occurs."""
        return _References(self._rule, DocumentCounts())

    def seal(self, statistics: BatchStatistics) -> None:
        """Forget n-grams of a single document, most of all there are."""
        cast(_References, statistics).counts.drop_single()

    def compute_in(self, stories: Sequence[Story], statistics: BatchStatistics) -> list[Reading]:
        """Score the stories of one system."""
        counts = cast(_References, statistics).counts
        if counts.documents < 2:
            note = "a batch of one story has no rare n-grams: score several of a system"
            return [self.missing(Status.UNDEFINED, note) for _ in stories]
        return [self._reading(story, counts) for story in stories]

    def _reading(self, story: Story, documents: DocumentCounts) -> Reading:
        text = _counts(story.text, self._rule)
        references = [_counts(reference, self._rule) for reference in _references(story)]
        # Beside a reference without weight even its own copy would have 0 / 0.
        rare = [reference for reference in references if _weighted(reference, documents).any()]
        if not rare:
            note = "no n-gram of the reference is rare: all are in those of every story"
            return self.missing(Status.UNDEFINED, note)
        similarities = [_similarity(text, reference, documents) for reference in rare]
        return Reading((sum(similarities) / len(similarities),))


def _similarity(text: Counts, reference: Counts, documents: DocumentCounts) -> float:
    """Similarity of two texts, times ten."""
    apart = text.bigrams - reference.bigrams
    penalty = math.exp(-(apart**2) / (2 * _SIGMA**2))
    if not penalty:
        return 0.0
    left, right = _weighted(text, documents), _weighted(reference, documents)
    norms = _by_order(text, left * left) * _by_order(reference, right * right)
    _, i, j = np.intersect1d(text.kinds, reference.kinds, assume_unique=True, return_indices=True)
    shared = np.minimum(left[i], right[j]) * right[j]
    sums = np.bincount(text.orders[i], weights=shared, minlength=_ORDER)
    cosines = np.divide(sums, np.sqrt(norms), out=np.zeros(_ORDER), where=norms > 0)
    return 10 * penalty * float(cosines.mean())


def _by_order(text: Counts, values: Array) -> Array:
    """Sum values over the n-grams of each order."""
    return np.bincount(text.orders, weights=values, minlength=_ORDER)


def _weighted(text: Counts, documents: DocumentCounts) -> Array:
    """Counts of n-grams, each times the logarithm of how rare it is."""
    document_counts = np.maximum(documents.of(text.kinds), 1.0)
    return text.counts * (math.log(documents.documents) - np.log(document_counts))


@lru_cache(maxsize=256)
def _counts(text: str, rule: str) -> Counts:
    words = _RULES[rule](text)
    kinds, counts = count_codes(mark_orders(word_codes(words), _ORDER))
    return Counts(kinds, order_of(kinds), counts, max(0, len(words) - 1))


def _references(story: Story) -> list[str]:
    return [reference for reference in story.references if reference.strip()]
