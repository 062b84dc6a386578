"""The summary of a run as a table to print: metrics × systems, oriented, left-outs named."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fabula._version import __version__
from fabula.core.card import ARROWS, Direction
from fabula.core.score import Status, Summary, SummaryCell
from fabula.core.story import count_text
from fabula.core.table import json_text, without_halves
from fabula.reports.numbers import decimals_for, number_text
from fabula.reports.tables import Cell, Table, TableColumn, Tone, render
from fabula.scoring.catalogue import label_scorers

if TYPE_CHECKING:
    from fabula.reports.standings import Standings

UNMARKED = "No system is marked as the best here: the intervals that say so are in the report."


# What a story lacks is the same for every metric: has, have, and which metrics mind.
_LACKS = {
    Status.EMPTY_TEXT: ("has no text", "have no text", ""),
    Status.MISSING_REFERENCE: ("has no reference", "have no reference", " that need one"),
    Status.MISSING_PROMPT: ("has no prompt", "have no prompt", " that need one"),
}
_MOST_NAMED = 3


@dataclass(frozen=True)
class Line:
    """One row of the table: a scorer and aspect, and a cell per system."""

    scorer: str
    aspect: str
    label: str
    direction: Direction
    cells: tuple[SummaryCell | None, ...]


def summary_lines(summary: Summary, directions: Mapping[str, Direction]) -> list[Line]:
    """Give the rows of the table, in the order of the scorers."""
    labels = label_scorers(summary.cells)
    return [
        Line(*key, labels[key], directions[key[0]], tuple(map(cells.get, summary.systems)))
        for key, cells in summary.cells.items()
    ]


@dataclass(frozen=True)
class LeftOut:
    """A reason for which scores are missing, and how many stories each scorer left out for it.

    Of scorers that are missing altogether no story has a value.
    """

    status: Status
    note: str
    counts: dict[str, int]
    altogether: bool

    @property
    def most(self) -> int:
        """How many stories the scorer that lacks most left out."""
        return max(self.counts.values())

    def names(self, most: int = _MOST_NAMED) -> str:
        """Name the metrics, or count them where they are many."""
        if len(self.counts) > most:
            return count_text(len(self.counts), "metric")
        return ", ".join(label_scorers((scorer, "") for scorer in self.counts).values())

    def reason(self, stories: int) -> str:
        """Say why, without numbers where it is about what a story lacks."""
        if self.status in _LACKS:
            has, have, _ = _LACKS[self.status]
            whole = f"no story {has.replace(' no ', ' a ')}"
            return whole if self.most >= stories else have.removeprefix("have ")
        return self.note or self.status.replace("_", " ")

    def words(self, stories: int) -> str:
        """Say in a line what was left out of so many stories, why, and by whom."""
        differ = len(set(self.counts.values())) > 1
        how_many = f"{'up to ' * differ}{self.most:,} of {count_text(stories, 'story', 'stories')}"
        if self.status in _LACKS:
            has, have, need = _LACKS[self.status]
            who = self.names() + need * (len(self.counts) > _MOST_NAMED)
            lack = f"{how_many} {has if self.most == 1 else have}"
            return f"{lack if self.most < stories else self.reason(stories)}: left out by {who}"
        if self.altogether and self.status is Status.MISSING_MODEL:
            # What is missing is the metric, and how to get it is in the note.
            return f"{self.names(2 * _MOST_NAMED)}: left out, {self.reason(stories)}"
        status = f"{self.status.replace('_', ' ')}: " if self.note else ""
        return f"{self.names()}: {how_many} left out, {status}{self.reason(stories)}"


def group_left_out(summary: Summary) -> list[LeftOut]:
    """Give every reason once, whichever metrics it keeps from a value, in the order of statuses."""
    groups: dict[tuple[Status, str, bool], dict[str, int]] = {}
    valued = {
        scorer
        for (scorer, _), cells in summary.cells.items()
        if any(cell.count for cell in cells.values())
    }
    for (scorer, name), count in summary.left_out().items():
        status = Status(name)
        lacks = status in _LACKS
        note = "" if lacks else summary.notes.get((scorer, name), "")
        altogether = not lacks and scorer not in valued
        groups.setdefault((status, note, altogether), {})[scorer] = count
    order = list(Status)
    return [
        LeftOut(status, note, counts, altogether)
        for (status, note, altogether), counts in sorted(
            groups.items(), key=lambda it: order.index(it[0][0])
        )
    ]


def left_out_words(summary: Summary, stories: int) -> list[str]:
    """Say in words what the means leave out: a line for each reason."""
    return [group.words(stories) for group in group_left_out(summary)]


def cite_table(signatures: Mapping[str, str], stories: int = 0, digest: str = "") -> str:
    """Write what to quote beside a table: signatures by spec in one line, what they share once.

    What most of the metrics share stands before them; in brackets is what a metric has of its own.
    """
    traits = {spec: _read_traits(spec, signature) for spec, signature in signatures.items()}
    versions = dict.fromkeys(each.pop("fabula", __version__) for each in traits.values())
    shared = _find_shared(list(traits.values()))
    named = []
    for spec, each in traits.items():
        own = {key: value for key, value in each.items() if shared.get(key) != value}
        named.append(f"{spec}[{_join_traits(own)}]" if own else spec)
    counted = count_text(stories, "story", "stories") if stories else ""
    data = " ".join(filter(None, (counted, digest and f"sha256:{digest[:12]}")))
    parts = [f"fabula {', '.join(versions)}", data, _join_traits(shared), " ".join(named)]
    return " | ".join(filter(None, parts))


def cite_run(record: Mapping[str, Any]) -> str:
    """Write what to quote beside the numbers of a run."""
    signatures = {metric["spec"]: metric["signature"] for metric in record["metrics"]}
    stories = record.get("input", {}).get("stories", 0)
    return cite_table(signatures, stories, record.get("question", {}).get("input", ""))


def _read_traits(spec: str, signature: str) -> dict[str, str]:
    parts = filter(None, signature.removeprefix(spec).split("|"))
    return {key: value for key, _, value in (part.partition(":") for part in parts)}


def _find_shared(traits: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Traits that more than half of the metrics have."""
    counts = Counter(pair for each in traits for pair in each.items())
    return {key: value for (key, value), count in counts.items() if count > max(1, len(traits) / 2)}


