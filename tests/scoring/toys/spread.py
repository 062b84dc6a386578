from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.core.card import Card
from fabula.core.metric import BatchMetric
from fabula.core.score import Reading
from fabula.core.story import Story


class Lengths:
    """Count, sum and sum of squares of the lengths of a batch: whole numbers, so exact."""

    def __init__(self) -> None:
        self.count = self.total = self.squares = 0

    def add(self, story: Story) -> None:
        if "bug" in story.text:
            raise ValueError("no bugs here")
        self.count += 1
        self.total += len(story.text)
        self.squares += len(story.text) ** 2

    def standard(self, length: int) -> float:
        mean = self.total / self.count
        deviation = math.sqrt(max(0.0, self.squares / self.count - mean**2))
        return (length - mean) / deviation if deviation else math.nan


@dataclass(frozen=True)
class Spread(BatchMetric):
    """How many standard deviations a story's length is from the mean of its system."""

    card = Card(
        title="Spread",
        family="baseline",
        direction="descriptive",
        paper="None.",
        formula="(length - mean) / deviation",
        batch="system",
    )

    def empty_statistics(self) -> Lengths:
        return Lengths()

    def compute_in(self, stories: Sequence[Story], gathered: Lengths) -> list[Reading]:
        return [Reading((gathered.standard(len(story.text)),)) for story in stories]
