"""The report of a run, written out: header, tables, signatures, citations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fabula.core.card import ARROWS, Card
from fabula.core.errors import UserError
from fabula.core.score import Status
from fabula.core.story import count_text
from fabula.reports.pages import escape, isolate_name, tag
from fabula.reports.run_data import ReportColumn, ReportData
from fabula.reports.standings import Standings
from fabula.reports.summary import group_left_out
from fabula.reports.tables import Cell, Table, TableColumn, Value
from fabula.scoring.catalogue import METRICS, label_scorers
from fabula.text.escapes import latex_text

# Paper is narrower than a screen that scrolls: printed tables have so many columns each.
_PRINTED_COLUMNS = 7
_BLOCKS = {"Metrics": False, "Baselines, which know nothing of stories": True}
# Names of metrics that are longer together fold away behind their count.
_LONGEST_NAMES = 120
_WORDS = {"higher": "higher is better", "lower": "lower is better", "descriptive": "descriptive"}


def facts(data: ReportData) -> str:
    """Say what was scored, when, and with which version."""
    metrics = {column.scorer for column in data.columns if not column.is_baseline}
    baselines = {column.scorer for column in data.columns if column.is_baseline}
    counts = {
        "stories": f"{data.count:,}",
        "systems": f"{len(data.systems):,}",
        "items": f"{data.items:,}" if data.items else "–",
        "metrics": f"{len(metrics):,}",
        "baselines": f"{len(baselines):,}",
    }
    pairs = [tag("div", tag("dt", name) + tag("dd", value)) for name, value in counts.items()]
    return tag("dl", "".join(pairs), class_="facts")


def occasion(record: dict[str, Any]) -> str:
    """Say when the run ended and what made it."""
    finished = datetime.fromisoformat(record["finished"])
    when = f"{finished.day} {finished:%B %Y, %H:%M}"
    machine = tag("time", f"{when} {finished:%Z}".strip(), datetime=record["finished"])
    return f"Scored {machine} with Fabula {escape(record['fabula'])}"


def systems_html(standings: Standings, cards: dict[str, Card]) -> str:
    """Write the main table, systems × columns, as two blocks with heads that sort."""
    tables = [
        _scrolling(_systems_part(standings, cards, block), f"Means by system: {words}")
        for words, block in _blocks(standings).items()
        if block
    ]
    return tag("div", "\n".join(tables), class_="blocks")


def printed_html(standings: Standings, cards: dict[str, Card]) -> str:
    """Write the main aspects of the main table again, in parts that fit on paper."""
    parts = []
    for block in _blocks(standings).values():
        shown = [number for number in block if standings.columns[number].main]
        for start in range(0, len(shown), _PRINTED_COLUMNS):
            parts.append(shown[start : start + _PRINTED_COLUMNS])
    return "\n".join(_systems_part(standings, cards, part) for part in parts)


def _blocks(standings: Standings) -> dict[str, list[int]]:
    """Places of the columns of each block, by what the block is called."""
    return {
        words: [
            number
            for number, column in enumerate(standings.columns)
            if column.is_baseline is baseline
        ]
        for words, baseline in _BLOCKS.items()
    }


def _systems_part(standings: Standings, cards: dict[str, Card], numbers: Sequence[int]) -> str:
    columns = [standings.columns[number] for number in numbers]
    words = next(words for words, kind in _BLOCKS.items() if kind is columns[0].is_baseline)
    corner = tag("th", _sorting("system"), scope="col", class_="system")
    heads = [_head(column, cards.get(column.scorer)) for column in columns]
    rows = []
    for place, system in enumerate(standings.systems):
        cells = [_cell(standings, place, number) for number in numbers]
        first = tag("th", isolate_name(system), scope="row", class_="system")
        rows.append(tag("tr", first + "".join(cells), data_place=place))
    head = tag("thead", tag("tr", corner + "".join(heads)))
    body = tag("tbody", "\n".join(rows))
    return tag("table", tag("caption", words) + head + body, class_="systems")


def _sorting(label: str) -> str:
    return tag("button", label, type="button", class_="sort")


def _head(column: ReportColumn, card: Card | None) -> str:
    sign = tag("span", ARROWS[column.direction], class_="arrow", aria_hidden="true")
    words = tag("span", f", {_WORDS[column.direction]}", class_="unseen")
    label = tag("span", escape(column.title), class_="metric") + sign + words
    return tag(
        "th",
        _sorting(label),
        scope="col",
        class_=_kind(column),
        title=f"{column.label}: {card.title}, {_WORDS[column.direction]}" if card else column.label,
        data_first="ascending" if column.direction == "lower" else "descending",
    )


def _kind(column: ReportColumn) -> str:
    return "num" if column.main else "num other-aspect"


def _cell(standings: Standings, place: int, number: int) -> str:
    """Write a mean over its interval, coloured by how good it is among the systems."""
    kind = _kind(standings.columns[number])
    mean = float(standings.estimates.value[place, number])
    if not math.isfinite(mean):
        return tag("td", tag("span", "–", class_="mean"), class_=kind)
    kind += " best" if standings.best[number] == place else ""
    strength = standings.strengths[number][place]
    kind += "" if strength is None else " shaded"
    return tag(
        "td",
        _mean(standings, place, number) + _interval(standings, place, number),
        class_=kind,
        style=None if strength is None else f"--strength:{strength:.2f}",
        data_value=f"{mean:.9g}",
    )


def _mean(standings: Standings, place: int, number: int) -> str:
    shown = standings.number(float(standings.estimates.value[place, number]), number)
    if standings.best[number] == place:
        shown = tag("strong", shown + tag("span", " best", class_="unseen"))
    if standings.left_out[place, number]:
        shown += tag("a", "*", href="#left-out", aria_label="scores left out", class_="star")
    return tag("span", shown, class_="mean")


def _interval(standings: Standings, place: int, number: int) -> str:
    low, high = standings.estimates[place, number].interval
    ends = f"{standings.number(low, number)}–{standings.number(high, number)}"
    return tag("span", ends if math.isfinite(low) else "no interval", class_="interval")


@dataclass(frozen=True)
class StatusRow:
    """How many stories got a status from a scorer, and the first note that says why."""

    scorer: str
    status: str
    count: int
    note: str


def status_rows(data: ReportData) -> list[StatusRow]:
    """What every scorer left out, then what it read only in part."""
    summary = data.summary
    missing = [
        StatusRow(scorer, status, count, summary.notes[scorer, status])
        for (scorer, status), count in sorted(summary.left_out().items())
    ]
    least: dict[str, float] = {}
    for (scorer, _), cells in summary.cells.items():
        coverage = min((cell.coverage for cell in cells.values() if cell.count), default=1.0)
        least[scorer] = min(coverage, least.get(scorer, 1.0))
    parts = [
        StatusRow(scorer, str(Status.OK), _count_scored(data, scorer), _part(coverage))
        for scorer, coverage in least.items()
        if coverage < 1
    ]
    return missing + parts


def _part(coverage: float) -> str:
    return f"some stories were read in part; the least share was {coverage:.2f}"


def _count_scored(data: ReportData, scorer: str) -> int:
    return max(
        sum(cell.count for cell in cells.values())
        for (name, _), cells in data.summary.cells.items()
        if name == scorer
    )


def statuses_table(data: ReportData) -> Table:
    """Give every reason for which scores are missing, or rest on a part of a text, once."""
    stories = data.count
    rows: list[list[Cell | Value]] = [
        [group.reason(stories), str(group.status), group.most, group.names(len(group.counts))]
        for group in group_left_out(data.summary)
    ]
    partly = [row for row in status_rows(data) if row.status == Status.OK]
    labels = label_scorers((row.scorer, "") for row in partly)
    if partly:
        named = [f"{labels[row.scorer, '']} ({row.note.rpartition(' ')[2]})" for row in partly]
        words = "some stories were read in part; beside each metric the least share"
        rows.append([words, str(Status.OK), max(row.count for row in partly), ", ".join(named)])
    why, metrics = (TableColumn(name, prose=True) for name in ("why", "metrics"))
    return Table([why, "status", "stories", metrics], rows)


def statuses_html(data: ReportData) -> str:
    """Write what was left out and why, or that nothing was."""
    table = statuses_table(data)
    if not table.rows:
        return tag("p", "Nothing: every scorer gave every story a value and read all of it.")
    heads = [tag("th", head.name, scope="col") for head in table.heads]
    lines = []
    for why, status, stories, metrics in table.texts:
        count = count_text(len(metrics.split(", ")), "metric")
        who = escape(metrics)
        if len(metrics) > _LONGEST_NAMES:
            who = tag("details", tag("summary", count) + who)
        lines.append(
            tag("th", escape(why), scope="row")
            + tag("td", tag("code", escape(status)))
            + tag("td", stories, class_="num")
            + tag("td", who)
        )
    head, body = (
        tag("thead", tag("tr", "".join(heads))),
        tag("tbody", "\n".join(tag("tr", line) for line in lines)),
    )
    return _scrolling(tag("table", head + body, class_="plain"), "Left out")


def _scrolling(table: str, label: str) -> str:
    """Let a wide table scroll by itself, by keyboard as well."""
    return tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=label)


def signatures(data: ReportData) -> str:
    """List the signatures that belong beside the numbers."""
    lines = []
    for metric in data.metrics:
        note = (
            tag("span", " computed for this report", class_="quiet") if metric.get("added") else ""
        )
        lines.append(tag("li", tag("code", escape(metric["signature"])) + note))
    return tag("ul", "\n".join(lines), class_="signatures")


def versions(record: dict[str, Any]) -> str:
    """List versions and checksums of the run."""
    question = record.get("question", {})
    sums = {"input": question.get("input", ""), **record.get("files", {})}
    pairs = {**record.get("versions", {}), **{f"{k} (SHA-256)": v for k, v in sums.items() if v}}
    lines = [
        tag("div", tag("dt", escape(name)) + tag("dd", tag("code", escape(str(value)))))
        for name, value in pairs.items()
    ]
    return tag("dl", "\n".join(lines), class_="versions")


def cards_of(specs: Iterable[str]) -> dict[str, Card]:
    """Cards of the metrics that are installed here, by spec."""
    cards = {}
    for spec in specs:
        try:
            cards[spec] = METRICS.build(spec).card
        except UserError:
            # A person, or a metric of a package that this machine does not have.
            continue
    return cards


def citations(record: dict[str, Any], cards: dict[str, Card]) -> str:
    """Write BibTeX entries; those of metrics hold the card's words for their paper."""
    version, year = record["fabula"], str(record.get("finished", ""))[:4]
    own = {
        "author": "{The Fabula authors}",
        "title": "{Fabula}: an open system for evaluating stories",
        "version": version,
        "year": year,
    }
    entries = [_entry("software", "fabula", own)]
    for paper, spec in papers(cards).items():
        key = spec.partition("(")[0]
        entries.append(_entry("misc", f"fabula-{key}", {"note": latex_text(paper)}))
    return "\n\n".join(entries)


def papers(cards: dict[str, Card]) -> dict[str, str]:
    """Papers with the first metric that is of them, each once; a count has none."""
    first_specs: dict[str, str] = {}
    for spec, card in cards.items():
        if not card.paper.startswith("None"):
            first_specs.setdefault(card.paper, spec)
    return first_specs


def _entry(kind: str, key: str, fields: dict[str, str]) -> str:
    lines = [f"  {name:7} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{key},", *lines, "}"])
