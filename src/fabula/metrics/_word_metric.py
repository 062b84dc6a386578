"""Metrics that count the words of a story."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.metric import StoryMetric
from fabula.core.story import Story
from fabula.metrics._story_words import story_words


@dataclass(frozen=True)
class WordMetric(StoryMetric):
    """A metric of a story's words: of any script, under compat by the ASCII rule."""

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": "ascii" if self.compat else "unicode"}

    def words_of(self, story: Story) -> list[str]:
        """Words of a story; one with none has no value."""
        return story_words(story.text, self.compat)
