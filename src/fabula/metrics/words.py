"""Words: how long a story is."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.story import Story
from fabula.metrics._words import WordMetric


@dataclass(frozen=True)
class Words(WordMetric):
    """Number of words in a story: the baseline every metric has to beat."""

    card = Card(
        title="Words",
        family="baseline",
        direction="descriptive",
        low=0.0,
        paper="None: a count.",
        formula="number of words",
        compat="Words by the ASCII rule of rouge-score.",
        cannot_see="Everything but length. Raters tend to like longer stories, which makes it a "
        "strong baseline all the same.",
    )

    def value(self, story: Story) -> float:
        """Number of words."""
        words = self.words_of(story)
        return float(len(words))
