from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Status
from fabula.core.story import Story


@dataclass(frozen=True)
class Counted(StoryMetric):
    """A third of a story's length; remembers which stories it was asked to read."""

    card = Card(
        title="Counted",
        family="baseline",
        direction="descriptive",
        paper="None.",
        formula="letters / 3",
        uses=("reference",),
    )
    asked: ClassVar[list[str]] = []

    plus: int = 0

    def value(self, story: Story) -> float:
        self.asked.append(story.id)
        for status in (Status.UNDEFINED, Status.MISSING_MODEL, Status.FAILED):
            if story.text.startswith(status):
                raise Missing(status, f"said {status}")
        return len(story.text) / 3 + self.plus
