"""What metrics that load weights share: what they need is loaded on first use, once a process."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, TypeVar

import numpy as np

from fabula.core.errors import SettingError, UnknownName, UserError
from fabula.core.metric import Metric
from fabula.core.model import TokenCount
from fabula.core.score import Reading, Status
from fabula.core.settings import Means
from fabula.core.story import Story
from fabula.learned.reader.config import describe_doubt
from fabula.learned.reader.inference import Reader, load_reader
from fabula.learned.reader.relation import ReaderDtype

if TYPE_CHECKING:
    from fabula.core.model import Array

Model = TypeVar("Model")
Weights = Annotated[str, Means("an asset, or the folder of a training")]
EitherWeights = Annotated[
    str, Means("an asset, the folder of a training, or 'both': the mean of the small and the large")
]

LARGE, BOTH = "large", "both"
PERSONAL_SCALE, HUMAN_STORIES = "preference", "human stories"
APART_PERCENTILES = 30.0  # of human stories between two opinions that disagree much
_APART = 1.0  # standard deviations between the values of two readers that disagree much


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
    def is_usual(self) -> bool:
        """Whether the weights are ours."""
        return self.source in self.card.assets

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
            if self.is_usual:
                return str(error)
            raise
        except UserError as error:
            return str(error)


@dataclass(frozen=True)
class ReaderMetric(LearnedMetric[Reader]):
    """A learned metric that asks a reader.

    The note of a score says what about a story is unlike those that the reader has learned from.
    """

    dtype: Annotated[
        ReaderDtype, Means("'int8': layers multiply in 8 bits, faster, values differ a little")
    ] = field(default="fp32", kw_only=True)

    @property
    def is_usual(self) -> bool:
        """Whether the weights are ours and read as they come."""
        return super().is_usual and self.dtype == "fp32"

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales that values come from, where they come from some."""
        return ()

    def load(self) -> Reader:
        """Load the reader."""
        return load_reader(self.source, dtype=self.dtype)

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
    """A learned metric whose aspects are values of a reader's scales: say which.

    `large` are the weights that it means by 'large'. One that names its `small` weights may be
    asked for 'both': values are then the means of these and the large ones, and where the two
    disagree much a note says so.
    """

    small: ClassVar[str] = ""
    large: ClassVar[str] = LARGE

    weights: Weights = "reader"

    def check(self) -> None:
        """Refuse both weights where there are no two to choose from."""
        super().check()
        if self.weights == BOTH and not self.small:
            raise self.setting_error(f"weights={BOTH!r} is not for it", "name one of them")
        if self.weights == BOTH and self.dtype != "fp32":
            problem = f"weights={BOTH!r} are not read in {self.dtype}: the large ones are not"
            raise self.setting_error(problem, "name the small ones, or leave dtype out")

    @property
    def source(self) -> str:
        """The weights that are read; of both, the small ones come first."""
        return {BOTH: self.small, LARGE: self.large}.get(self.weights, self.weights)

    @property
    def scales(self) -> tuple[str, ...]:
        """Names of the scales, aspect by aspect."""
        raise NotImplementedError

    def load(self) -> Reader:
        """Load the reader; of both, the large one has to be there as well."""
        readers = [super().load(), *([load_reader(self.large)] if self.weights == BOTH else [])]
        for reader in readers:
            reader.open_beside(name for name in self.scales if name in reader.config.scales)
        return readers[0]

    @property
    def readers(self) -> dict[str, Reader]:
        """Readers by their weights: one; or those of both that have learned what is asked."""
        readers = {self.source: self.model}
        if self.weights == BOTH:
            readers[LARGE] = load_reader(self.large)
        able = {
            name: reader
            for name, reader in readers.items()
            if {*self.scales} <= reader.config.scales.keys()
        }
        return able or {self.source: self.model}

    def find_lack(self) -> str:
        """Say that no weights have learned what is asked; "" where some have, or are away."""
        able = self.readers if self.at_hand and self.weights == BOTH else {}
        return "" if LARGE in able else super().find_lack()

    def traits(self) -> dict[str, str]:
        """Give the signature of every reader that is asked."""
        if not self.at_hand:
            return super().traits()
        return {"reader": "+".join(reader.signature for reader in self.readers.values())}

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Give the value on every scale: the mean over the readers that are asked."""
        tables = np.stack([self.give_rows(reader, stories) for reader in self.readers.values()])
        notes = [self._describe_gap([*rows]) for rows in tables.swapaxes(0, 1)]
        # What only one of them knows, as a percentile, is that one's.
        known = (~np.isnan(tables)).sum(axis=0)
        means = np.where(known, np.nansum(tables, axis=0) / np.maximum(known, 1), np.nan)
        return [
            self.make_reading(story, row, note=note)
            for story, row, note in zip(stories, means, notes, strict=True)
        ]

    def give_rows(self, reader: Reader, stories: Sequence[Story]) -> Array:
        """Give what a reader says of every story, aspect by aspect: (stories, aspects)."""
        return reader.values(self.scales, [story.text for story in stories])

    def find_gaps(self, small: Array, large: Array) -> list[int]:
        """Give the places of the aspects in which two readers disagree much.

        Raw values are about standard: a value moves by the slope for a standard deviation.
        """
        slopes = [
            [abs(reader.scale(name).slope) for name in self.scales]
            for reader in self.readers.values()
        ]
        return np.flatnonzero(abs(small - large) > _APART * np.mean(slopes, axis=0)).tolist()

    def doubts(self) -> dict[str, str]:
        """Say of each aspect why its value tells nothing of a story; "" where it may."""
        [first, *_], count = self.readers.values(), len(self.scales)
        config = first.config
        reasons = [describe_doubt(config, name, among=count) for name in self.scales]
        return dict(zip(self.aspects, reasons, strict=True))

    def _describe_gap(self, rows: Sequence[Array]) -> str:
        """Say where readers disagree on a story; or, of both, that only one of them was asked."""
        if self.weights != BOTH:
            return ""
        if len(rows) == 1:
            [alone] = self.readers
            return f"of both weights only {alone} have learned it"
        small, large = rows
        gaps = [
            f"{self.aspects[at]} {small[at]:.3g} and {large[at]:.3g}".strip()
            for at in self.find_gaps(small, large)
        ]
        return f"the small and the large weights disagree ({', '.join(gaps)})" if gaps else ""


@dataclass(frozen=True)
class StandingMetric(ScaleMetric):
    """A learned metric of one scale: its value, and where that stands among people's stories."""

    interval: Annotated[bool, Means("also low, high and error of the percentile")] = field(
        default=False, kw_only=True
    )

    @property
    def aspects(self) -> tuple[str, ...]:
        """With `interval`, also how far another training might be from this one.

        `low` and `high` are the percentiles between which it would put the story, 95 times of 100;
        `error` is the standard error of the value before a link bounds it.
        """
        return (*self.card.aspects, *(("low", "high", "error") if self.interval else ()))

    def give_rows(self, reader: Reader, stories: Sequence[Story]) -> Array:
        """Give value and percentile of every story; with `interval`, how sure they are."""
        [name] = self.scales
        scale, rows = reader.scale(name), []
        error = math.nan if scale.error is None else abs(scale.slope) * scale.error
        for raw in map(float, reader.raw(name, [story.text for story in stories])):
            # A text without a token has no value at all, and no error of one.
            sure = [*scale.interval(raw), math.nan if math.isnan(raw) else error]
            rows.append([scale.value(raw), scale.percentile(raw), *(sure if self.interval else ())])
        return np.array(rows, dtype=float).reshape(len(stories), len(self.aspects))

    def make_reading(
        self, story: Story, values: Sequence[float], *, coverage: float = 1.0, note: str = ""
    ) -> Reading:
        """Make a reading that says whom the percentile is among, if not human stories at large."""
        notes = [self._describe_peers(), note]
        said = "; ".join(filter(None, notes))
        return super().make_reading(story, values, coverage=coverage, note=said)

    def find_gaps(self, small: Array, large: Array) -> list[int]:
        """Two readers disagree where their percentiles lie far apart."""
        return [1] if abs(small[1] - large[1]) > APART_PERCENTILES else []

    def doubts(self) -> dict[str, str]:
        """Say why the value tells nothing, of a scale of ratings; votes have no such record."""
        [name], [first, *_] = self.scales, self.readers.values()
        why = describe_doubt(first.config, name) if first.scale(name).link == "clipped" else ""
        return dict.fromkeys(self.aspects, why)

    def _describe_peers(self) -> str:
        [name], [first, *_] = self.scales, self.readers.values()
        if not first.scale(name).percentiles:
            return "the weights tell no percentiles"
        personal = first.config.training.get("personal", {})
        among = personal.get("among", HUMAN_STORIES) if name == PERSONAL_SCALE else HUMAN_STORIES
        return f"percentiles are among {among}" if among != HUMAN_STORIES else ""
