"""What an analysis finds: tables whose figures carry an interval and what they rest on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from fabula.meta.resampling import Estimate

Cell = str | int | float | Estimate | None


@dataclass(frozen=True)
class Table:
    """A table of figures; `name` is its file's, `decimals` those of its figures."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    decimals: int = 3

    def plain(self) -> dict[str, Any]:
        """Give the table for JSON: one object a row."""
        rows = [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows]
        return {"name": self.name, "title": self.title, "note": self.note, "rows": rows}


@dataclass(frozen=True)
class Finding:
    """What one analysis found, in words and tables; or what it needs."""

    analysis: str
    title: str
    words: Sequence[str] = ()
    tables: Sequence[Table] = field(default_factory=tuple)
    needs: str = ""

    def plain(self) -> dict[str, Any]:
        """Give the finding for JSON."""
        return {
            "analysis": self.analysis,
            "title": self.title,
            "needs": self.needs or None,
            "words": list(self.words),
            "tables": [table.plain() for table in self.tables],
        }


def _plain(cell: Cell) -> Any:
    if isinstance(cell, Estimate):
        return cell.plain()
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell
