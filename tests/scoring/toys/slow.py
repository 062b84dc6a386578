from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from fabula.core.card import Card
from fabula.core.metric import StoryMetric
from fabula.core.story import Story


@dataclass(frozen=True)
class Slow(StoryMetric):
    """A story's length, after some thought; one that is `deaf` answers no interrupt meanwhile."""

    card = Card(
        title="Slow",
        family="baseline",
        direction="descriptive",
        paper="None.",
        formula="letters",
    )

    seconds: float = 0.01
    deaf: bool = False
    mark: str = ""

    def value(self, story: Story) -> float:
        if self.mark:
            Path(self.mark).touch()
        end = time.monotonic() + self.seconds
        while time.monotonic() < end:
            try:
                time.sleep(self.seconds)
            except KeyboardInterrupt:
                if not self.deaf:
                    raise
                # As a library does that computes for a minute and never asks Python.
                end += 60
        return float(len(story.text))
