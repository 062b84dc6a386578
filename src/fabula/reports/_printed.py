"""Tables to print: in a terminal with words below, or as LaTeX, CSV and JSON lines."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fabula.core.table import HALVES, json_text
from fabula.reports.summary import latex_text

Tone = Literal["", "good", "bad", "other", "quiet"]
_COLOURS: Mapping[Tone, str] = {
    "": "{}",
    "good": "[bold green]{}[/]",
    "bad": "[bold red]{}[/]",
    "other": "[bold magenta]{}[/]",
    "quiet": "[dim]{}[/]",
}
_LATEX_SIGNS = {
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "−": "$-$", "+": "$+$", "<": "$<$",
    "±": r"$\pm$", "×": r"$\times$", "▼": r"$\blacktriangledown$", "▲": r"$\blacktriangle$",
    "·": r"$\cdot$", "°": r"$^\circ$",
}  # fmt: skip
# The first column, which holds names, folds only those that are longer.
_LEAST_NAME = 24


@dataclass(frozen=True)
class Toned:
    """A cell that is to be seen: good is green and bold, bad red, other violet, quiet grey."""

    text: str
    tone: Tone = ""


Cell = str | Toned


@dataclass(frozen=True)
class Printed:
    """A table with its title, a last row that adds up, and the words that belong below it.

    Columns in `left` hold words, the others numbers, which stand on the right. `remarks` are
    comments of the LaTeX form alone, such as signatures. A `tight` table has no room to spare.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    words: Sequence[str] = ()
    left: Sequence[int] = (0,)
    footer: Sequence[str] = ()
    remarks: Sequence[str] = ()
    tight: bool = False


def render_rows(
    form: str,
    rows: Sequence[dict[str, Any]],
    tables: Sequence[Printed],
    record: Mapping[str, Any],
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

    drawn = Table(
        box=box.SIMPLE_HEAD,
        padding=0 if table.tight else (0, 1),
        pad_edge=False,
        show_footer=bool(table.footer),
    )
    for place, name in enumerate(table.head):
        foot = escape(table.footer[place]) if table.footer else ""
        drawn.add_column(escape(name), foot, **_column(table, place))
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


def _column(table: Printed, place: int) -> dict[str, Any]:
    """Say how a column stands: the first and the last column of words may fold, no other."""
    longest = max([len(table.head[place]), *(len(_text(row[place])) for row in table.rows)])
    return {
        "justify": "left" if place in table.left else "right",
        "no_wrap": place not in (table.left[0], table.left[-1]),
        "overflow": "fold",
        "min_width": min(longest, _LEAST_NAME) if place == 0 else None,
    }


def latex_table(table: Printed) -> str:
    """Write a table for LaTeX with booktabs; title, words and remarks are comments."""
    shape = "".join("l" if place in table.left else "r" for place in range(len(table.head)))
    comments = (*table.remarks, table.title, *table.words)
    lines = [
        *(f"% {words}" for words in comments if words),
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        _latex_row(table.head),
        r"\midrule",
        *map(_latex_row, table.rows),
        *([r"\midrule", _latex_row(table.footer)] if table.footer else []),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _latex_row(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_latex_cell, cells)) + r" \\"


def _latex_cell(cell: Cell) -> str:
    plain = _text(cell).replace("\n", " ")
    text = "".join(_LATEX_SIGNS.get(char) or latex_text(char) for char in plain)
    return rf"\textbf{{{text}}}" if _tone(cell) == "good" else text


def _text(cell: Cell) -> str:
    return cell.text if isinstance(cell, Toned) else cell


def _tone(cell: Cell) -> Tone:
    return cell.tone if isinstance(cell, Toned) else ""


def _width() -> int:
    return max(100, shutil.get_terminal_size((100, 24)).columns)


def _colour() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ
