"""Compression: how long the prompt is beside its story."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.story import Story
from fabula.metrics._words import TOKENS, prompt_tokens, story_tokens


@dataclass(frozen=True)
class Compression(StoryMetric):
    """Words of the prompt as a share of the words of the story."""

    card = Card(
        title="Compression",
        family="string",
        direction="descriptive",
        low=0.0,
        needs=("prompt",),
        paper="Grusky, Naaman and Artzi (2018). Newsroom: A dataset of 1.3 million summaries "
        "with diverse extractive strategies. NAACL, 708–719.",
        formula="words of the prompt / words of the story",
        compat="HANNA's column: spaCy's English tokens with a newline after both texts (needs the "
        "`nlp` extra).",
        cannot_see="Everything but the two lengths.",
        published={"hanna": {"Compression": ("compression(compat=True)", "")}},
    )

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": TOKENS[self.compat]}

    def value(self, story: Story) -> float:
        """Length of the prompt over that of the story."""
        return len(prompt_tokens(story, self.compat)) / len(story_tokens(story, self.compat))
