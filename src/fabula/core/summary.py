"""Means by scorer, aspect and system, which say how many scores they leave out and why."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from fabula.core.score import Score


@dataclass
class Cell:
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
        self.cells: dict[tuple[str, str], dict[str, Cell]] = {}
        self._systems: dict[str, None] = {}
        self.notes: dict[tuple[str, str], str] = {}

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
        cells.setdefault(name, Cell()).add(score)

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
