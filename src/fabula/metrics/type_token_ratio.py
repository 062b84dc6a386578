"""Type-token ratio: how varied the words of a story are."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.story import Story
from fabula.metrics._words import WordMetric


@dataclass(frozen=True)
class TypeTokenRatio(WordMetric):
    """Share of the words of a story that are different from one another."""

    card = Card(
        title="Type-token ratio",
        family="baseline",
        direction="descriptive",
        low=0.0,
        high=1.0,
        paper="Templin (1957). Certain language skills in children. University of Minnesota Press.",
        formula="different words / words",
        compat="Words by the ASCII rule of rouge-score.",
        cannot_see="What the words say. It falls with length; `mattr` does not.",
    )

    def value(self, story: Story) -> float:
        """Different words as a share of all."""
        words = self.words_of(story)
        return len(set(words)) / len(words)
