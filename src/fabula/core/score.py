"""A score: one opinion about one story, why it is missing where it is, and means of scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


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
    UNPARSED = "unparsed"
    REFUSED = "refused"
    FAILED = "failed"

    @property
    def lasting(self) -> bool:
        """Whether asking again on the same story gives the same answer everywhere."""
        # A picture that is not there, or damaged, may be mended under its name.
        return self not in (Status.MISSING_IMAGES, Status.MISSING_MODEL, Status.FAILED)


# A story that a scorer never saw has no status; the others are numbered after it.
STATUSES = ("not scored", *map(str, Status))


class Missing(Exception):
    """Raised by a metric that has no value for a story; becomes the score's status and note."""

    def __init__(self, status: Status | str, note: str = "") -> None:
        super().__init__(status, note)
        self.status = Status(status)
        self.note = note


@dataclass(frozen=True, slots=True)
class Reading:
    """What a metric says of one story: a value per aspect, how much it read, and a note.

    `coverage` is the share of the story's text that was read: 0 where nothing was. `statuses` are
    those of the aspects, where they differ: an answer may hold some of the values.
    """

    values: tuple[float, ...]
    status: Status = Status.OK
    coverage: float = 1.0
    note: str = ""
    statuses: tuple[Status, ...] = ()

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
    def label(self) -> str:
        """Scorer and aspect in one: `rouge(n=2).f`."""
        return f"{self.scorer}.{self.aspect}" if self.aspect else self.scorer

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status is Status.OK


@dataclass
class SummaryCell:
    """Running mean of the scores one scorer gave one system on one aspect."""

    count: int = 0
    total: float = 0.0
    squares: float = 0.0
    coverage: float = 1.0
    left_out: Counter[str] = field(default_factory=Counter)

    def add(self, score: Score) -> None:
        """Take a score in, or count why it is left out."""
        if not score.ok:
            self.left_out[str(score.status)] += 1
            return
        self.count += 1
        delta = score.value - self.total
        self.total += delta / self.count
        self.squares += delta * (score.value - self.total)
        self.coverage = min(self.coverage, score.coverage)

    def merge(self, other: SummaryCell) -> None:
        """Take in the scores of another cell (Chan, Golub and LeVeque, 1983)."""
        self.left_out.update(other.left_out)
        if not other.count:
            return
        delta, count = other.total - self.total, self.count + other.count
        self.total += delta * other.count / count
        self.squares += other.squares + delta**2 * self.count * other.count / count
        self.count = count
        self.coverage = min(self.coverage, other.coverage)

    @property
    def mean(self) -> float:
        """Mean of what is there; NaN where nothing is."""
        return self.total if self.count else math.nan

    @property
    def deviation(self) -> float:
        """Standard deviation; NaN below two values."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else math.nan


class Summary:
    """Cells by scorer, aspect and system, filled score by score in bounded memory.

    `notes` holds the first note of each scorer and status that is not ok.
    """

    def __init__(self) -> None:
        self.cells: dict[tuple[str, str], dict[str, SummaryCell]] = {}
        self._systems: dict[str, None] = {}
        self.notes: dict[tuple[str, str], str] = {}

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Summary:
        """Make a summary of its rows again, as run.json holds them; notes are not among them."""
        summary = cls()
        for row in rows:
            summary._systems.setdefault(row["system"])
            cells = summary.cells.setdefault((row["scorer"], row["aspect"]), {})
            spread = (row["deviation"] or 0.0) ** 2 * max(0, row["scored"] - 1)
            cells[row["system"]] = SummaryCell(
                row["scored"],
                row["mean"] or 0.0,
                spread,
                1.0 if row["least_coverage"] is None else row["least_coverage"],
                Counter(row["why"]),
            )
        return summary

    @property
    def systems(self) -> list[str]:
        """Systems, in the order they came."""
        return list(self._systems)

    def add(self, system: str | None, score: Score) -> None:
        """Take a score of a system's story in."""
        name = system or ""
        self._systems.setdefault(name)
        if not score.ok:
            self.notes.setdefault((score.scorer, score.status), score.note)
        cells = self.cells.setdefault((score.scorer, score.aspect), {})
        cells.setdefault(name, SummaryCell()).add(score)

    def merge(self, other: Summary) -> None:
        """Take in the scores of another summary; its systems come behind those that are here."""
        for system in other.systems:
            self._systems.setdefault(system)
        for key, cells in other.cells.items():
            own = self.cells.setdefault(key, {})
            for system, cell in cells.items():
                own.setdefault(system, SummaryCell()).merge(cell)
        self.notes = {**other.notes, **self.notes}

    def left_out(self) -> dict[tuple[str, str], int]:
        """How many stories have no value, by scorer and status, in the aspect that lacks most."""
        missing: dict[tuple[str, str], int] = {}
        for (scorer, _), cells in self.cells.items():
            counts: Counter[str] = sum((cell.left_out for cell in cells.values()), Counter())
            for status, count in counts.items():
                missing[scorer, status] = max(count, missing.get((scorer, status), 0))
        return missing

    def rows(self) -> list[dict[str, Any]]:
        """One row per scorer, aspect and system; a missing mean is None."""
        return [
            {
                "scorer": scorer,
                "aspect": aspect,
                "system": system,
                "mean": cell.mean if cell.count else None,
                "deviation": cell.deviation if cell.count > 1 else None,
                "scored": cell.count,
                "left_out": sum(cell.left_out.values()),
                "why": dict(sorted(cell.left_out.items())),
                "least_coverage": cell.coverage if cell.count else None,
            }
            for (scorer, aspect), cells in self.cells.items()
            for system, cell in cells.items()
        ]
