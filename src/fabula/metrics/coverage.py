"""Coverage: how much of a story is words of its prompt."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.story import Story
from fabula.metrics._words import TOKENS, fragments


@dataclass(frozen=True)
class Coverage(StoryMetric):
    """Share of a story that lies in runs taken from its prompt."""

    card = Card(
        title="Coverage",
        family="string",
        direction="descriptive",
        low=0.0,
        high=1.0,
        needs=("prompt",),
        paper="Grusky, Naaman and Artzi (2018). Newsroom: A dataset of 1.3 million summaries "
        "with diverse extractive strategies. NAACL, 708–719.",
        formula="Σ |fragment| / words of the story",
        compat="HANNA's column: spaCy's English tokens with a newline after both texts (needs the "
        "`nlp` extra).",
        quirks=(
            "Fragments are taken greedily from the left, in lower case; a run that was measured "
            "is jumped over, even if a longer one begins within it.",
        ),
        cannot_see="Whether the prompt is answered: a story may repeat its words without "
        "answering it, or answer it in others.",
        published={"hanna": {"Coverage": ("coverage(compat=True)", "")}},
    )

    def traits(self) -> dict[str, str]:
        """Tokeniser."""
        return {"tok": TOKENS[self.compat]}

    def value(self, story: Story) -> float:
        """Words in fragments as a share of all."""
        lengths, size = fragments(story, self.compat)
        return sum(lengths) / size
