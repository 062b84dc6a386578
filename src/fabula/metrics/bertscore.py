"""BERTScore: every word looks for its nearest in the other text, in the space of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from fabula.core.card import Card
from fabula.core.model import Embedder, TokenStates
from fabula.core.score import Reading, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._model_metric import ModelMetric

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class Bertscore(ModelMetric):
    """Precision, recall and F of the best cosines between the tokens of story and reference."""

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
            "HANNA's columns are of bert-base-uncased, layer 8; the default here is MiniLM.",
            "Long texts are read whole, by windows; the package cuts them at 512 tokens.",
        ),
        cannot_see="Whether the story is good: it likes what resembles the reference.",
    )

    model: str = "embedded('minilm')"
    layer: Annotated[int, AtLeast(0)] = 5

    def ask(self, stories: Sequence[Story]) -> list[Reading]:
        """Encode all texts in one pass, then match story by story."""
        encoder = self.offered(Embedder)
        texts = list(dict.fromkeys(text for story in stories for text in _texts(story)))
        states = dict(zip(texts, encoder.states(texts, [self.layer]), strict=True))
        units = {text: _unit(one) for text, one in states.items()}
        return [self._best(story, units) for story in stories]

    def _best(self, story: Story, units: dict[str, _Units]) -> Reading:
        text, *references = _texts(story)
        found = [self._matched(units[text], units[one]) for one in references]
        return max(found, key=lambda one: (one.status is Status.OK, one.values[-1]))

    def _matched(self, story: _Units, reference: _Units) -> Reading:
        if not story.words.any() or not reference.words.any():
            return self.missing(Status.UNDEFINED, "the model sees no token in one of the texts")
        cosines = story.vectors @ reference.vectors.T  # (story tokens, reference tokens)
        precision = float(cosines.max(axis=1)[story.words].mean())
        recall = float(cosines.max(axis=0)[reference.words].mean())
        total = precision + recall
        f = 2 * precision * recall / total if total else 0.0
        return Reading((precision, recall, f), coverage=min(story.coverage, reference.coverage))


@dataclass(frozen=True)
class _Units:
    """Vectors of length one, which of them stand for words, and how much was read."""

    vectors: Array
    words: Array
    coverage: float


def _unit(found: TokenStates) -> _Units:
    vectors = found.states[0]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    words = np.array([end > start for start, end in found.spans], dtype=bool)
    return _Units(vectors / np.maximum(lengths, 1e-12), words, found.coverage)


def _texts(story: Story) -> list[str]:
    return [story.text, *(one for one in story.references if one.strip())]
