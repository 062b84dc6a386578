"""Which changes of a story a learned metric notices: by share and interval, for its page.

`_notices.json` holds numbers alone, written by `benchmarks/notices.py --write` from stories that
people wrote on a forum, broken on purpose or only set otherwise, and scored again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path

from fabula.core.errors import InputError
from fabula.core.files import write_text
from fabula.core.plain import from_plain, read_json
from fabula.reports.numbers import number_text
from fabula.reports.pages import markdown_table
from fabula.reports.tables import Table, TableColumn
from fabula.scoring.stress import StressResult
from fabula.text.perturb import PERTURBATIONS

FILE = Path(__file__).parent / "_notices.json"
_REMEDY = "write it again: python benchmarks/notices.py DATA --write"


@dataclass(frozen=True)
class Notice:
    """What one change of stories does to one value of a metric.

    `share` is that of the stories that are thought worse, a tie counting half, between `low` and
    `high` (Wilson, 95 %); `moved` the mean move in standard deviations over the stories.
    """

    share: float
    low: float
    high: float
    stories: int
    moved: float


@dataclass(frozen=True)
class MetricNotices:
    """Notices of a metric, by aspect and perturbation, and whose numbers they are."""

    signature: str
    aspects: Mapping[str, Mapping[str, Notice]] = field(default_factory=dict)


@dataclass(frozen=True)
class Notices:
    """Notices of metrics by spec, and which stories they were measured on."""

    stories: str  # in words
    metrics: Mapping[str, MetricNotices] = field(default_factory=dict)


def make_notices(result: StressResult, stories: str) -> Notices:
    """Make notices of a stress test; values that no story has are left out."""
    metrics: dict[str, MetricNotices] = {}
    for metric in result.metrics:
        aspects: dict[str, dict[str, Notice]] = {}
        for move in result.moves:
            # The same order as the value itself.
            told = move.scorer == metric.spec and move.aspect != "percentile"
            if told and math.isfinite(move.worse.value) and math.isfinite(move.standardised):
                worse, moved = move.worse, round(move.standardised, 3)
                ends = [round(float(end), 3) for end in (worse.value, worse.low, worse.high)]
                notice = Notice(ends[0], ends[1], ends[2], move.stories, moved)
                aspects.setdefault(move.aspect, {})[move.perturbation] = notice
        if aspects:
            metrics[metric.spec] = MetricNotices(metric.signature(), aspects)
    return Notices(stories, metrics)


def write_notices(notices: Notices, file: Path = FILE) -> None:
    """Write notices, whole or not at all."""
    write_text(file, json.dumps(asdict(notices), indent=1) + "\n")


@lru_cache(maxsize=1)
def read_notices(file: Path = FILE) -> Notices:
    """Read what was measured."""
    return from_plain(
        Notices, read_json(file, remedy=_REMEDY), str(file), error=InputError, remedy=_REMEDY
    )


def notice_section(name: str, notices: Notices | None = None) -> str:
    """Write what a metric notices as Markdown: two tables; nothing where it was not measured."""
    notices = notices or read_notices()
    known = notices.metrics.get(name)
    if known is None:
        return ""
    about = (
        f"**What it notices.** Of {notices.stories}, how many are thought worse once they are "
        "changed, in per cent, with the 95 % interval (Wilson; 50 is chance, a tie counts half): "
        "what hurts a story should be well above 50. Below, how far it moves, in standard "
        "deviations over those stories, when a story is only set otherwise: that should be 0. "
        f"`fabula stress` measures it on yours. With `{known.signature}`."
    )
    tables = [_table(known, "worse"), _table(known, "same")]
    return "\n\n".join([about, *(markdown_table(table) for table in tables if table.rows)])


def _table(known: MetricNotices, expected: str) -> Table:
    """Lay out notices: a row a change, a column an aspect."""
    aspects = known.aspects
    rows = [
        [
            kind.does,
            *(_write(by_change.get(kind.name), expected) for by_change in aspects.values()),
        ]
        for kind in PERTURBATIONS.values()
        if kind.expected == expected and any(kind.name in by for by in aspects.values())
    ]
    names = [aspect or "value" for aspect in aspects]
    heads = [TableColumn(name, align="right") for name in names]
    return Table(["a copy that …" if expected == "worse" else "set otherwise: …", *heads], rows)


def _write(notice: Notice | None, expected: str) -> str:
    if notice is None:
        return "–"
    if expected == "same":
        return number_text(notice.moved, 2)
    share, low, high = (f"{100 * part:.0f}" for part in (notice.share, notice.low, notice.high))
    return f"{share} [{low}, {high}]"
