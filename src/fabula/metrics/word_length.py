"""Word length: how long the words of a story are."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.story import Story
from fabula.metrics._words import WordMetric


@dataclass(frozen=True)
class WordLength(WordMetric):
    """Mean number of characters in the words of a story."""

    card = Card(
        title="Word length",
        family="baseline",
        direction="descriptive",
        low=0.0,
        paper="None: a mean.",
        formula="characters in words / words",
        compat="Words by the ASCII rule of rouge-score.",
        cannot_see="What the words say; long words are not good words.",
    )

    def value(self, story: Story) -> float:
        """Mean length of a word."""
        words = self.words_of(story)
        return sum(map(len, words)) / len(words)
