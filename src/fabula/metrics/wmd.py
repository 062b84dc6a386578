"""Word Mover's Distance: how far the words of a story have to travel to those of the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fabula.core.card import Card, Direction
from fabula.core.model import TokenCount, WordVectors
from fabula.core.score import Missing, Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.metrics._transport import exact_cost
from fabula.metrics._vectors import count_unknown_words, distances, distinct_texts, texts_of
from fabula.metrics._words import stop_words, stop_words_digest
from fabula.metrics.model_metric import ModelMetric
from fabula.text.words import words

if TYPE_CHECKING:
    from fabula.core.model import Array

# Pairs of words between which mass can be moved within seconds.
MOST_PAIRS = 4_000_000


@dataclass(frozen=True)
class Wmd(ModelMetric):
    """Least work of carrying the words of a story to those of a reference (Kusner et al., 2015).

    Each text is a heap of words, all words of the same mass; the way between two words is the
    distance of their vectors.
    """

    revision = 2
    card = Card(
        title="Word Mover's Distance",
        label="WMD",
        family="embedding",
        direction="lower",
        low=0.0,
        needs=("reference",),
        assets=("glove_50d",),
        references="the nearest reference counts",
        paper="Kusner, Sun, Kolkin and Weinberger (2015). From word embeddings to document "
        "distances. ICML, 957–966.",
        formula="min Σ T(i, j) · ‖vᵢ − vⱼ‖ over all plans T that carry the story's bag of words "
        "(shares that add up to 1) to the reference's; exact",
        quirks=(
            "Words without a vector are left out; coverage is the share of the content words that "
            "have one, of the text that has fewer.",
            "A text without any known content word has no value; other code gives 0 or infinity.",
            "Vectors are taken as they are, not scaled to length one: distances of other vectors "
            "do not compare.",
            "RoViST reports positive correlations, so that its table must hold a similarity. Here "
            "a distance stays one, and reports turn it, as if it were negated; with "
            "similarity=True the value is 1 / (1 + distance), and higher is better.",
            f"More than {MOST_PAIRS:,} pairs of words that differ are too long.",
        ),
        cannot_see="Order, negation and quality: it is a bag of words, shuffled or not.",
    )

    model: str = "embedded('glove_50d')"
    stop_words: Annotated[str, Means("'english', a file of words to leave out, or '' for none")] = (
        "english"
    )
    similarity: Annotated[bool, Means("1 / (1 + distance): higher is better")] = False

    @property
    def direction(self) -> Direction:
        """Lower is better of distances, higher of similarities."""
        return "higher" if self.similarity else "lower"

    def check(self) -> None:
        """Read the stop words: a list that cannot be read is refused."""
        super().check()
        _ = self._left_out

    def traits(self) -> dict[str, str]:
        """The stop words' digest, how references are joined, and the vectors."""
        stop = stop_words_digest(self._left_out) if self.stop_words else "no"
        return {"tok": "unicode", "stop": stop, "refs": "nearest"} | super().traits()

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the content words without a vector."""
        vectors = self.model_as(WordVectors)
        content = [content_words(text, self._left_out) for text in texts]
        return [count_unknown_words(words, vectors) for words in content]

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Look all words up in one go, then carry story by story."""
        texts = distinct_texts(stories)
        content = {text: content_words(text, self._left_out) for text in texts}
        known = _known(content.values(), self.model_as(WordVectors))
        bags = {text: make_bag(words, known) for text, words in content.items()}
        return [self._nearest(story, bags, known) for story in stories]

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return stop_words(self.stop_words)

    def _nearest(self, story: Story, bags: dict[str, Bag], known: dict[str, Array]) -> Reading:
        text, *references = texts_of(story)
        return self.best(self._carry(bags[text], bags[other], known) for other in references)

    def _carry(self, story: Bag, reference: Bag, known: dict[str, Array]) -> Reading:
        for bag, which in ((story, "story"), (reference, "reference")):
            if not bag.shares:
                note = f"the {which} has no content word with a vector"
                return self.missing(Status.UNDEFINED, note)
        try:
            cost = carrying_cost(story, reference, known)
        except Missing as missing:
            return self.missing(missing.status, missing.note)
        return Reading((1 / (1 + cost) if self.similarity else cost,))


def _known(content: Iterable[tuple[str, ...]], vectors: WordVectors) -> dict[str, Array]:
    """Vectors of the words that have one."""
    words = list(dict.fromkeys(word for words_of_text in content for word in words_of_text))
    rows = np.asarray(vectors.rows(words), dtype=np.float64)
    return {word: row for word, row in zip(words, rows, strict=True) if not np.isnan(row[0])}


# Shares that differ by less are equal but for rounding.
_TINY = 1e-12


@dataclass(frozen=True)
class Bag:
    """How much of a text each of its known words is."""

    shares: dict[str, float]


@lru_cache(maxsize=256)
def content_words(text: str, left_out: frozenset[str]) -> tuple[str, ...]:
    """Lower-case words but for those left out; of `sailor's` the sailor stays."""
    whole = (word for word in words(text) if word not in left_out)
    parts = (part for word in whole for part in word.split("'"))
    return tuple(part for part in parts if part not in left_out)


def make_bag(content: tuple[str, ...], known: dict[str, Array]) -> Bag:
    """Bag of the words that have a vector."""
    counts = Counter(word for word in content if word in known)
    total = counts.total()
    return Bag({word: count / total for word, count in counts.items()})


def carrying_cost(left: Bag, right: Bag, known: dict[str, Array]) -> float:
    """Least sum of mass × distance that makes one bag the other.

    What both have of a word stays where it is: distances obey the triangle inequality, so that
    moving it gains nothing.
    """
    surplus = {word: mass for word, mass in _surplus(left, right).items() if mass > _TINY}
    lack = {word: mass for word, mass in _surplus(right, left).items() if mass > _TINY}
    if not surplus or not lack:
        return 0.0
    if (pairs := len(surplus) * len(lack)) > MOST_PAIRS:
        note = f"{len(surplus):,} × {len(lack):,} words that differ ({pairs:,} pairs)"
        raise Missing(Status.TOO_LONG, f"{note}: over the limit of {MOST_PAIRS:,}")
    weights = [np.array(list(side.values())) for side in (surplus, lack)]
    points = [np.array([known[word] for word in side]) for side in (surplus, lack)]
    moved = float(weights[0].sum())
    return moved * exact_cost(weights[0], weights[1], distances(points[0], points[1]))


def _surplus(one: Bag, other: Bag) -> dict[str, float]:
    return {word: share - other.shares.get(word, 0.0) for word, share in one.shares.items()}
