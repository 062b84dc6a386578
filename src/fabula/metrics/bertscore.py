"""BERTScore: every word looks for its nearest in the other text, in the space of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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

# Pairs of tokens that are compared within seconds, and those held at once.
_MOST_PAIRS = 200_000_000
_BLOCK_PAIRS = 4_000_000


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
            "HANNA's columns are of bert-base-uncased, layer 8. The default, MiniLM's layer 3, "
            "agrees best with them on prompts 0 to 47; on the other 48 its F correlates with "
            "theirs at .883, its recall at .943 (machine stories).",
            "Long texts are read whole, by windows; the package cuts them at 512 tokens.",
        ),
        cannot_see="Whether the story is good: it likes what resembles the reference. A lost `not` "
        "or an ending turned round can cost less than other words for the same plot.",
    )

    model: str = "embedded('minilm')"
    layer: Annotated[int, AtLeast(0)] = 3

    def ask(self, stories: Sequence[Story]) -> list[Reading]:
        """Encode all texts in one pass, then match story by story."""
        encoder = self.offered(Embedder)
        texts = list(dict.fromkeys(text for story in stories for text in _texts(story)))
        units = dict(zip(texts, self._units(encoder, texts), strict=True))
        return [self._best(story, units) for story in stories]

    def _units(self, encoder: Embedder, texts: list[str]) -> list[_Units]:
        found = [_unit(one) for one in encoder.states(texts, [self.layer])]
        window = getattr(encoder, "window", None)
        if not self.compat or not window:
            return found
        # A cut text fits one window, so that no state comes from further on.
        cuts = [one.cut(text, window) for one, text in zip(found, texts, strict=True)]
        again = map(_unit, encoder.states(cuts, [self.layer]))
        return [
            replace(one, coverage=len(cut) / len(text))
            for one, cut, text in zip(again, cuts, texts, strict=True)
        ]

    def _best(self, story: Story, units: dict[str, _Units]) -> Reading:
        text, *references = _texts(story)
        found = [self._matched(units[text], units[one]) for one in references]
        return max(found, key=lambda one: (one.status is Status.OK, one.values[-1]))

    def _matched(self, story: _Units, reference: _Units) -> Reading:
        if not story.words.any() or not reference.words.any():
            return self.missing(Status.UNDEFINED, "the model sees no token in one of the texts")
        counts = len(story.words), len(reference.words)
        if counts[0] * counts[1] > _MOST_PAIRS:
            note = f"{counts[0]:,} × {counts[1]:,} tokens: over the limit of {_MOST_PAIRS:,} pairs"
            return self.missing(Status.TOO_LONG, note)
        forth, back = _largest_cosines(story.vectors, reference.vectors)
        precision, recall = float(forth[story.words].mean()), float(back[reference.words].mean())
        # Of means that are not above 0 there is no harmonic one.
        f = 2 * precision * recall / (precision + recall) if min(precision, recall) > 0 else 0.0
        return Reading((precision, recall, f), coverage=min(story.coverage, reference.coverage))


@dataclass(frozen=True)
class _Units:
    """Vectors of length one, which of them stand for words, and how much was read."""

    vectors: Array
    words: Array
    ends: Array
    coverage: float

    def cut(self, text: str, window: int) -> str:
        """The part of the text that one window holds, with a beginning and an end."""
        return text if len(self.ends) <= window else text[: self.ends[window - 2]]


def _unit(found: TokenStates) -> _Units:
    vectors = found.states[0]
    lengths = np.sqrt(np.einsum("th,th->t", vectors, vectors))[:, None]
    spans = np.array(found.spans, dtype=np.int64).reshape(-1, 2)
    words = spans[:, 1] > spans[:, 0]
    return _Units(vectors / np.maximum(lengths, 1e-12), words, spans[:, 1], found.coverage)


def _largest_cosines(left: Array, right: Array) -> tuple[Array, Array]:
    """Largest cosine of every vector to one of the other side: those of the left, of the right."""
    rows = max(_BLOCK_PAIRS // len(right), 1)
    forth, back = [], np.full(len(right), -1.0)
    for start in range(0, len(left), rows):
        cosines = left[start : start + rows] @ right.T
        forth.append(cosines.max(axis=1))
        back = np.maximum(back, cosines.max(axis=0))
    return np.minimum(np.concatenate(forth), 1.0), np.minimum(back, 1.0)


def _texts(story: Story) -> list[str]:
    return [story.text, *(one for one in story.references if one.strip())]
