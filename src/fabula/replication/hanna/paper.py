"""HANNA's paper: what it and its notebooks print, and its data as it uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.core.plain import read_json
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid
from fabula.meta.levels import Level, correlation_table
from fabula.meta.study import Study

ASPECTS = {
    "RE": "relevance",
    "CH": "coherence",
    "EM": "empathy",
    "SU": "surprise",
    "EG": "engagement",
    "CX": "complexity",
}
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
# The levels of its tables, by its own names; "pooled" is of a later revision.
LEVELS = ("story", "system")
_LEVELS: Mapping[str, Level] = {"story": "item", "system": "system", "pooled": "pooled"}


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
        return Printed(read_json(path))
    except InputError as error:
        raise InputError(f"{path}: no file of printed values ({error})", "check it") from None


def metric_name(header: str) -> str:
    """Name of a published column without its two glyphs."""
    return header.rsplit(" ", 1)[0]


@dataclass(frozen=True)
class Paper:
    """The paper's data as it uses them: machine systems only, nothing turned."""

    dataset: Dataset
    printed: Printed

    @cached_property
    def grids(self) -> tuple[Grid, Grid]:
        """The 72 published columns and the six criteria."""
        columns = [
            name
            for name, card in self.dataset.scorers.items()
            if card.family in ("string", "embedding", "model")
        ]
        return Study(sign="raw", scorers=tuple(columns)).grids(self.dataset)

    def correlations(self, level: str, coefficient: str) -> Values:
        """Signed coefficients: metrics × criteria."""
        key = (level, coefficient)
        if key not in self._tables:
            self._tables[key] = self.correlate(*self.grids, level, coefficient)
        return self._tables[key]

    def correlate(self, grid: Grid, other: Grid, level: str, coefficient: str) -> Values:
        """Correlate the columns of two grids at a level by its printed name."""
        by_name: Mapping[str, Coefficient] = {name: name for name in COEFFICIENTS}
        return correlation_table(
            grid, other, level=_LEVELS[level], coefficient=by_name[coefficient]
        )

    @cached_property
    def _tables(self) -> dict[tuple[str, str], Values]:
        return {}

    def at(self, table: Values, header: str, code: str) -> float:
        """Value of a metric and a criterion by their printed names."""
        return float(table[self.metric(header), self.aspect(code)])

    def metric(self, header: str) -> int:
        """Place of a metric by its printed name."""
        return self._metrics[metric_name(header)]

    def aspect(self, code: str) -> int:
        """Place of a criterion by its code."""
        return self._aspects[ASPECTS[code]]

    @cached_property
    def _metrics(self) -> dict[str, int]:
        return {column.label: place for place, column in enumerate(self.grids[0].columns)}

    @cached_property
    def _aspects(self) -> dict[str, int]:
        return {column.aspect: place for place, column in enumerate(self.grids[1].columns)}
