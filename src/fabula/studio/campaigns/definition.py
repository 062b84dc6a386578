"""A campaign as its file says it: what is shown, what is asked, of how many, and what is checked.

The file is TOML, made by `fabula campaign new PRESET` and changed by hand; `read_definition` checks
every field and names what will not do with its place in the file. Texts that raters read
(instructions, consent, thanks) are Markdown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from fabula.core.errors import SettingError, closest
from fabula.core.plain import from_plain, read_toml

QuestionKind = Literal[
    "scale", "choice", "text", "best", "best_worst", "ranking", "spans", "aspects"
]
Unit = Literal["story", "pair", "group"]
# What an answer to "which is better?" is when neither is.
TIE = "tie"
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,99}")
# Questions that compare the stories of a task: one answer for all of them.
COMPARING: frozenset[QuestionKind] = frozenset({"best", "best_worst", "ranking"})
# Kinds of which it can be said which answers will do.
TRAINABLE: frozenset[QuestionKind] = frozenset({"scale", "choice"})
MOST_SHOWN = 12
_LEAST_SHOWN = {"best": 2, "best_worst": 3, "ranking": 2}


@dataclass(frozen=True)
class Question:
    """What raters are asked, and the answers there are.

    | kind | an answer |
    |---|---|
    | `scale` | a whole number from `low` to `high`; `anchors` say what each means |
    | `choice` | one of `choices` (yes and no, human or machine, …) |
    | `text` | words, at least `least` of them where it is required |
    | `best` | the best of the stories shown, or with `ties` the word `tie` |
    | `best_worst` | the best and the worst of those shown |
    | `ranking` | all stories shown, best first |
    | `spans` | passages of the story, each with one of `choices`, if there are any, and a reason |
    | `aspects` | from `least` to `most` of `choices`, each with a number and, with `reason`, why |

    Questions that compare stories are asked once a task, the others of every story shown.
    """

    name: str
    kind: QuestionKind
    text: str
    title: str = ""
    help: str = ""
    required: bool = True
    low: int = 1
    high: int = 5
    anchors: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    reason: bool = False
    ties: bool = False

    def __post_init__(self) -> None:
        """Refuse a question that cannot be answered."""
        if not _NAME.fullmatch(self.name):
            raise SettingError(
                f"question name {self.name!r} will not do", "use a-z, 0-9, _ and -, at most 100"
            )
        if not self.text.strip():
            raise SettingError(f"question {self.name} asks nothing", "give it a text")
        if self.kind in ("scale", "aspects"):
            self._check_scale()
        if self.kind in ("choice", "aspects"):
            self._check_choices()
        if self.most and self.least > self.most:
            raise SettingError(
                f"question {self.name}: least {self.least} is above most {self.most}", "mend one"
            )

    @property
    def values(self) -> tuple[int | str, ...]:
        """The answers there are to a scale or a choice."""
        return self.choices if self.kind == "choice" else tuple(range(self.low, self.high + 1))

    @property
    def compares(self) -> bool:
        """Whether one answer speaks of all stories shown."""
        return self.kind in COMPARING

    def _check_scale(self) -> None:
        if not self.low < self.high <= self.low + 100:
            raise SettingError(
                f"question {self.name}: a scale from {self.low} to {self.high} will not do",
                "let high be above low, by 100 at most",
            )
        if self.anchors and len(self.anchors) != self.high - self.low + 1:
            raise SettingError(
                f"question {self.name} has {len(self.anchors)} anchors for"
                f" {self.high - self.low + 1} numbers",
                "give one for each, an empty one where there is nothing to say",
            )

    def _check_choices(self) -> None:
        if len(set(self.choices)) < 2 or len(set(self.choices)) != len(self.choices):
            raise SettingError(
                f"question {self.name} needs two different choices or more", "write choices = […]"
            )
        if self.kind == "aspects" and not 0 < (self.least or 1) <= len(self.choices):
            raise SettingError(
                f"question {self.name}: {self.least} of {len(self.choices)} cannot be chosen",
                "let least be smaller",
            )


@dataclass(frozen=True)
class Show:
    """What stands beside the questions: `input` is what the model was given, of the field `input`
    of a story; fields named in `fields` are shown under their names."""

    prompt: bool = False
    reference: bool = False
    pictures: bool = False
    input: bool = False
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Example:
    """A story for the instructions, good or bad, and why."""

    text: str
    verdict: Literal["good", "bad"]
    why: str
    prompt: str = ""


@dataclass(frozen=True)
class TrainingStory:
    """A story to practise on: which answers will do, by question, and what is said then.

    It stands alone, whatever the unit is, and only the questions in `answers` are asked of it:
    scales and choices, of which it can be said what will do.
    """

    text: str
    feedback: str
    answers: Mapping[str, tuple[Any, ...]]
    prompt: str = ""
    reference: str = ""

    def check(self, questions: tuple[Question, ...]) -> None:
        """Refuse answers that nobody can give."""
        known = {question.name: question for question in questions if question.kind in TRAINABLE}
        if not self.answers:
            raise SettingError(
                "a training story asks nothing", "write answers = { QUESTION = […] }"
            )
        for name, given in self.answers.items():
            if name not in known:
                raise SettingError(
                    f"answers.{name} is no scale and no choice that is asked", closest(name, known)
                )
            wrong = [value for value in given if value not in known[name].values]
            if wrong or not given:
                raise SettingError(
                    f"answers.{name} = {list(given)} cannot be answered",
                    f"write some of {list(known[name].values)}",
                )


@dataclass(frozen=True)
class PlantedStory:
    """A story that is poor on purpose: who rates it well did not read. It is shown as others are,
    with a prompt and a reference of its own."""

    text: str
    prompt: str = ""
    reference: str = ""


@dataclass(frozen=True)
class Checks:
    """What gives a flag; nothing here rejects anybody.

    `character` asks for the name of a story's first character; `planted` poor stories and
    `duplicates` are put among each rater's tasks, one in so many (0: none); `instructed` asks for a
    given answer in one of so many tasks; a task done faster than `words_per_minute` (of what is
    shown) or `floor_s` is too fast, and the floor does not hold where fewer than `floor_words` are
    shown; `all_same` flags raters whose answers hardly vary over so many tasks, `all_lowest` those
    who give nothing but the lowest far more often than others; `agreement` is the least correlation
    with the mean of the others, over enough shared stories.
    """

    character: bool = False
    planted: int = 0
    duplicates: int = 0
    instructed: int = 0
    floor_s: float = 0.0
    floor_words: int = 0
    words_per_minute: float = 600.0
    all_same: int = 5
    all_lowest: bool = False
    agreement: float | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name in ("planted", "duplicates", "instructed"):
            if getattr(self, name) == 1 or getattr(self, name) < 0:
                raise SettingError(
                    f"{name} = {getattr(self, name)}: it is one task in so many", "2 or more, or 0"
                )
        for name in ("floor_s", "floor_words", "words_per_minute", "all_same"):
            if getattr(self, name) < 0:
                raise SettingError(f"{name} = {getattr(self, name)} will not do", "0 is none")
        if self.agreement is not None and not -1 <= self.agreement <= 1:
            raise SettingError(f"agreement = {self.agreement} is no correlation", "from -1 to 1")


@dataclass(frozen=True)
class Pay:
    """What one task pays, and how long it was meant to take."""

    amount: float = 0.0
    currency: str = "USD"
    expected_s: float = 0.0

    def __post_init__(self) -> None:
        """Refuse less than nothing."""
        if self.amount < 0 or self.expected_s < 0:
            raise SettingError("amount or expected_s is below 0", "write 0 where there is none")


@dataclass(frozen=True)
class Stop:
    """When enough is enough: the interval of a question's mean for every system (or, with `of`
    `difference`, of every difference between two) is within ± `half_width`."""

    question: str
    half_width: float
    of: Literal["mean", "difference"] = "mean"
    confidence: float = 0.95
    least_raters: int = 2

    def __post_init__(self) -> None:
        """Refuse an interval that cannot be reached."""
        if self.half_width <= 0 or not 0 < self.confidence < 1 or self.least_raters < 1:
            raise SettingError(
                "half_width, confidence or least_raters will not do",
                "a width above 0, a confidence between 0 and 1, at least one rater",
            )


@dataclass(frozen=True)
class StoryForm:
    """How the file of stories is read, where that is not found out by looking at it: the columns
    of a story's parts (`columns.text = "output"`), and what `fabula score` can be told."""

    format: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""
    skip_bad: bool = False


