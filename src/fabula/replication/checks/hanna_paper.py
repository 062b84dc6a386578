"""HANNA's tables and figures, computed again from its ratings and released scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabula.datasets import load_dataset
from fabula.replication.checks._finding import Finding, unchecked
from fabula.replication.hanna import read_printed, replicate
from fabula.reports.study_view import PrintedValue

_PART = "HANNA's paper (Chhun et al., 2022), from its ratings and released scores"
_DATA = "data/hanna"
_PRINTED = "reference/hanna_expected.json"
# Figures that rest on chance: how far the values may be off on average.
_MOST_ON_AVERAGE = {"Figures 7 and 26": 2.0, "Figure 7": 2.0}


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare every printed number, table by table."""
    if not data or not (data / _DATA).is_dir() or not (data / _PRINTED).is_file():
        yield unchecked(_PART, "tables and figures", f"needs {_DATA} and {_PRINTED} below --data")
        return
    found: dict[str, list[PrintedValue]] = {}
    for one in replicate(load_dataset("hanna", data / _DATA), read_printed(data / _PRINTED)):
        found.setdefault(one.table, []).append(one)
    yield from (_finding(table, values) for table, values in found.items())


def _finding(table: str, values: Sequence[PrintedValue]) -> Finding:
    """Count what holds; what is known to be a misprint is said, and does not count against us."""
    off = [abs(one.ours - one.printed) for one in values]
    wrong = [one for one in values if not one.holds and not one.note]
    most = _MOST_ON_AVERAGE.get(table.partition(":")[0].partition(" with")[0])
    mean = sum(off) / len(off)
    good = not wrong and (most is None or mean <= most)
    average = f", {most:g} on average" if most else ""
    words = [
        f"{sum(one.holds for one in values):,} of {len(values):,} within",
        f"largest difference {max(off):.2g}",
        *([f"mean {mean:.2g}"] if most else []),
        *(f"{one.what}: printed {one.printed:g}, {one.note}" for one in values if one.note),
    ]
    return Finding(
        _PART,
        table,
        f"within {values[0].tolerance:.2g}{average}",
        ", ".join(words),
        "verified" if good else "short",
    )
