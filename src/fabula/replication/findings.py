"""What analyses find, and their report: in a terminal, as JSON, as Markdown, and as a page."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula._version import __version__
from fabula.meta.resampling import Estimate
from fabula.reports.figures.intervals import Interval, draw_intervals
from fabula.reports.study_blocks import Block, FigureBlock, Section, TableBlock, Words
from fabula.reports.study_page import write_study
from fabula.reports.tables import Cell, Table, TableColumn, render

if TYPE_CHECKING:
    from fabula.replication.analyses import AnalysesStudy

JSON_FILE, MARKDOWN_FILE = "study.json", "study.md"

StudyCell = str | int | float | Estimate | None
StudyRow = list[StudyCell]


@dataclass(frozen=True)
class StudyTable:
    """A table of figures; `name` is its file's, `decimals` those of its figures.

    `drawn` says what its estimates are where the page draws them as well, row by row.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[StudyCell]]
    note: str = ""
    decimals: int = 3
    drawn: str = ""

    def plain(self) -> dict[str, Any]:
        """Give the table for JSON: one object a row."""
        rows = [dict(zip(self.columns, map(_plain_cell, row), strict=True)) for row in self.rows]
        return {"name": self.name, "title": self.title, "note": self.note, "rows": rows}

    def flatten(self) -> list[dict[str, StudyCell]]:
        """Give the table for CSV: an estimate's ends are columns of their own."""
        estimated = {
            name
            for at, name in enumerate(self.columns)
            if any(isinstance(row[at], Estimate) for row in self.rows)
        }
        flat: list[dict[str, StudyCell]] = []
        for row in self.rows:
            record: dict[str, StudyCell] = {}
            for name, cell in zip(self.columns, row, strict=True):
                if name not in estimated:
                    record[name] = _value(cell)
                elif isinstance(cell, Estimate):
                    record |= cell.columns(name)
                else:  # a printed value, say, has no interval
                    record |= {name: cell, f"{name}_low": None, f"{name}_high": None}
            flat.append(record)
        return flat


# What an analysis gives: words, and tables.
Findings = tuple[Sequence[str], Sequence[StudyTable]]


@dataclass(frozen=True)
class StudyFinding:
    """What one analysis found, in words and tables; or what it needs."""

    analysis: str
    title: str
    words: Sequence[str] = ()
    tables: Sequence[StudyTable] = ()
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


def _plain_cell(cell: StudyCell) -> Any:
    if isinstance(cell, Estimate):
        return cell.plain()
    return None if isinstance(cell, float) and not math.isfinite(cell) else cell


def analyses_text(findings: Sequence[StudyFinding]) -> str:
    """Write all tables for a terminal."""
    parts = []
    for finding in findings:
        words = [f"not run: {finding.needs}"] if finding.needs else list(finding.words)
        parts.append("\n".join([finding.title, *(f"  {line}" for line in words)]))
        tables = [
            Table(
                [
                    table.columns[0],
                    *(TableColumn(name, align="right") for name in table.columns[1:]),
                ],
                _texts(table),
                table.title,
                [table.note] if table.note else [],
            )
            for table in finding.tables
        ]
        if tables:
            parts.append(render("table", [], tables, {}))
    return "\n\n".join(parts)


def analyses_json(study: AnalysesStudy, findings: Sequence[StudyFinding]) -> dict[str, Any]:
    """Give everything for programs; what is undefined is null."""
    return {
        "title": study.title,
        "signature": signature(study),
        "seed": study.seed,
        "resamples": study.resamples,
        "analyses": [finding.plain() for finding in findings],
    }


def analyses_markdown(study: AnalysesStudy, findings: Sequence[StudyFinding]) -> str:
    """Write the report as Markdown."""
    lines = [f"# {study.title}", "", *_paragraphs(study.about)]
    for finding in findings:
        lines += [f"## {finding.title}", ""]
        lines += _paragraphs([f"Not run: {finding.needs}."] if finding.needs else finding.words)
        for table in finding.tables:
            lines += [f"### {table.title}", "", _line(table.columns)]
            lines += [_line(["---", *["---:"] * (len(table.columns) - 1)])]
            lines += [*map(_line, _texts(table)), ""]
            lines += _paragraphs([table.note] if table.note else [])
    return "\n".join([*lines, f"`{signature(study)}`"]) + "\n"


