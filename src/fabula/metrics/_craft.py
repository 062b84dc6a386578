"""What craft checks share as metrics: the note of a reading says what was found, and where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from fabula.core.metric import StoryMetric
from fabula.core.score import Missing, Reading, Status
from fabula.core.story import Story
from fabula.text.craft.prose import Finding, NothingToCheck, Prose, take_apart

OWN = "None: what editors and style guides look for, as rules of ours."


@dataclass(frozen=True)
class CraftMetric(StoryMetric):
    """A metric that counts a habit of prose: it names the check that finds it."""

    check_prose: ClassVar[Callable[[Prose], Finding]]

    def find(self, text: str) -> Finding:
        """Find the habit in a text, with its places; raise `NothingToCheck` where it cannot be."""
        return type(self).check_prose(take_apart(text))

    def value(self, story: Story) -> Reading:
        """Values of the check; the note says what was found, and where."""
        try:
            finding = self.find(story.text)
        except NothingToCheck as reason:
            raise Missing(Status.UNDEFINED, str(reason)) from None
        start, end = finding.passage
        note = f"{finding.said} (characters {start + 1} to {end})" if finding.said else ""
        return Reading(finding.values, note=note)
