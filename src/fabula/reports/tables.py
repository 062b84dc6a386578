"""Tables, written in one place: for a terminal, as LaTeX, Markdown, HTML, CSV and JSON."""

from __future__ import annotations

import csv
import io
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from fabula.core.files import write_text
from fabula.core.table import json_text, without_halves
from fabula.reports.numbers import number_text
from fabula.reports.pages import break_spec, escape, tag

if TYPE_CHECKING:
    from rich.table import Table as RichTable

FORMS = ("table", "json", "jsonl", "csv", "latex")
Value = str | float | int | None
Tone = Literal["", "good", "bad", "other", "warn", "quiet"]
_STYLES: Mapping[Tone, str] = {
    "": "",
    "good": "bold green",
    "bad": "bold red",
    "other": "bold magenta",
    "warn": "yellow",
    "quiet": "dim",
}
# A first column folds only names that are longer; no table is made narrower than this.
_LEAST_NAME, _LEAST_WIDTH = 24, 80
_LATEX = {char: rf"\{char}" for char in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_LATEX_SIGNS = {
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "−": "$-$", "+": "$+$", "<": "$<$",
    "±": r"$\pm$", "×": r"$\times$", "▼": r"$\blacktriangledown$", "▲": r"$\blacktriangle$",
    "·": r"$\cdot$", "°": r"$^\circ$",
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A cell that sorts by its value but may read otherwise.

    `tone` is how it is to be seen (good is green and bold), `aside` the small print after it,
    such as an interval, and `title` what a page says under the pointer.
    """

    value: Value
    text: str | None = None
    tone: Tone = ""
    title: str | None = None
    aside: str = ""


@dataclass(frozen=True)
class TableColumn:
    """A column's name, the decimals of its numbers, and on which side it stands.

    None leaves the decimals to the number and the side to what the column holds: words stand
    left, numbers right. A column of `prose` may run over several lines in LaTeX.
    """

    name: str
    decimals: int | None = None
    align: Literal["left", "right"] | None = None
    prose: bool = False


@dataclass(frozen=True)
class Table:
    """Rows under named columns, with a title above and notes below.

    The `footer` adds up. `comments` stand in LaTeX alone, such as signatures; `rules` are the
    rows that a line parts from those above. `gap` is the room between columns in a terminal.
    """

    columns: Sequence[str | TableColumn]
    rows: Sequence[Sequence[Cell | Value]]
    title: str = ""
    notes: Sequence[str | Cell] = ()
    footer: Sequence[str] = ()
    comments: Sequence[str] = ()
    rules: Sequence[int] = ()
    gap: Literal[1, 2, 3] = 3

    @cached_property
    def heads(self) -> list[TableColumn]:
        """Every column as a `TableColumn`."""
        return [
            column if isinstance(column, TableColumn) else TableColumn(column)
            for column in self.columns
        ]

    @cached_property
    def cells(self) -> list[list[Cell]]:
        """Every row with each cell as a `Cell`."""
        return [[as_cell(value) for value in row] for row in self.rows]

    @cached_property
    def texts(self) -> list[list[str]]:
        """Every cell as it reads, asides apart."""
        return [
            [cell_text(cell, head.decimals) for cell, head in zip(row, self.heads, strict=True)]
            for row in self.cells
        ]

    @cached_property
    def right_aligned(self) -> list[bool]:
        """Whether each column stands on the right: columns of numbers do."""
        return [
            head.align == "right" if head.align else is_numeric(row[place] for row in self.cells)
            for place, head in enumerate(self.heads)
        ]


def as_cell(value: Cell | Value) -> Cell:
    """Give a plain value as a cell."""
    return value if isinstance(value, Cell) else Cell(value)


def is_numeric(cells: Iterable[Cell]) -> bool:
    """Whether cells hold numbers, and nothing but numbers."""
    values = [cell.value for cell in cells if cell.value is not None]
    return bool(values) and not any(isinstance(value, str) for value in values)


def cell_text(cell: Cell, decimals: int | None = None) -> str:
    """Write a cell as it reads: its own text, else its value with so many decimals."""
    value = cell.value
    if cell.text is not None:
        return cell.text
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}".replace("-", "−")
    return number_text(value, decimals)


def render(
    form: str,
    records: Sequence[Mapping[str, Any]],
    tables: Sequence[Table],
    about: Mapping[str, Any],
) -> str:
    """Write records as json (with what they are about), jsonl or csv, else the tables."""
    if form == "json":
        text = json_text({**about, "rows": list(records)}, indent=2)
    elif form == "jsonl":
        text = "\n".join(map(json_text, records))
    elif form == "csv":
        text = records_csv(records)
    else:
        write = latex_table if form == "latex" else text_table
        text = "\n\n".join(map(write, tables))
    return without_halves(text)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Write rows under their head for programs; what is missing is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_csv_value(value) for value in row] for row in rows)
    return out.getvalue().rstrip("\n")


def records_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Write records that share their keys as CSV."""
    return csv_text(list(records[0]), (list(row.values()) for row in records)) if records else ""


def table_csv(table: Table) -> str:
    """Write a table's values, not its texts, as CSV."""
    rows = [[cell.value for cell in row] for row in table.cells]
    return csv_text([head.name for head in table.heads], rows)


def _csv_value(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def write_table(
    folder: Path, name: str, table: Table, records: Sequence[dict[str, Any]] | None = None
) -> None:
    """Write a table as `name`.csv for programs and `name`.tex for papers.

    Where `records` are given, the CSV holds them and not the table.
    """
    rows = table_csv(table) if records is None else records_csv(records)
    write_text(folder / f"{name}.csv", without_halves(f"{rows}\n"))
    write_text(folder / f"{name}.tex", without_halves(f"{latex_table(table)}\n"))


def text_table(table: Table) -> str:
    """Write a table for a terminal: columns of words fold, numbers never do."""
    from rich.console import Console

    drawn = _rich_table(table)
    width = max(_LEAST_WIDTH, _needed_width(table), shutil.get_terminal_size((100, 24)).columns)
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    console = Console(file=io.StringIO(), width=width, force_terminal=colour)
    if table.title:
        console.print(table.title, markup=False, highlight=False)
    console.print(drawn, end="")
    for note in map(as_cell, table.notes):
        console.print(cell_text(note), markup=False, highlight=False, style=_STYLES[note.tone])
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(map(str.rstrip, text.splitlines()))


def _rich_table(table: Table) -> RichTable:
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    drawn = RichTable(
        box=box.SIMPLE_HEAD,
        # Between two cells stand the paddings of both and a blank of the box.
        padding=(0, int(table.gap > 1), 0, int(table.gap > 2)),
        pad_edge=False,
        show_footer=bool(table.footer),
    )
    for place, (head, right) in enumerate(zip(table.heads, table.right_aligned, strict=True)):
        drawn.add_column(
            Text(head.name),
            Text(table.footer[place]) if table.footer else "",
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
            min_width=min(_longest(table, place), _LEAST_NAME) if place == 0 else None,
        )
    for number, (cells, texts) in enumerate(zip(table.cells, table.texts, strict=True), 1):
        shown = [
            Text(f"{text} {cell.aside}".strip(), _STYLES[cell.tone])
            for cell, text in zip(cells, texts, strict=True)
        ]
        drawn.add_row(*shown, end_section=number in table.rules)
    return drawn


def _longest(table: Table, place: int) -> int:
    texts = [table.heads[place].name, *(row[place] for row in table.texts)]
    asides = [0, *(len(row[place].aside) for row in table.cells)]
    return max(len(line) for text in texts for line in text.split("\n")) + max(asides)


def _needed_width(table: Table) -> int:
    """How wide a table is at least, so that no number is cut off."""
    widths = [
        _longest(table, place) if right else min(_longest(table, place), _LEAST_NAME)
        for place, right in enumerate(table.right_aligned)
    ]
    return sum(widths) + len(widths) * table.gap + 1


def latex_text(text: str) -> str:
    """Write text so that LaTeX prints it as it is."""
    return "".join(_LATEX.get(char, char) for char in text)


def latex_table(table: Table) -> str:
    """Write a table for LaTeX with booktabs; title, notes and comments are LaTeX comments."""
    notes = [cell_text(as_cell(note)) for note in table.notes]
    heads = [Cell(head.name) for head in table.heads]
    body = [
        _latex_row([(cell, head.decimals) for cell, head in zip(row, table.heads, strict=True)])
        for row in table.cells
    ]
    for place in sorted(table.rules, reverse=True):
        body.insert(place, r"\midrule")
    footer = [_latex_row([(Cell(text), None) for text in table.footer])] if table.footer else []
    lines = [
        *(f"% {line}" for line in (*table.comments, table.title, *notes) if line),
        rf"\begin{{tabular}}{{{_latex_shape(table)}}}",
        r"\toprule",
        _latex_row([(head, None) for head in heads]),
        r"\midrule",
        *body,
        *([r"\midrule", *footer] if footer else []),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _latex_shape(table: Table) -> str:
    return "".join(
        r"p{0.5\linewidth}" if head.prose else "r" if right else "l"
        for head, right in zip(table.heads, table.right_aligned, strict=True)
    )


def _latex_row(cells: Sequence[tuple[Cell, int | None]]) -> str:
    return " & ".join(_latex_cell(cell, decimals) for cell, decimals in cells) + r" \\"


def _latex_cell(cell: Cell, decimals: int | None) -> str:
    text = _latex_signs(cell_text(cell, decimals))
    text = rf"\textbf{{{text}}}" if cell.tone == "good" else text
    return rf"{text} {{\scriptsize {_latex_signs(cell.aside)}}}" if cell.aside else text


def _latex_signs(text: str) -> str:
    return "".join(_LATEX_SIGNS.get(char) or latex_text(char) for char in text.replace("\n", " "))


def markdown_table(table: Table) -> str:
    """Write a table as Markdown; title and notes are left to the page."""
    sides = "".join("---:|" if right else "---|" for right in table.right_aligned)
    rows = [[head.name for head in table.heads], *table.texts]
    escaped_rows = [[text.replace("|", "\\|") for text in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in escaped_rows]
    return "\n".join([lines[0], f"|{sides}", *lines[1:]])


def html_table(table: Table, *, kind: str = "sortable") -> str:
    """Write a table whose heads sort it, the first column naming the rows."""
    right = table.right_aligned
    heads = [
        tag(
            "th",
            tag("button", break_spec(head.name), type="button", class_="sort"),
            scope="col",
            class_=_html_class(place, right[place]),
            data_first="descending" if right[place] else "ascending",
        )
        for place, head in enumerate(table.heads)
    ]
    lines = [
        tag("tr", "".join(
            _html_cell(cell, text, place, right[place])
            for place, (cell, text) in enumerate(zip(cells, texts, strict=True))
        ))
        for cells, texts in zip(table.cells, table.texts, strict=True)
    ]  # fmt: skip
    inside = tag("thead", tag("tr", "".join(heads))) + tag("tbody", "\n".join(lines))
    return tag("table", inside, class_=kind)


def _html_class(place: int, right: bool) -> str | None:
    return "system" if place == 0 else "num" if right else None


def _html_cell(cell: Cell, text: str, place: int, right: bool) -> str:
    kinds = [_html_class(place, right), f"tone-{cell.tone}" if cell.tone else None]
    shown = escape(f"{text} {cell.aside}".strip())
    if cell.tone and cell.title:
        shown += tag("span", f" ({escape(cell.title)})", class_="unseen")
    number = isinstance(cell.value, int | float) and math.isfinite(cell.value)
    return tag(
        "td" if place else "th",
        shown,
        scope=None if place else "row",
        class_=" ".join(filter(None, kinds)) or None,
        title=cell.title,
        data_value=f"{cell.value:.9g}" if number else None,
    )
