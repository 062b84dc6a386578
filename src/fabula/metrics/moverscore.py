"""MoverScore: how little a reference has to be moved to become the story, token by token."""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Embedder
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._transport import exact_cost
from fabula.metrics._vectors import Cloud, distances, distinct_texts, make_clouds, texts_of
from fabula.metrics._words import stop_words, stop_words_digest
from fabula.metrics.model_metric.idf import Rarities, Rarity, RarityMetric

if TYPE_CHECKING:
    from fabula.core.model import Array

# Pairs of tokens with weight between which mass is moved within seconds.
_MOST_PAIRS = 4_000_000


@dataclass(frozen=True)
class Moverscore(RarityMetric):
    """One over one plus the earth mover's distance between the tokens of story and reference."""

    revision = 2
    card = Card(
        title="MoverScore",
        family="embedding",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference",),
        assets=("minilm",),
        references="the best reference counts",
        paper="Zhao, Peyrard, Liu, Gao, Meyer and Eger (2019). MoverScore: Text Generation "
        "Evaluating with Contextualized Embeddings and Earth Mover Distance. EMNLP.",
        formula="1 / (1 + EMD); EMD = min over plans P ≥ 0 of Σ P‖x − y‖, where P takes the "
        "story's tokens x to the reference's y (states of length one, the weights of each side "
        "summing to 1)",
        compat="As version 2 of the package (moverscore_v2): the tokens that the model adds weigh "
        "as much as others (with idf nothing, since they are in every text), only ASCII's "
        "punctuation weighs nothing, and texts are cut at the model's window. Its first version "
        "gave 1 − EMD of another checkpoint's mean over layers; that is not offered.",
        quirks=(
            "Sub-word continuations (##), single punctuation marks and stop words weigh nothing. "
            "The package sets their vectors to 0 and carries them through all of its matrices; "
            "here they are left out first, which gives the same value sooner.",
            "The stop words are our own list; the package reads a list of 153 words from a file "
            "(give yours as stop_words).",
            "HANNA's column is of another checkpoint, most likely distilbert-base-uncased. Of "
            "MiniLM's layers the last agrees best with it on prompts 0 to 47 (r = .789, with idf "
            "and compat .818); on the other 48 they correlate at .795 and .829 (machine stories).",
            "With idf the stories of the run are counted apart from the references.",
        ),
        cannot_see="The order of the words but for what the encoder's states say of it; whether "
        "the story is good: it likes what resembles the reference.",
        published={"hanna": {"MoverScore": ("moverscore(idf=True, compat=True)", "")}},
    )

    model: str = "embedded('minilm')"
    layer: Annotated[int, AtLeast(0)] = 6
    stop_words: str = "english"

    def check(self) -> None:
        """Spell the model in full; refuse a list of stop words that cannot be read."""
        super().check()
        stop_words(self.stop_words)

    def traits(self) -> dict[str, str]:
        """Give the model's signature and a digest of the stop words."""
        return {**super().traits(), "stop": stop_words_digest(self._left_out)}

    def compute_weighted(
        self, stories: Sequence[Story], rarities: Rarities | None
    ) -> list[Reading]:
        """Encode all texts in one pass, then carry story by story."""
        texts = distinct_texts(stories)
        encoder = self.model_as(Embedder)
        clouds = make_clouds(encoder, texts, layers=[self.layer], cut=self.compat, exact=True)
        known = dict(zip(texts, clouds, strict=True))
        return [self._compare_story(story, known, rarities) for story in stories]

    def _compare_story(
        self, story: Story, known: dict[str, Cloud], rarities: Rarities | None
    ) -> Reading:
        sides = (rarities.stories, rarities.references) if rarities else (None, None)
        text, *references = texts_of(story)
        own = self._mass(text, known[text], sides[0])
        masses = [self._mass(text, known[text], sides[1]) for text in references]
        return self.best((self._carry(own, mass) for mass in masses), aspect=0)

    def _mass(self, text: str, cloud: Cloud, rarity: Rarity | None) -> _Mass:
        """Leave out what weighs nothing."""
        kept = [at for at, token in enumerate(cloud.tokens) if self._counts(text, cloud, at, token)]
        tokens = [cloud.tokens[at] for at in kept]
        weights = np.array(rarity.weights(tokens) if rarity else [1.0] * len(kept))
        heavy = np.flatnonzero(weights)
        points = cloud.points[0][np.array(kept, dtype=np.int64)[heavy]]
        return _Mass(points, weights[heavy], cloud.coverage, bool(cloud.words.any()))

    def _counts(self, text: str, cloud: Cloud, at: int, token: str) -> bool:
        if not cloud.words[at]:
            return self.compat and not self.idf
        start, end = cloud.spans[at]
        written = text[start:end].strip().lower()
        if token.startswith("##") or written in self._left_out:
            return False
        return not _is_mark(written, only_ascii=self.compat)

    def _carry(self, story: _Mass, reference: _Mass) -> Reading:
        if not story.read or not reference.read:
            return self.missing(Status.UNDEFINED, "the model sees no token in one of the texts")
        counts = len(story.weights), len(reference.weights)
        if not min(counts):
            return self.missing(Status.UNDEFINED, "no token of one of the texts has weight")
        if counts[0] * counts[1] > _MOST_PAIRS:
            note = f"{counts[0]:,} × {counts[1]:,} tokens: over the limit of {_MOST_PAIRS:,} pairs"
            return self.missing(Status.TOO_LONG, note)
        cost = exact_cost(
            story.weights, reference.weights, distances(story.points, reference.points)
        )
        return Reading((1 / (1 + cost),), coverage=min(story.coverage, reference.coverage))

    @cached_property
    def _left_out(self) -> frozenset[str]:
        return stop_words(self.stop_words)


@dataclass(frozen=True)
class _Mass:
    """Points that have a weight, the share of the text that was read, and whether any was."""

    points: Array
    weights: Array
    coverage: float
    read: bool


def _is_mark(written: str, *, only_ascii: bool) -> bool:
    if len(written) != 1:
        return False
    return written in string.punctuation or (
        not only_ascii and unicodedata.category(written).startswith("P")
    )
