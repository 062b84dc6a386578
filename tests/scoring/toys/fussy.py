from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fabula.core.card import Card
from fabula.core.errors import UserError
from fabula.core.metric import Metric
from fabula.core.score import Reading
from fabula.core.story import Story

Way = Literal["raise", "exit", "memory", "user", "few", "words", "plain"]


@dataclass(frozen=True)
class Fussy(Metric):
    """Reads stories together, and goes wrong in many ways where one holds the word `bug`."""

    card = Card(
        title="Fussy",
        family="baseline",
        direction="descriptive",
        paper="None.",
        formula="letters",
    )

    how: Way = "raise"

    def compute(self, stories: Sequence[Story]) -> list[Any]:
        readings: list[Any] = [Reading((float(len(story.text)),)) for story in stories]
        if any("bug" in story.text for story in stories):
            return self._go_wrong(readings)
        return readings

    def _go_wrong(self, readings: list[Any]) -> list[Any]:
        wrong = {"few": [], "words": [Reading(("many",))], "plain": [3.0]}
        if self.how in wrong:
            return readings[1:] + wrong[self.how]
        if self.how == "exit":
            sys.exit(0)
        if self.how == "memory":
            raise MemoryError
        if self.how == "user":
            raise UserError("the model is not here", "run: fabula models pull it")
        raise ZeroDivisionError("a bug\nof two lines")