@dataclass(frozen=True)
class Definition:
    """A campaign. `raters` are asked about every task, `overlap` of the tasks by that many and the
    rest by one (1: all); `most_tasks` is the end for a rater (0: all there are).

    The stories of a pair or group are of one item, each of another system; with `within` `all` they
    are any stories, dealt to groups by the seed. `about` and `who` (whom to ask: countries,
    approval) are for who runs it, raters see neither. `stories` is a file, named from where the
    campaign's file lies; `images` the folder from which pictures are named (else that of stories).
    """

    name: str
    title: str
    instructions: str
    questions: tuple[Question, ...]
    preset: str = ""
    about: str = ""
    who: str = ""
    stories: str = ""
    form: StoryForm = field(default_factory=StoryForm)
    images: str = ""
    unit: Unit = "story"
    size: int = 1
    within: Literal["item", "all"] = "item"
    raters: int = 3
    overlap: float = 1.0
    most_tasks: int = 0
    lease_minutes: float = 60.0
    seed: int = 0
    language: str = "en"
    direction: Literal["ltr", "rtl", "auto"] = "auto"
    blind: bool = True
    consent: str = ""
    thanks: str = ""
    show: Show = field(default_factory=Show)
    examples: tuple[Example, ...] = ()
    training: tuple[TrainingStory, ...] = ()
    training_tries: int = 2
    planted: tuple[PlantedStory, ...] = ()
    checks: Checks = field(default_factory=Checks)
    pay: Pay = field(default_factory=Pay)
    stop: Stop | None = None

    def __post_init__(self) -> None:
        """Refuse what does not go together."""
        if not _NAME.fullmatch(self.name):
            raise SettingError(
                f"name {self.name!r} will not do", "use a-z, 0-9, _ and -: it is in the address"
            )
        if self.raters < 1 or self.lease_minutes <= 0 or not 0 <= self.overlap <= 1:
            raise SettingError(
                "raters, lease_minutes or overlap will not do",
                "at least one rater, a lease above 0, an overlap from 0 to 1",
            )
        if self.most_tasks < 0 or self.training_tries < 1:
            raise SettingError("most_tasks or training_tries will not do", "0 tasks are all")
        if self.unit == "group" and not 2 <= self.size <= MOST_SHOWN:
            raise SettingError(
                f"a group of {self.size} will not do", f"write size = 2 to {MOST_SHOWN}"
            )
        self._check_questions()
        for number, story in enumerate(self.training):
            try:
                story.check(self.questions)
            except SettingError as refused:
                raise SettingError(
                    f"training[{number}]: {refused.problem}", refused.remedy
                ) from None
        if self.checks.planted and not self.planted:
            raise SettingError("checks.planted has no stories to plant", "write [[planted]]")

    @property
    def shown(self) -> int:
        """How many stories a task shows."""
        return {"story": 1, "pair": 2, "group": self.size}[self.unit]

    def question(self, name: str) -> Question:
        """Give the question of that name."""
        return next(question for question in self.questions if question.name == name)

    def _check_questions(self) -> None:
        names = [question.name for question in self.questions]
        if not names:
            raise SettingError("nothing is asked", "write [[questions]]")
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise SettingError(f"there are two questions {twice}", "give each a name of its own")
        for question in self.questions:
            if self.shown < _LEAST_SHOWN.get(question.kind, 1):
                raise SettingError(
                    f"question {question.name} compares stories, and a task shows {self.shown}",
                    "write unit = 'pair', or unit = 'group' and a size",
                )
        if self.stop:
            scales = [question.name for question in self.questions if question.kind == "scale"]
            if self.stop.question not in scales:
                raise SettingError(
                    f"stop.question: {self.stop.question!r} is no scale that is asked",
                    closest(self.stop.question, scales),
                )


def read_definition(path: Path) -> Definition:
    """Read a campaign file; what will not do is named with its place in it."""
    return make_definition(read_toml(path), str(path))


def make_definition(plain: dict[str, Any], where: str = "the campaign") -> Definition:
    """Make a campaign of plain values, of a file or of the database."""
    return from_plain(Definition, plain, where)
