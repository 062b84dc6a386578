"""BERTScore: every word looks for its nearest in the other text, in the space of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Embedder
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._vectors import (
    Cloud,
    distinct_texts,
    excess,
    largest_cosines,
    make_clouds,
    texts_of,
)
from fabula.metrics.model_metric.idf import Rarities, RarityMetric

if TYPE_CHECKING:
    from fabula.core.model import Array

_COLUMNS = {"Precision": "precision", "Recall": "recall", "F1": "f"}


@dataclass(frozen=True)
class Bertscore(RarityMetric):
    """Precision, recall and F of the best cosines between the tokens of story and reference."""

    revision = 2
    card = Card(
        title="BERTScore",
        family="embedding",
        direction="higher",
        low=-1.0,
        high=1.0,
        needs=("reference",),
        aspects=("precision", "recall", "f"),
        assets=("minilm",),
        references="the reference with the best F counts",
        paper="Zhang, Kishore, Wu, Weinberger and Artzi (2020). BERTScore: Evaluating Text "
        "Generation with BERT. ICLR.",
        formula="P = mean over the story's tokens of the largest cosine to any token of the "
        "reference; R the other way round; F = 2PR / (P + R)",
        compat="Texts are cut at the model's window, as the bert-score package cuts them.",
        quirks=(
            "Tokens that the model adds have no weight in the means but can be matched, as in "
            "the bert-score package, which it equals to 1e-4 with the same model and layer.",
            "HANNA's columns are of bert-base-uncased, layer 8. The default, MiniLM's layer 3, "
            "agrees best with them on prompts 0 to 47; on the other 48 its F correlates with "
            "theirs at .883, its recall at .943, with compat at .912 and .952 (machine stories).",
            "Long texts are read whole, by windows; the package cuts them at 512 tokens.",
            "With idf a token weighs log((N + 1) / (n + 1)), where n of the run's N references "
            "hold it, on both sides; as in the package, the stories themselves are not counted.",
        ),
        cannot_see="Whether the story is good: it likes what resembles the reference. A lost `not` "
        "or an ending turned round can cost less than other words for the same plot.",
        published={
            "hanna": {
                f"BERTScore {word}": ("bertscore(compat=True)", aspect)
                for word, aspect in _COLUMNS.items()
            }
        },
    )

    model: str = "embedded('minilm')"
    layer: Annotated[int, AtLeast(0)] = 3

    def compute_weighted(
        self, stories: Sequence[Story], rarities: Rarities | None
    ) -> list[Reading]:
        """Encode all texts in one pass, then match story by story."""
        texts = distinct_texts(stories)
        encoder = self.model_as(Embedder)
        clouds = make_clouds(encoder, texts, layers=[self.layer], cut=self.compat)
        known = {
            text: _Units.of(cloud, rarities) for text, cloud in zip(texts, clouds, strict=True)
        }
        return [self._compare_story(story, known) for story in stories]

    def _compare_story(self, story: Story, known: dict[str, _Units]) -> Reading:
        text, *references = texts_of(story)
        return self.best(self._match(known[text], known[other]) for other in references)

    def _match(self, story: _Units, reference: _Units) -> Reading:
        if why := story.lack or reference.lack:
            return self.missing(Status.UNDEFINED, why)
        if note := excess(len(story.vectors), len(reference.vectors)):
            return self.missing(Status.TOO_LONG, note)
        forth, back = largest_cosines(story.vectors, reference.vectors)
        precision, recall = story.mean(forth), reference.mean(back)
        # Of means that are not above 0 there is no harmonic one.
        f = 2 * precision * recall / (precision + recall) if min(precision, recall) > 0 else 0.0
        return Reading((precision, recall, f), coverage=min(story.coverage, reference.coverage))


@dataclass(frozen=True)
class _Units:
    """Vectors of length one, which of them are words, how much those weigh, how much was read."""

    vectors: Array
    words: Array
    weights: Array | None
    coverage: float

    @classmethod
    def of(cls, cloud: Cloud, rarities: Rarities | None) -> _Units:
        """Weigh the tokens of a text; those that the model added weigh nothing."""
        words = np.flatnonzero(cloud.words)
        weights = None
        if rarities:
            weights = np.array(rarities.references.weights([cloud.tokens[at] for at in words]))
        return cls(cloud.points[0], words, weights, cloud.coverage)

    @property
    def lack(self) -> str:
        """Why no mean can be had, if it cannot."""
        if not len(self.words):
            return "the model sees no token in one of the texts"
        if self.weights is not None and not self.weights.any():
            return "all tokens are in every reference: none has weight"
        return ""

    def mean(self, largest: Array) -> float:
        """Mean of the words' largest cosines by weight."""
        return float(np.average(largest[self.words], weights=self.weights))
