from __future__ import annotations

import time
from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.story import Story


@dataclass(frozen=True)
class Slow(StoryMetric):
    """A story's length, after some thought."""

    card = Card(
        title="Slow",
        family="baseline",
        direction="descriptive",
        paper="None.",
        formula="letters",
    )

    seconds: float = 0.01

    def value(self, story: Story) -> float:
        time.sleep(self.seconds)
        return float(len(story.text))
