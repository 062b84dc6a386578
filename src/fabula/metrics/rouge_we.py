"""ROUGE-WE: n-grams of a story that are near those of the reference in a space of words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from fabula.core.card import Card
from fabula.core.model import TokenCount, WordVectors
from fabula.core.score import Missing, Reading, Status
from fabula.core.settings import Between, Means
from fabula.core.story import Story
from fabula.metrics._rouge_counts import Hits
from fabula.metrics._soft_grams import MOST_PAIRS, Lexis, plain_words, soft_hits
from fabula.metrics._vectors import count_unknown_words
from fabula.metrics.model_metric import ModelMetric

_ASPECTS = {"Recall": "recall", "Precision": "precision", "F-Score": "f"}


@dataclass(frozen=True)
class RougeWe(ModelMetric):
    """ROUGE-N in which an n-gram also hits another one whose words mean nearly the same."""

    revision = 2
    card = Card(
        title="ROUGE-WE",
        label="ROUGE-WE-{n}",
        family="embedding",
        direction="higher",
        low=0.0,
        high=1.0,
        needs=("reference",),
        aspects=("recall", "precision", "f"),
        assets=("glove_50d",),
        references="the reference with the best f counts; compat: hits and n-grams of all "
        "references are added up",
        paper="Ng and Abrecht (2015). Better summarization evaluation with word embeddings for "
        "ROUGE. EMNLP, 1925–1930.",
        formula="each n-gram of the story, in the order they come, takes its like from the "
        "reference, else the nearest that is left, if the cosine of the summed word vectors "
        "reaches the threshold; recall = hits / those in the reference; precision = hits / those "
        "in the story; f = 2 · precision · recall / (precision + recall)",
        compat="References are added up, and a reference without an n-gram gives 0, as in "
        "SummEval's code.",
        quirks=(
            "Greedy: what an n-gram takes is gone for those that come later, so that the order of "
            "the story counts and the two texts cannot change places.",
            "An n-gram with a word that has no vector hits only its like.",
            "HANNA's columns rest on 300-dimensional dependency vectors with a threshold of .8, "
            "which are not shipped. In GloVe's 50 dimensions all words are nearer: .94 to .965 "
            "agree with the columns about equally on prompts 0 to 47. On the other 48 the default, "
            ".95, correlates with their recall at .881, precision .856, f .776 (machine stories).",
            f"More than {MOST_PAIRS:,} pairs of different n-grams are too long.",
        ),
        cannot_see="Quality and sense: opposites are near each other in a space of words, and the "
        "order within an n-gram is lost in the sum.",
        published={
            "hanna": {
                f"ROUGE-WE-3 {word}": ("rouge_we(compat=True)", aspect)
                for word, aspect in _ASPECTS.items()
            }
        },
    )

    model: str = "embedded('glove_50d')"
    n: Literal[1, 2, 3] = 3
    threshold: Annotated[
        float, Between(0.0, 1.0), Means("the least cosine at which n-grams are alike")
    ] = 0.95

    def traits(self) -> dict[str, str]:
        """Tokeniser, how references are joined, and the vectors."""
        return {"tok": r"\w+", "refs": "sum" if self.compat else "best-f"} | super().traits()

    def count_unknown(self, texts: Sequence[str]) -> list[TokenCount]:
        """Count the words without a vector."""
        vectors = self.model_as(WordVectors)
        return [count_unknown_words(plain_words(text), vectors) for text in texts]

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Look all words up in one go, then match story by story."""
        texts = [text for story in stories for text in (story.text, *story.references)]
        lexis = Lexis.of(texts, self.model_as(WordVectors))
        return [self._beside_all(story, lexis) for story in stories]

    def _beside_all(self, story: Story, lexis: Lexis) -> Reading:
        references = story.nonblank_references
        if self.compat:
            return self._beside(story.text, references, lexis)
        return self.best(self._beside(story.text, [text], lexis) for text in references)

    def _beside(self, text: str, references: Sequence[str], lexis: Lexis) -> Reading:
        try:
            totals = [
                soft_hits(text, reference, self.n, lexis=lexis, threshold=self.threshold)
                for reference in references
            ]
        except Missing as missing:
            return self.missing(missing.status, missing.note)
        return self._reading(Hits(*map(sum, zip(*totals, strict=True))))

    def _reading(self, hits: Hits) -> Reading:
        if not hits.reference and not self.compat:
            note = f"the reference is too short for n-grams of {self.n}"
            return self.missing(Status.UNDEFINED, note)
        if not hits.text and not self.compat:
            note = f"the story is too short for n-grams of {self.n}: no precision"
            return Reading((0.0, math.nan, 0.0), note=note)
        if not hits.hits:
            return Reading((0.0, 0.0, 0.0))
        recall, precision = hits.hits / hits.reference, hits.hits / hits.text
        return Reading((recall, precision, 2 * precision * recall / (precision + recall)))
