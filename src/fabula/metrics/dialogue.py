"""Dialogue: how much of a story is spoken."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.story import Story
from fabula.metrics._words import WordMetric
from fabula.text.sentences import speeches
from fabula.text.words import ascii_words, words


@dataclass(frozen=True)
class Dialogue(WordMetric):
    """Share of a story's words that stand in quotation marks."""

    card = Card(
        title="Dialogue",
        family="string",
        direction="descriptive",
        low=0.0,
        high=1.0,
        paper="None: a share.",
        formula="words in quotation marks / words",
        compat="Words by the ASCII rule of rouge-score.",
        quirks=(
            'Knows “ ”, " ", « », 「 」, and single quotes that close after a mark; speech after '
            "a dash is not found.",
        ),
        cannot_see="Whether what is quoted is speech, and whether people would speak so.",
    )

    def value(self, story: Story) -> float:
        """Spoken words as a share of all."""
        rule = ascii_words if self.compat else words
        spoken = sum(len(rule(speech)) for speech in speeches(story.text))
        return min(1.0, spoken / len(self.words_of(story)))
