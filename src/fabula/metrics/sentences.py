"""Sentences: how many a story has, and how long they are."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import Found, StoryMetric
from fabula.core.story import Story
from fabula.metrics._story_words import story_words
from fabula.text.sentences import sentences


@dataclass(frozen=True)
class Sentences(StoryMetric):
    """Number of sentences of a story and their mean length in words."""

    card = Card(
        title="Sentences",
        family="string",
        direction="descriptive",
        low=0.0,
        aspects=("length", "count"),
        paper="None: counts.",
        formula="count = number of sentences; length = words / sentences",
        compat="Words by the ASCII rule of rouge-score.",
        quirks=("Sentences end at punctuation; abbreviations are known for English only.",),
        cannot_see="What the sentences say, and verse, which may go without punctuation.",
    )

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": "ascii" if self.compat else "unicode"}

    def value(self, story: Story) -> Found:
        """Mean length and number."""
        count = max(1, len(sentences(story.text)))
        return len(story_words(story.text, self.compat)) / count, float(count)
