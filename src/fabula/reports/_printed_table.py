"""Tables to print: in a terminal with words below, or as LaTeX, CSV and JSON lines."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fabula.core.table import HALVES, json_text
from fabula.reports.summary import latex_text

Tone = Literal["", "good", "bad", "quiet"]
_COLOURS = {"": "{}", "good": "[bold green]{}[/]", "bad": "[bold red]{}[/]", "quiet": "[dim]{}[/]"}
_SIGNS = {
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "–": "--",
    "−": "$-$",
    "<": "$<$",
    "±": r"$\pm$",
}


@dataclass(frozen=True)
class Toned:
    """A cell that is to be seen: good is green and bold, bad red, quiet grey."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Printed:
    """A table with its title and the words that belong below it.

    The first `left` columns hold words, the others numbers, which stand on the right.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str | Toned, ...], ...]
    title: str = ""
    words: tuple[str, ...] = ()
    left: int = 1


def render_rows(
    form: str, rows: Sequence[dict[str, Any]], tables: Sequence[Printed], record: dict[str, Any]
) -> str:
    """Write rows as json (with the record around them), jsonl or csv, else the tables."""
    if form == "json":
        text = json_text({**record, "rows": list(rows)}, indent=2)
    elif form == "jsonl":
        text = "\n".join(map(json_text, rows))
    elif form == "csv":
        text = csv_text(rows)
    else:
        write = latex_table if form == "latex" else printed_table
        text = "\n\n".join(map(write, tables))
    return text.encode("utf-8", HALVES).decode()


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Write rows that share their keys; what is None is an empty cell."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def printed_table(table: Printed) -> str:
    """Write a table for a terminal."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    drawn = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for place, name in enumerate(table.head):
        side: Literal["left", "right"] = "left" if place < table.left else "right"
        drawn.add_column(escape(name), justify=side, no_wrap=place > 0)
    drawn.columns[0].overflow = "fold"
    for row in table.rows:
        drawn.add_row(*(_COLOURS[_tone(cell)].format(escape(_text(cell))) for cell in row))
    console = Console(file=io.StringIO(), width=_width(), force_terminal=_colour())
    if table.title:
        console.print(table.title, markup=False, highlight=False)
    console.print(drawn, end="")
    for words in table.words:
        console.print(words, markup=False, highlight=False)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(map(str.rstrip, text.splitlines()))


def latex_table(table: Printed) -> str:
    """Write a table for LaTeX with booktabs; title and words are comments."""
    right = len(table.head) - table.left
    lines = [
        *(f"% {words}" for words in (table.title, *table.words) if words),
        rf"\begin{{tabular}}{{{'l' * table.left}{'r' * right}}}",
        r"\toprule",
        " & ".join(map(_latex_cell, table.head)) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, row)) + r" \\" for row in table.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _latex_cell(cell: str | Toned) -> str:
    text = "".join(_SIGNS.get(char) or latex_text(char) for char in _text(cell))
    return rf"\textbf{{{text}}}" if _tone(cell) == "good" else text


def _text(cell: str | Toned) -> str:
    return cell.text if isinstance(cell, Toned) else cell


def _tone(cell: str | Toned) -> Tone:
    return cell.tone if isinstance(cell, Toned) else ""


def _width() -> int:
    return max(80, shutil.get_terminal_size((120, 24)).columns)


def _colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
