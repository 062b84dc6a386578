"""What HANNA's paper and notebooks print, read from a file of such values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError

ASPECTS = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}
COEFFICIENTS = ("pearson", "spearman", "kendall")
LEVELS = {"story": "item", "system": "system"}


@dataclass(frozen=True)
class Printed:
    """The values of the file; metrics and aspects are called as they are here."""

    values: Mapping[str, Any]

    @property
    def tables(self) -> Mapping[str, Any]:
        """Values by the table or figure they stand in."""
        tables: Mapping[str, Any] = self.values["tables"]
        return tables


def read_printed(path: Path) -> Printed:
    """Read the file, which is JSON."""
    try:
        return Printed(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: no file of printed values ({error})", "check it") from None


def metric_name(header: str) -> str:
    """Name of a published column without its two glyphs."""
    return header.rsplit(" ", 1)[0]
