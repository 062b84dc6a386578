"""Values that a paper prints, each beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
