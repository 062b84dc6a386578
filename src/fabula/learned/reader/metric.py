"""What metrics that load weights share: what they need is loaded on first use, once a process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Generic, TypeVar

import numpy as np

from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.metric import Metric
from fabula.core.model import TokenCount
from fabula.core.score import Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.learned.reader.config import describe_doubt
from fabula.learned.reader.inference import Reader, load_reader

Model = TypeVar("Model")
Weights = Annotated[str, Means("an asset, or the folder of a training")]


@dataclass(frozen=True)
class LearnedMetric(Metric, Generic[Model]):
    """A metric that has learned: say how to `load` its model, and how to `compute` with it.

    Where the weights cannot be had, every story says so and names the command that gets them.
    """

    weights: Weights = ""

    def check(self) -> None:
        """Refuse a name that names nothing."""
        if not self.weights.strip() or not self.weights.isprintable():
            problem = f"weights={self.weights!r} names no weights"
            raise self.setting_error(problem, "name an asset, or the folder of a training")

    def load(self) -> Model:
        """Load the model of the weights, once a process."""
        raise NotImplementedError

    @property
    def source(self) -> str:
        """The asset or the folder that is read: that of the settings, as a rule."""
        return self.weights

    @property
    def vocabulary(self) -> str:
        """The weights, by whose tokens texts are read."""
        return self.source

    @property
    def at_hand(self) -> bool:
        """Whether the weights can be had."""
        return not isinstance(self._model, str)

    @property
    def model(self) -> Model:
        """The model; a UserError says what to do where it is not here."""
        return self.load() if isinstance(self._model, str) else self._model

    @property
    def absence(self) -> str:
        """Why the weights cannot be had, if they cannot."""
        return self._model if isinstance(self._model, str) else ""

    @cached_property
    def _model(self) -> Model | str:
        """Give the model, or why it cannot be had."""
        try:
            return self.load()
        except (SettingError, UnknownName) as error:
            # Weights of ours that this Fabula does not know yet are no mistake of the user's.
            if self.source in self.card.assets:
                return str(error)
            raise
        except UserError as error:
            return str(error)


@dataclass(frozen=True)
class ReaderMetric(LearnedMetric[Reader]):
    """A learned metric that asks a reader.

    The note of a score says what about a story is unlike those that the reader has learned from.
    """

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales that values come from, where they come from some."""
        return ()

    def load(self) -> Reader:
        """Load the reader."""
        return load_reader(self.source)

    def find_lack(self) -> str:
        """Say that the weights have not learned what is asked; "" where they have, or are away."""
        if not self.at_hand or {*self.scales} <= self.model.config.scales.keys():
            return ""
        known = dict.fromkeys(name.partition(".")[0] for name in self.model.config.scales)
        return f"the weights {self.source} have not learned it; they tell: {', '.join(known)}"

    def traits(self) -> dict[str, str]:
        """Give the reader's own signature: kind, digest of its files, version of the features."""
        return {"reader": self.model.signature if self.at_hand else "missing"}

    def count_unknown(self, texts: Sequence[str]) -> Sequence[TokenCount]:
        """Ask the reader."""
        return self.model.count_unknown(texts)

    def make_reading(
        self, story: Story, values: Sequence[float], *, coverage: float = 1.0, note: str = ""
    ) -> Reading:
        """Make a reading of values, with a warning where the story is unlike those learned from."""
        if np.isnan(values).all():
            return self.missing(Status.UNDEFINED, "the reader sees no token in the text")
        notes = [*([note] if note else []), *self.model.warnings(story.text)]
        return Reading(tuple(map(float, values)), coverage=coverage, note="; ".join(notes))


@dataclass(frozen=True)
class ScaleMetric(ReaderMetric):
    """A learned metric whose aspects are values of a reader's scales: say which."""

    weights: Weights = "reader"

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales, aspect by aspect."""
        raise NotImplementedError

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Give the value on every scale."""
        rows = self.model.values(self.scales, [story.text for story in stories])
        return [self.make_reading(story, row) for story, row in zip(stories, rows, strict=True)]

    def doubts(self) -> dict[str, str]:
        """Say of each aspect why its value tells nothing of a story; "" where it may."""
        count, config = len(self.scales), self.model.config
        reasons = [describe_doubt(config, name, among=count) for name in self.scales]
        return dict(zip(self.aspects, reasons, strict=True))
