from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.story import Story


@dataclass(frozen=True)
class Buggy(StoryMetric):
    """Fails on stories that hold the word `bug`: by an error, or by ending its process."""

    card = Card(
        title="Buggy",
        family="baseline",
        direction="descriptive",
        paper="None.",
        formula="none",
    )

    how: Literal["raise", "die"] = "raise"

    def value(self, story: Story) -> float:
        if "bug" not in story.text:
            return 1.0
        if self.how == "die":
            os._exit(9)
        raise ZeroDivisionError("a bug")