def _join_traits(traits: Mapping[str, str]) -> str:
    return " ".join(f"{key}:{value}" for key, value in traits.items())


def render_summary(
    form: str,
    summary: Summary,
    directions: Mapping[str, Direction],
    record: dict[str, Any],
    standings: Standings | None = None,
) -> str:
    """Write the summary in one of `FORMS`.

    The standings say which systems are best; without them none is, and a table says so.
    """
    if form == "json":
        return without_halves(json_text(record, indent=2))
    signatures = {metric["spec"]: metric["signature"] for metric in record["metrics"]}
    records = [row | {"signature": signatures[row["scorer"]]} for row in summary.rows()]
    if form == "csv":
        records = [row | {"why": json.dumps(row["why"])} for row in records]
    stories = record.get("input", {}).get("stories") or max(
        map(_count_stories, summary.cells.values()), default=0
    )
    table = summary_table(summary, directions, record, standings, stories=stories)
    return render(form, records, [table], {})


def summary_table(
    summary: Summary,
    directions: Mapping[str, Direction],
    record: Mapping[str, Any],
    standings: Standings | None = None,
    *,
    stories: int,
) -> Table:
    """Give the table of metrics × systems, with what was left out of so many stories below it."""
    signatures = {metric["spec"]: metric["signature"] for metric in record["metrics"]}
    left_out = [f"* {words}" for words in left_out_words(summary, stories)]
    best = standings.best_cells if standings else set()
    unmarked = [] if standings or len(summary.systems) < 2 else [UNMARKED]
    return Table(
        ["metric", TableColumn("", align="left"), *(system or "all" for system in summary.systems)],
        [
            [line.label, ARROWS[line.direction], *_cells(line, summary.systems, best)]
            for line in summary_lines(summary, directions)
        ],
        notes=[*left_out, *unmarked, *judge_words(summary.cells, signatures)],
        cite=cite_run(record),
        comments=list(signatures.values()),
        lead=2,
        across="system",
    )


def judge_words(
    columns: Iterable[tuple[str, str]], signatures: Mapping[str, str] | None = None
) -> list[str]:
    """Say what the values of judges among scorers and aspects are worth; nothing without any."""
    listed = list(columns)
    if not any(scorer.startswith("judge") for scorer, _ in listed):
        return []  # certificates need not be looked for
    from fabula.reports.certificates import certificate_notes

    return certificate_notes(listed, signatures or {})


def _count_stories(cells: Mapping[str, SummaryCell]) -> int:
    return sum(cell.count + cell.left_out.total() for cell in cells.values())


def _cells(
    line: Line, systems: Sequence[str], best: Collection[tuple[str, str, str]]
) -> list[Cell]:
    means = [cell.mean if cell else math.nan for cell in line.cells]
    decimals, cells = decimals_for(means), []
    for system, mean, cell in zip(systems, means, line.cells, strict=True):
        text = number_text(mean, decimals) + "*" * bool(cell and cell.count and cell.left_out)
        tone: Tone = "good" if (line.scorer, line.aspect, system) in best else ""
        cells.append(Cell(mean, text, tone))
    return cells
