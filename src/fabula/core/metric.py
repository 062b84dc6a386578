"""A metric: a frozen dataclass that scores a batch of stories; its fields are its settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import ClassVar

from fabula._version import __version__
from fabula.core.card import Batch, Card, Need
from fabula.core.errors import SettingError
from fabula.core.score import Missing, Reading, Score, Status
from fabula.core.settings import changed_settings, check_settings
from fabula.core.spec import format_spec
from fabula.core.story import Story

Found = float | tuple[float, ...] | Reading


@dataclass(frozen=True)
class Metric:
    """Scores stories. Subclasses hold a `card` and say how to `read` stories that can be read."""

    card: ClassVar[Card]
    revision: ClassVar[int] = 1
    name: ClassVar[str] = ""

    compat: bool = field(default=False, kw_only=True)

    def __init_subclass__(cls) -> None:
        """Name the metric after its file."""
        super().__init_subclass__()
        if "name" not in vars(cls):
            cls.name = cls.__module__.rpartition(".")[2]

    def __post_init__(self) -> None:
        """Refuse settings that will not do."""
        check_settings(self, self.name)
        self.check()

    def __getstate__(self) -> dict[str, object]:
        """Travel to other processes with the settings alone, not with what was loaded for them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def check(self) -> None:
        """Refuse settings that do not go together; most metrics have none."""

    def refuse(self, problem: str, remedy: str) -> SettingError:
        """Give the error for settings that do not go together."""
        return SettingError(f"{self.name}: {problem}", remedy)

    @property
    def batch(self) -> Batch | None:
        """Which other stories the values depend on: none, those of a system, or of the run."""
        return self.card.batch

    @property
    def needs(self) -> tuple[Need, ...]:
        """Fields of a story that it cannot do without, with the settings it has."""
        return self.card.needs

    @property
    def slow(self) -> bool:
        """Whether it takes seconds a story with the settings it has, so that a sample may do."""
        return False

    @cached_property
    def spec(self) -> str:
        """Canonical spelling: constructor call, column label and head of the signature."""
        return format_spec(self.name, changed_settings(self))

    def traits(self) -> dict[str, str]:
        """What else the values depend on: tokeniser, another library's version, a model."""
        return {}

    @cached_property
    def identity(self) -> str:
        """All that the values depend on; what the cache goes by."""
        traits = [f"{key}:{value}" for key, value in self.traits().items()]
        return "|".join([self.spec, *traits, f"rev:{self.revision}"])

    def signature(self, short: bool = False) -> str:
        """What to quote beside a number so that others can get it again."""
        head = f"{self.spec}|r{self.revision}" if short else self.identity
        return f"{head}|v{__version__}" if short else f"{head}|fabula:{__version__}"

    def score(self, stories: Sequence[Story]) -> list[Score]:
        """Give one score per story and aspect, in that order."""
        return [
            score
            for story, reading in zip(stories, self.readings(stories), strict=True)
            for score in self.scores_of(story, reading)
        ]

    def readings(self, stories: Sequence[Story]) -> list[Reading]:
        """Give one reading per story, in order; those that cannot be read say why."""
        return self.with_obstacles(stories, self.read)

    def read(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Read stories that have text and all that the card says it needs."""
        raise NotImplementedError

    def scores_of(self, story: Story, reading: Reading) -> list[Score]:
        """Write a reading of a story as scores."""
        return [
            Score(story.id, self.spec, aspect, value, *_rest(reading))
            for aspect, value in zip(self.card.aspects, reading.values, strict=True)
        ]

    def obstacle(self, story: Story) -> Reading | None:
        """Say why a story cannot be read, if it cannot."""
        if not story.text.strip():
            return self.missing(Status.EMPTY_TEXT, "the story has no text")
        if "reference" in self.needs and not any(map(str.strip, story.references)):
            return self.missing(Status.MISSING_REFERENCE, "give the story a reference")
        if "prompt" in self.needs and not (story.prompt or "").strip():
            return self.missing(Status.MISSING_PROMPT, "give the story a prompt")
        if "images" in self.needs and not story.images:
            return self.missing(Status.MISSING_IMAGES, "give the story its images")
        return None

    def missing(self, status: Status, note: str = "") -> Reading:
        """Give the reading of a story there is no value for."""
        return Reading.missing(len(self.card.aspects), status, note)

    def with_obstacles(
        self, stories: Sequence[Story], read: Callable[[Sequence[Story]], Sequence[Reading]]
    ) -> list[Reading]:
        """Read the stories that can be read; the others say why."""
        obstacles = [self.obstacle(story) for story in stories]
        ready = [story for story, why in zip(stories, obstacles, strict=True) if why is None]
        readings = list(read(ready)) if ready else []
        if len(readings) != len(ready):
            raise TypeError(f"{self.spec} gave {len(readings)} readings for {len(ready)} stories")
        rest = iter(readings)
        return [next(rest) if why is None else why for why in obstacles]


@dataclass(frozen=True)
class StoryMetric(Metric):
    """A metric that reads one story at a time: say its `value`."""

    def value(self, story: Story) -> Found:
        """Value, values by aspect or whole reading of a story; raise `Missing` for none."""
        raise NotImplementedError

    def read(self, stories: Sequence[Story]) -> list[Reading]:
        """Read the stories one by one."""
        return [self._read_one(story) for story in stories]

    def _read_one(self, story: Story) -> Reading:
        try:
            return self.settle(lambda: self.value(story))
        except Exception as error:
            error.add_note(f"while {self.spec} read story {story.id!r}")
            raise

    def settle(self, find: Callable[[], Found]) -> Reading:
        """Make a reading of what is found, or of why nothing is."""
        try:
            found = find()
        except Missing as missing:
            return self.missing(missing.status, missing.note)
        if isinstance(found, Reading):
            return found
        return Reading(found if isinstance(found, tuple) else (float(found),))


@dataclass(frozen=True)
class PairMetric(StoryMetric):
    """A metric that compares a text with one reference: say the values of a `pair`.

    Of several references the one with the best last aspect counts.
    """

    def pair(self, text: str, reference: str) -> Found:
        """Value, values by aspect or reading of a text beside one reference."""
        raise NotImplementedError

    def value(self, story: Story) -> Reading:
        """Best reading over the references that are not blank."""
        references = [reference for reference in story.references if reference.strip()]
        return max((self._beside(story.text, one) for one in references), key=self._merit)

    def _beside(self, text: str, reference: str) -> Reading:
        return self.settle(lambda: self.pair(text, reference))

    def _merit(self, reading: Reading) -> float:
        value = reading.values[-1]
        if math.isnan(value):
            return -math.inf
        return -value if self.card.direction == "lower" else value


def _rest(reading: Reading) -> tuple[Status, float, str]:
    return reading.status, reading.coverage, reading.note
