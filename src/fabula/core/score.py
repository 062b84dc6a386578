"""A score: one opinion about one story, and why it is missing where it is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """Why a value is there, or is not."""

    OK = "ok"
    EMPTY_TEXT = "empty_text"
    MISSING_REFERENCE = "missing_reference"
    MISSING_PROMPT = "missing_prompt"
    MISSING_IMAGES = "missing_images"
    UNDEFINED = "undefined"
    TOO_LONG = "too_long"
    MISSING_MODEL = "missing_model"
    FAILED = "failed"

    @property
    def lasting(self) -> bool:
        """Whether asking again on the same story gives the same answer everywhere."""
        return self not in (Status.MISSING_MODEL, Status.FAILED)


class Missing(Exception):
    """Raised by a metric that has no value for a story; becomes the score's status and note."""

    def __init__(self, status: Status | str, note: str = "") -> None:
        super().__init__(status, note)
        self.status = Status(status)
        self.note = note


@dataclass(frozen=True, slots=True)
class Reading:
    """What a metric says of one story: a value per aspect, how much it read, and a note.

    `coverage` is the share of the story's text that was read: 0 where nothing was.
    """

    values: tuple[float, ...]
    status: Status = Status.OK
    coverage: float = 1.0
    note: str = ""

    @classmethod
    def missing(cls, aspects: int, status: Status, note: str = "") -> Reading:
        """Give the reading of a story there is no value for."""
        return cls((math.nan,) * aspects, status, 0.0, note)


@dataclass(frozen=True, slots=True)
class Score:
    """One opinion: of which story, whose (`scorer`), on what (`aspect`), and its value.

    A missing value is NaN and its status says why. A person's scorer is `human:<rater>`.
    """

    story: str
    scorer: str
    aspect: str = ""
    value: float = math.nan
    status: Status = Status.OK
    coverage: float = 1.0
    note: str = ""

    def __post_init__(self) -> None:
        """Keep the promise that a value is there exactly when the status is ok."""
        object.__setattr__(self, "status", Status(self.status))
        if self.status is Status.OK and not math.isfinite(self.value):
            object.__setattr__(self, "status", Status.UNDEFINED)
        if self.status is not Status.OK:
            object.__setattr__(self, "value", math.nan)

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status is Status.OK
