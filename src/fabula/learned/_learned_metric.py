"""What metrics that load weights share: a reader is loaded on first use, once a process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.metric import Metric
from fabula.core.score import Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.learned._reader import Reader, load_reader

Weights = Annotated[str, Means("an asset, or the folder of a training")]


@dataclass(frozen=True)
class LearnedMetric(Metric):
    """A metric that has learned: say how to `ask` its reader about stories that can be read.

    Where the weights cannot be had, every story says so and names the command that gets them. The
    note of a score says what about a story is unlike those that the reader has learned from.
    """

    weights: Weights = ""

    def check(self) -> None:
        """Refuse a name that names nothing."""
        if not self.weights.strip() or not self.weights.isprintable():
            problem = f"weights={self.weights!r} names no weights"
            raise self.refuse(problem, "name an asset, or the folder of a training")

    def traits(self) -> dict[str, str]:
        """Give the reader's own signature: kind, digest of its files, version of the features."""
        return {"reader": self.reader.signature if self.at_hand else "missing"}

    def read(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Ask the reader, or say of every story why that cannot be."""
        if isinstance(self._attempt, str):
            return [self.missing(Status.MISSING_MODEL, self._attempt) for _ in stories]
        return self.ask(stories)

    def ask(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Read stories with the reader at hand."""
        raise NotImplementedError

    @property
    def at_hand(self) -> bool:
        """Whether the weights can be had."""
        return isinstance(self._attempt, Reader)

    @property
    def reader(self) -> Reader:
        """The reader; a UserError says what to do where it is not here."""
        return self._attempt if isinstance(self._attempt, Reader) else load_reader(self.source)

    @property
    def source(self) -> str:
        """The asset or the folder that is read: that of the settings, as a rule."""
        return self.weights

    def reading(
        self, story: Story, values: Sequence[float], *, coverage: float = 1.0, note: str = ""
    ) -> Reading:
        """Make a reading of values, with a warning where the story is unlike those learned from."""
        if np.isnan(values).all():
            return self.missing(Status.UNDEFINED, "the reader sees no token in the text")
        notes = [
            *([note] if note else []),
            *self.reader.warnings(story.text),
        ]
        return Reading(tuple(map(float, values)), coverage=coverage, note="; ".join(notes))

    @cached_property
    def _attempt(self) -> Reader | str:
        """Give the reader, or why it cannot be had."""
        try:
            return load_reader(self.source)
        except (SettingError, UnknownName) as error:
            # Weights of ours that this Fabula does not know yet are no mistake of the user's.
            if self.source in self.card.assets:
                return str(error)
            raise
        except UserError as error:
            return str(error)


@dataclass(frozen=True)
class ScaleMetric(LearnedMetric):
    """A learned metric whose aspects are values of a reader's scales: say which."""

    weights: Weights = "reader"

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales, aspect by aspect."""
        raise NotImplementedError

    def ask(self, stories: Sequence[Story]) -> list[Reading]:
        """Give the value on every scale."""
        rows = self.reader.values(self.scales, [story.text for story in stories])
        return [self.reading(story, row) for story, row in zip(stories, rows, strict=True)]
