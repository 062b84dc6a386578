"""What a paper prints of a study, beside ours; a paper itself is known to `replication` alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fabula.reports._study_blocks import Block


@dataclass(frozen=True)
class PrintedValue:
    """A printed number, ours, and how far apart they may be."""

    table: str
    what: str
    printed: float
    ours: float
    tolerance: float
    note: str = ""

    @property
    def holds(self) -> bool:
        """Whether ours is the printed number within the tolerance."""
        return abs(self.ours - self.printed) <= self.tolerance

    def row(self) -> dict[str, Any]:
        """Give a flat row."""
        return {
            "table": self.table,
            "what": self.what,
            "printed": self.printed,
            "ours": self.ours,
            "difference": self.ours - self.printed,
            "holds": self.holds,
            "note": self.note,
        }


class Publication(Protocol):
    """A paper about the data set of a study.

    Tables and figures are named as in the report: `systems`, `ranking_item`, `strongest_system`.
    Without printed values at hand it still knows how its tables are numbered.
    """

    @property
    def values(self) -> Sequence[PrintedValue]:
        """Give every printed value beside ours, table by table."""

    def number(self, name: str) -> str:
        """Give the number of a table or figure, such as `Table 4`; "" if it has none."""

    def value(self, name: str, what: str) -> PrintedValue | None:
        """Find the printed value of a row of a table."""

    def remarks(self, part: str) -> Sequence[str]:
        """Say what comparing a part of the report with the paper shows."""

    def blocks(self, part: str) -> Sequence[Block]:
        """Give the paper's own tables that belong below a part."""
