"""A metric: a frozen dataclass that scores a batch of stories; its fields are its settings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeGuard

from fabula._version import __version__
from fabula.core.card import Batch, Card, Direction, Need
from fabula.core.errors import PackageMissing, SettingError
from fabula.core.model import TokenCount
from fabula.core.score import Missing, Reading, Score, Status
from fabula.core.settings import changed_settings, check_settings, format_spec
from fabula.core.story import Story, count_text

Value = float | tuple[float, ...] | Reading

# Titles that are longer do not head a column: the metric's name does.
_LONGEST = 24
ASPECT_LABELS = {"f": "F1"}
# Of a text with more unknown tokens than this share, a model sees too little to judge it.
MOST_UNKNOWN = 0.5


@dataclass(frozen=True)
class Metric:
    """Scores stories. Subclasses hold a `card` and write one method.

    Call `score` (scores of stories) or `read` (readings, before they are scores). Write `value` in
    a `StoryMetric`, `compare` in a `PairMetric`, `compute_in` in a `BatchMetric`, and `compute` in
    a metric that reads many stories at once.
    """

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
        return {setting.name: getattr(self, setting.name) for setting in fields(self)}

    def check(self) -> None:
        """Refuse settings that do not go together; most metrics have none."""

    def setting_error(self, problem: str, remedy: str) -> SettingError:
        """Give the error for settings that do not go together."""
        return SettingError(f"{self.name}: {problem}", remedy)

    @property
    def batch(self) -> Batch | None:
        """Which other stories the values depend on: none, those of a system, or of the run."""
        return self.card.batch

    @property
    def direction(self) -> Direction:
        """Which values are better, with the settings it has."""
        return self.card.direction

    @property
    def needs(self) -> tuple[Need, ...]:
        """Fields of a story that it cannot do without, with the settings it has."""
        return self.card.needs

    @property
    def reads(self) -> tuple[Need, ...]:
        """Fields of a story, besides its text, on which the values depend."""
        return tuple(dict.fromkeys((*self.card.needs, *self.card.uses)))

    @property
    def aspects(self) -> tuple[str, ...]:
        """Names of the values that it gives a story, with the settings it has."""
        return self.card.aspects

    @property
    def slow(self) -> bool:
        """Whether it takes seconds a story with the settings it has, so that a sample may do."""
        return False

    @property
    def at_once(self) -> int | None:
        """How many stories it had best be given together; None where that does not matter."""
        return None

    def prepare(self, run: Sequence[Metric]) -> None:
        """Be told before a run which metrics it holds; most need not know."""

    @property
    def absence(self) -> str:
        """What it lacks to read any story, with the command that gets it; empty if nothing."""
        return ""

    @cached_property
    def spec(self) -> str:
        """Canonical spelling: constructor call, column label and head of the signature."""
        return format_spec(self.name, changed_settings(self))

    def label(self, aspect: str = "") -> str:
        """What tables call one of its values: `ROUGE-2 F1`, `chrF (word_order=2)`.

        Settings that the name does not tell stand in brackets.
        """
        card, settings = self.card, {one.name: getattr(self, one.name) for one in fields(self)}
        title = card.title.partition(":")[0]
        name = card.label.format(**settings) or (title if len(title) <= _LONGEST else self.name)
        untold = {
            key: value
            for key, value in changed_settings(self).items()
            if f"{{{key}}}" not in card.label
        }
        words = f"{name} {ASPECT_LABELS.get(aspect, aspect)}".rstrip()
        return format_spec(f"{words} ", untold).rstrip()

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
            for story, reading in zip(stories, self.read(stories), strict=True)
            for score in self.scores_of(story, reading)
        ]

    def read(self, stories: Sequence[Story]) -> list[Reading]:
        """Give one reading per story, in order; those that cannot be read say why."""
        return self._read_ready(stories, self.compute)

    def compute(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Read stories that have text and all that the card says it needs."""
        raise NotImplementedError

    def scores_of(self, story: Story, reading: Reading) -> list[Score]:
        """Write a reading of a story as scores."""
        statuses = reading.statuses or (reading.status,) * len(self.aspects)
        return [
            Score(story.id, self.spec, aspect, value, status, reading.coverage, reading.note)
            for aspect, value, status in zip(self.aspects, reading.values, statuses, strict=True)
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
        if self.absence:
            return self.missing(Status.MISSING_MODEL, self.absence)
        return None

    def count_unknown(self, texts: Sequence[str]) -> Sequence[TokenCount]:
        """Count tokens and those that its model does not know; nothing without a model."""
        return ()

    @property
    def vocabulary(self) -> str:
        """Name of the model whose tokens it reads; a metric without one has none."""
        return ""

    def admit(self, story: Story) -> tuple[Story, float] | Reading:
        """Give what can be read of a story and the share of its tokens that are known.

        A reference that is mostly unknown to the model is left out. Where the text, the prompt or
        every reference is, or something else is in the way, that is said instead: unknown tokens
        are all alike to a model, and two such texts would be equal.
        """
        if (why := self.obstacle(story)) is not None or not self.vocabulary:
            return (story, 1.0) if why is None else why
        prompt = [story.prompt or ""] if "prompt" in self.needs else []
        references = story.nonblank_references if "reference" in self.needs else ()
        counts = [*self.count_unknown([story.text, *prompt, *references])]
        if not any(count.unknown for count in counts):
            return story, 1.0
        own, beside = counts[: 1 + len(prompt)], counts[1 + len(prompt) :]
        read = [at for at, count in enumerate(beside) if 1 - count.known <= MOST_UNKNOWN]
        for part, count in zip(("", " of the prompt"), own, strict=False):
            if 1 - count.known > MOST_UNKNOWN:
                return self.missing(Status.UNDEFINED, self._describe_unknown(count, part))
        if beside and not read:
            note = self._describe_unknown(beside[0], " of the reference")
            return self.missing(Status.UNDEFINED, note)
        known = min(count.known for count in (*own, *(beside[at] for at in read)))
        if len(read) < len(beside):
            story = replace(story, references=tuple(references[at] for at in read))
        return story, known

    def _describe_unknown(self, count: TokenCount, part: str) -> str:
        are = "is" if count.tokens == 1 else "are"
        tokens = f"{count.unknown:,} of {count_text(count.tokens, 'token')}"
        return f"{tokens}{part} {are} unknown to {self.vocabulary}"

    def missing(self, status: Status, note: str = "") -> Reading:
        """Give the reading of a story there is no value for."""
        return Reading.missing(len(self.aspects), status, note)

    def best(self, readings: Iterable[Reading], aspect: int = -1) -> Reading:
        """Give the reading with the best value of an aspect; one without a value comes last."""
        sign = -1 if self.direction == "lower" else 1

        def merit(reading: Reading) -> float:
            value = sign * reading.values[aspect]
            return -math.inf if math.isnan(value) else value

        return max(readings, key=merit)

    def _read_ready(
        self, stories: Sequence[Story], measure: Callable[[Sequence[Story]], Sequence[Reading]]
    ) -> list[Reading]:
        """Measure the stories that can be read; the others say why they cannot."""
        try:
            admitted = [self.admit(story) for story in stories]
            ready = [one[0] for one in admitted if not isinstance(one, Reading)]
            readings = list(measure(ready)) if ready else []
        except PackageMissing as error:
            return [self._lack(story, str(error)) for story in stories]
        if len(readings) != len(ready):
            raise TypeError(f"{self.spec} gave {len(readings)} readings for {len(ready)} stories")
        following = iter(readings)
        return [
            one if isinstance(one, Reading) else _count_against(next(following), one[1])
            for one in admitted
        ]

    def _lack(self, story: Story, what: str) -> Reading:
        return self.obstacle(story) or self.missing(Status.MISSING_MODEL, what)


def _count_against(reading: Reading, known: float) -> Reading:
    """Let unknown tokens count against the share that was read."""
    if known == 1 or reading.status is not Status.OK:
        return reading
    return replace(reading, coverage=reading.coverage * known)


@dataclass(frozen=True)
class StoryMetric(Metric):
    """A metric that reads one story at a time: write its `value`."""

    def value(self, story: Story) -> Value:
        """Value, values by aspect or whole reading of a story; raise `Missing` for none."""
        raise NotImplementedError

    def compute(self, stories: Sequence[Story]) -> list[Reading]:
        """Read the stories one by one; a bug is told with the story that shows it."""
        readings = []
        for story in stories:
            try:
                readings.append(self._reading_of(self.value, story))
            except Exception as error:
                error.add_note(f"while {self.spec} read story {story.id!r}")
                raise
        return readings

    def _reading_of(self, find: Callable[..., Value], *what: Story | str) -> Reading:
        """Make a reading of the value that is found, or of why there is none."""
        try:
            value = find(*what)
        except Missing as missing:
            return self.missing(missing.status, missing.note)
        if isinstance(value, Reading):
            return value
        return Reading(value if isinstance(value, tuple) else (float(value),))


@dataclass(frozen=True)
class PairMetric(StoryMetric):
    """A metric that compares a text with one reference: write `compare`.

    Of several references the one with the best last aspect counts.
    """

    def compare(self, text: str, reference: str) -> Value:
        """Value, values by aspect or reading of a text beside one reference."""
        raise NotImplementedError

    def value(self, story: Story) -> Reading:
        """Best reading over the references that are not blank."""
        readings = [
            self._reading_of(self.compare, story.text, text) for text in story.nonblank_references
        ]
        return self.best(readings)


class BatchStatistics(Protocol):
    """What a metric needs to know of a batch, gathered story by story in bounded memory."""

    def add(self, story: Story) -> None:
        """Take one more story of the batch into account."""

    def merge(self, other: Any) -> None:
        """Take in what was gathered of other stories of the batch, in whatever order."""


@dataclass(frozen=True)
class BatchMetric(Metric):
    """A metric whose value for a story depends on the stories scored with it.

    Its `batch` says which belong together: all of one `system`, or of the whole `run`.
    One pass gathers the statistics of each batch, a second measures the stories: write
    `empty_statistics` and `compute_in`.
    """

    def empty_statistics(self) -> BatchStatistics:
        """Give statistics of no story yet, to be filled story by story; they must pickle."""
        raise NotImplementedError

    def compute_in(
        self, stories: Sequence[Story], statistics: BatchStatistics
    ) -> Sequence[Reading]:
        """Read stories of one batch, knowing the statistics of all of it."""
        raise NotImplementedError

    def seal(self, statistics: BatchStatistics) -> None:
        """Let go of what no story will be asked about, once the whole batch is gathered."""

    def batch_of(self, story: Story) -> str:
        """Name of the batch a story belongs to."""
        return (story.system or "") if self.batch == "system" else ""

    def gather(self, stories: Sequence[Story]) -> dict[str, BatchStatistics]:
        """Gather the statistics of every batch among the stories."""
        batches: dict[str, BatchStatistics] = {}
        for story in stories:
            self.add_to(batches, story)
        return batches

    def add_to(self, batches: dict[str, BatchStatistics], story: Story) -> None:
        """Add what can be read of a story to its batch."""
        if not isinstance(admitted := self.admit(story), Reading):
            batches.setdefault(self.batch_of(story), self.empty_statistics()).add(admitted[0])

    def compute(self, stories: Sequence[Story]) -> Sequence[Reading]:
        """Take the stories given for the whole of their batches."""
        return self._compute_batches(stories, self.gather(stories))

    def read_in(
        self, stories: Sequence[Story], batches: Mapping[str, BatchStatistics]
    ) -> list[Reading]:
        """Give one reading per story, in order, knowing the batches gathered before."""
        return self._read_ready(stories, lambda ready: self._compute_batches(ready, batches))

    def _compute_batches(
        self, stories: Sequence[Story], batches: Mapping[str, BatchStatistics]
    ) -> list[Reading]:
        members: dict[str, list[int]] = {}
        for position, story in enumerate(stories):
            members.setdefault(self.batch_of(story), []).append(position)
        readings: dict[int, Reading] = {}
        for batch, positions in members.items():
            measured = self.compute_in([stories[i] for i in positions], batches[batch])
            readings.update(zip(positions, measured, strict=True))
        return [readings[position] for position in range(len(stories))]


def needs_batch(metric: Metric) -> TypeGuard[BatchMetric]:
    """Whether a metric, with the settings it has, needs to know its batch."""
    return isinstance(metric, BatchMetric) and metric.batch is not None
