"""Unique words: how many different words a story uses."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.story import Story
from fabula.metrics._words import WordMetric


@dataclass(frozen=True)
class UniqueWords(WordMetric):
    """Number of different words in a story."""

    card = Card(
        title="Unique words",
        family="baseline",
        direction="descriptive",
        low=0.0,
        paper="None: a count.",
        formula="number of different words",
        compat="Words by the ASCII rule of rouge-score.",
        cannot_see="What the words say. It grows with length; see it beside `words`.",
    )

    def value(self, story: Story) -> float:
        """Number of different words."""
        words = self.words_of(story)
        return float(len(set(words)))
