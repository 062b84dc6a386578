"""The report of StoR3's analyses: in a terminal, as JSON, as Markdown, and as a page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fabula._version import __version__
from fabula.core.files import unwritable
from fabula.meta.resampling import Estimate
from fabula.replication.storyer import Finding, StoryerStudy, Table
from fabula.replication.storyer._findings import Cell
from fabula.reports._study_blocks import Block, Section, TableBlock, Words
from fabula.reports._study_page import write_study
from fabula.reports.tables import Cell as PageCell
from fabula.reports.tables import Table as PageTable
from fabula.reports.tables import TableColumn, render

JSON_FILE, MARKDOWN_FILE = "study.json", "study.md"


def analyses_text(findings: Sequence[Finding]) -> str:
    """Write all tables for a terminal."""
    parts = []
    for one in findings:
        words = [f"needs: {one.needs}"] if one.needs else list(one.words)
        parts.append("\n".join([one.title, *(f"  {line}" for line in words)]))
        tables = [
            PageTable(
                [
                    table.columns[0],
                    *(TableColumn(name, align="right") for name in table.columns[1:]),
                ],
                _texts(table),
                table.title,
                [table.note] if table.note else [],
            )
            for table in one.tables
        ]
        if tables:
            parts.append(render("table", [], tables, {}))
    return "\n\n".join(parts)


def analyses_json(study: StoryerStudy, findings: Sequence[Finding]) -> dict[str, Any]:
    """Give everything for programs; what is undefined is null."""
    return {
        "title": study.title,
        "signature": signature(study),
        "seed": study.seed,
        "resamples": study.resamples,
        "analyses": [one.plain() for one in findings],
    }


def analyses_markdown(study: StoryerStudy, findings: Sequence[Finding]) -> str:
    """Write the report as Markdown."""
    lines = [f"# {study.title}", "", *_paragraphs(study.about)]
    for one in findings:
        lines += [f"## {one.title}", ""]
        lines += _paragraphs([f"Not run: it needs {one.needs}."] if one.needs else one.words)
        for table in one.tables:
            lines += [f"### {table.title}", "", _line(table.columns)]
            lines += [_line(["---", *["---:"] * (len(table.columns) - 1)])]
            lines += [*map(_line, _texts(table)), ""]
            lines += _paragraphs([table.note] if table.note else [])
    return "\n".join([*lines, f"`{signature(study)}`"]) + "\n"


def write_analyses(study: StoryerStudy, findings: Sequence[Finding], folder: Path) -> Path:
    """Write the page with its tables, JSON and Markdown into a folder; give the page's path."""
    path = write_study(
        folder,
        title=study.title,
        lead=Words(list(study.about)),
        sections=[_section(one) for one in findings],
        facts=_facts(findings),
        signatures=[signature(study)],
    )
    plain = json.dumps(analyses_json(study, findings), indent=1, ensure_ascii=False)
    texts: Mapping[str, str] = {
        JSON_FILE: f"{plain}\n",
        MARKDOWN_FILE: analyses_markdown(study, findings),
    }
    for name, text in texts.items():
        try:
            (folder / name).write_text(text, encoding="utf-8", errors="replace")
        except OSError as error:
            raise unwritable(folder / name, error) from error
    return path


def signature(study: StoryerStudy) -> str:
    """What the figures depend on, on one line."""
    return (
        f"study|storyer|analyses:{','.join(study.analyses)}|resamples:{study.resamples}|"
        f"seed:{study.seed}|fabula:{__version__}"
    )


def _facts(findings: Sequence[Finding]) -> dict[str, str | int]:
    tables = sum(len(one.tables) for one in findings)
    return {
        "analyses": sum(not one.needs for one in findings),
        "not run": sum(bool(one.needs) for one in findings),
        "tables": tables,
    }


def _section(one: Finding) -> Section:
    words = [f"Not run: it needs {one.needs}."] if one.needs else list(one.words)
    blocks: list[Block] = [Words(words)] if words else []
    blocks += [_block(table) for table in one.tables]
    return Section(one.analysis, one.title, blocks)


def _block(table: Table) -> TableBlock:
    """Give a table for the page: an interval is a column of its own ends in the CSV alone."""
    rows = [
        [PageCell(_value(cell), text) for cell, text in zip(row, texts, strict=True)]
        for row, texts in zip(table.rows, _texts(table), strict=True)
    ]
    return TableBlock(table.title, list(table.columns), rows, table.name, table.note)


def _value(cell: Cell) -> str | float | int | None:
    return cell.value if isinstance(cell, Estimate) else cell


def _texts(table: Table) -> list[list[str]]:
    return [[_text(cell, table.decimals) for cell in row] for row in table.rows]


def _text(cell: Cell, decimals: int) -> str:
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
    return [line for one in words for line in (one, "")]
