"""Length: how many tokens a story has, marks among them."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.story import Story
from fabula.metrics._words import spacy_words
from fabula.text.words import tokens


@dataclass(frozen=True)
class Length(StoryMetric):
    """Number of words and punctuation marks in a story."""

    revision = 2
    card = Card(
        title="Text length",
        family="string",
        direction="descriptive",
        low=0.0,
        paper="Fabbri et al. (2021). SummEval: Re-evaluating summarization evaluation. TACL 9, "
        "391–409; used on stories by Chhun et al. (2022), HANNA.",
        formula="number of words and marks",
        compat="HANNA's column: spaCy's tokens and a final newline (needs the `nlp` extra).",
        cannot_see="Everything but length; `words` counts words alone.",
        published={"hanna": {"Text length": ("length(compat=True)", "")}},
    )

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": "spacy-en" if self.compat else "unicode-marks"}

    def value(self, story: Story) -> float:
        """Number of tokens; a story with none has no value."""
        count = len(spacy_words(story.text) if self.compat else tokens(story.text))
        if not count:
            raise Missing(Status.UNDEFINED, "there is no word and no mark in the story")
        return float(count)