def write_analyses(
    study: AnalysesStudy,
    findings: Sequence[StudyFinding],
    folder: Path,
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> Path:
    """Write the page with its tables, JSON and Markdown into a folder; give the page's path."""
    plain = json.dumps(
        analyses_json(study, findings), indent=1, ensure_ascii=False, allow_nan=False
    )
    return write_study(
        folder,
        title=study.title,
        lead=Words(list(study.about)),
        sections=[_section(finding) for finding in findings],
        facts=_facts(findings),
        signatures=[signature(study)],
        files={JSON_FILE: f"{plain}\n", MARKDOWN_FILE: analyses_markdown(study, findings)},
        inputs=inputs,
        overwrite=overwrite,
    )


def signature(study: AnalysesStudy) -> str:
    """What the figures depend on, on one line."""
    return (
        f"study|{study.kind}|analyses:{','.join(study.analyses)}|resamples:{study.resamples}|"
        f"seed:{study.seed}|fabula:{__version__}"
    )


def _facts(findings: Sequence[StudyFinding]) -> dict[str, str | int]:
    tables = sum(len(finding.tables) for finding in findings)
    return {
        "analyses": sum(not finding.needs for finding in findings),
        "not run": sum(bool(finding.needs) for finding in findings),
        "tables": tables,
    }


def _section(finding: StudyFinding) -> Section:
    words = [f"Not run: {finding.needs}."] if finding.needs else list(finding.words)
    blocks: list[Block] = [Words(words)] if words else []
    for table in finding.tables:
        blocks += [_figure(table)] if table.drawn else []
        blocks.append(_block(table))
    return Section(finding.analysis, finding.title, blocks)


def _block(table: StudyTable) -> TableBlock:
    """Give a table for the page, where an interval stands behind its value."""
    rows = [
        [Cell(_value(cell), text) for cell, text in zip(row, texts, strict=True)]
        for row, texts in zip(table.rows, _texts(table), strict=True)
    ]
    return TableBlock(
        table.title, list(table.columns), rows, table.name, table.note,
        records=table.flatten() or None,
    )  # fmt: skip


def _figure(table: StudyTable) -> FigureBlock:
    """Draw the estimates of a table, column by column."""
    rows = [
        Interval(str(row[0]), cell.value, cell.low, cell.high, group=name)
        for at, name in enumerate(table.columns)
        for row in table.rows
        if isinstance(cell := row[at], Estimate)
    ]
    same: Any = {"title": table.title, "x_label": table.drawn, "decimals": table.decimals}
    svg, narrow = (draw_intervals(rows, **same, sort=False, width=width) for width in (860, 380))
    return FigureBlock(table.title, svg, f"{table.name}_figure", narrow=narrow)


def _value(cell: StudyCell) -> str | float | int | None:
    return cell.value if isinstance(cell, Estimate) else cell


def _texts(table: StudyTable) -> list[list[str]]:
    return [[_text(cell, table.decimals) for cell in row] for row in table.rows]


def _text(cell: StudyCell, decimals: int) -> str:
    match cell:
        case None:
            return "–"
        case str():
            return cell
        case int():
            return f"{cell:,}"
        case float():
            return _number(cell, decimals)
    if math.isnan(cell.low):
        return _number(cell.value, decimals)
    ends = f"{_number(cell.low, decimals)}, {_number(cell.high, decimals)}"
    return f"{_number(cell.value, decimals)} [{ends}]"


def _number(value: float, decimals: int) -> str:
    return f"{value:.{decimals}f}".replace("-", "−") if math.isfinite(value) else "–"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _paragraphs(words: Sequence[str]) -> list[str]:
    return [line for paragraph in words for line in (paragraph, "")]
