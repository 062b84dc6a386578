"""Density: how long the runs are that a story takes from its prompt."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.story import Story
from fabula.metrics._words import TOKENS, fragments


@dataclass(frozen=True)
class Density(StoryMetric):
    """Mean length of the run from the prompt that a word of a story belongs to."""

    card = Card(
        title="Density",
        family="string",
        direction="descriptive",
        low=0.0,
        needs=("prompt",),
        paper="Grusky, Naaman and Artzi (2018). Newsroom: A dataset of 1.3 million summaries "
        "with diverse extractive strategies. NAACL, 708–719.",
        formula="Σ |fragment|² / words of the story",
        compat="HANNA's column: spaCy's English tokens with a newline after both texts (needs the "
        "`nlp` extra).",
        quirks=(
            "Fragments are taken greedily from the left, in lower case; a run that was measured "
            "is jumped over, even if a longer one begins within it.",
        ),
        cannot_see="Whether the prompt is answered; a copied prompt has the highest density.",
        published={"hanna": {"Density": ("density(compat=True)", "")}},
    )

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": TOKENS[self.compat]}

    def value(self, story: Story) -> float:
        """Squares of the fragments over the length."""
        lengths, size = fragments(story, self.compat)
        return sum(length * length for length in lengths) / size
