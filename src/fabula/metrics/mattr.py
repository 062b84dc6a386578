"""MATTR: how varied the words of a story are, whatever its length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fabula.core.card import Card
from fabula.core.score import Reading
from fabula.core.settings import AtLeast
from fabula.core.story import Story
from fabula.metrics._words import WordMetric
from fabula.text.features import moving_type_token_ratio


@dataclass(frozen=True)
class Mattr(WordMetric):
    """Mean type-token ratio of all runs of `window` words in a story."""

    card = Card(
        title="Moving-average type-token ratio",
        label="MATTR",
        family="baseline",
        direction="descriptive",
        low=0.0,
        high=1.0,
        paper="Covington and McFall (2010). Cutting the Gordian knot: the moving-average "
        "type-token ratio (MATTR). Journal of Quantitative Linguistics 17(2), 94–100.",
        formula="mean over all windows of (different words / window)",
        compat="Words by the ASCII rule of rouge-score.",
        cannot_see="What the words say. Small learned metrics hardly pass it on machine stories.",
        quirks=("A story shorter than the window gets its plain ratio, and a note.",),
    )

    window: Annotated[int, AtLeast(1)] = 50

    def value(self, story: Story) -> Reading:
        """Mean ratio over the windows."""
        words = self.words_of(story)
        short = f"shorter than the window of {self.window} words: its plain ratio"
        note = short if len(words) < self.window else ""
        return Reading((moving_type_token_ratio(words, self.window),), note=note)
