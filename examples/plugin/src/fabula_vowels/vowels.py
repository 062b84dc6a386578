"""Vowels: how open a story sounds."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.story import Story


@dataclass(frozen=True)
class Vowels(StoryMetric):
    """Share of vowels among a story's Latin letters."""

    card = Card(
        title="Vowels",
        family="string",
        direction="descriptive",
        low=0.0,
        high=1.0,
        paper="None: an example of a plug-in.",
        formula="vowels / Latin letters",
        cannot_see="Everything but letters, and every alphabet but the Latin one.",
    )

    y: bool = False

    def value(self, story: Story) -> float:
        """Vowels as a share of all Latin letters; marks on a letter do not count."""
        plain = unicodedata.normalize("NFD", story.text).lower()
        letters = [char for char in plain if char.isascii() and char.isalpha()]
        if not letters:
            raise Missing(Status.UNDEFINED, "the story has no Latin letters")
        vowels = "aeiouy" if self.y else "aeiou"
        return sum(char in vowels for char in letters) / len(letters)
