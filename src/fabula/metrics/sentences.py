"""Sentences: how many a story has, and how long they are."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import Value
from fabula.core.story import Story
from fabula.metrics._words import WordMetric
from fabula.text.sentences import split_sentences


@dataclass(frozen=True)
class Sentences(WordMetric):
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

    def value(self, story: Story) -> Value:
        """Mean length and number."""
        count = max(1, len(split_sentences(story.text)))
        return len(self.words_of(story)) / count, float(count)
