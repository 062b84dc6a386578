"""Repetition: how many of a story's n-grams come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._words import spacy_words, story_words
from fabula.text.features import share_repeated


@dataclass(frozen=True)
class Repetition(StoryMetric):
    """Share of a story's different n-grams that occur more than once."""

    card = Card(
        title="Repetition",
        family="string",
        direction="lower",
        low=0.0,
        high=1.0,
        paper="Fabbri et al. (2021). SummEval: Re-evaluating summarization evaluation. TACL 9, "
        "391–409; used on stories by Chhun et al. (2022), HANNA.",
        formula="|{g : count(g) > 1}| / |{g}| over the n-grams g of the story",
        compat="HANNA's column: spaCy's English tokens, punctuation and a final newline among "
        "them, in the case they are written in (needs the `nlp` extra).",
        quirks=(
            (
                "It counts kinds of n-gram, not occurrences: a sentence said fifty times counts as "
                "much as one said twice."
            ),
            "Longer stories repeat more by chance; see it beside `words`.",
        ),
        cannot_see="Whether a repetition is a refrain or a loop.",
        published={
            "hanna": {f"Repetition-{n}": (f"repetition(n={n}, compat=True)", "") for n in (1, 2, 3)}
        },
    )

    n: Annotated[int, AtLeast(1)] = 3

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": "spacy-en" if self.compat else "unicode"}

    def value(self, story: Story) -> float:
        """Share of n-grams that come back."""
        words = spacy_words(story.text) if self.compat else story_words(story.text)
        if len(words) < self.n:
            raise Missing(Status.UNDEFINED, f"the story has fewer than {self.n} words")
        return share_repeated(words, self.n)
