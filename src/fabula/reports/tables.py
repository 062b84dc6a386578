"""Tables, written in one place: for a terminal, as LaTeX, Markdown, HTML, CSV and JSON."""

from __future__ import annotations

import csv
import io
import math
import os
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from fabula.core.table import json_text, without_halves
from fabula.reports.numbers import number_text, share_decimals
from fabula.text.escapes import (
    TerminalText,
    comment_text,
    latex_text,
    line_text,
    terminal_text,
)
from fabula.text.escapes import csv_text as csv_cell

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
# Words fold only where they are longer, heads of numbers too; no table is narrower than the last.
_LEAST_WORDS, _LEAST_HEAD, _LEAST_WIDTH = 24, 30, 40


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

    The `footer` adds up, `cite` is what to quote beside the numbers. `comments` stand in LaTeX
    alone; `rules` are the rows that a line parts from those above, `gap` the room between columns
    in a terminal. The first `lead` columns name a row; where the others are alike, `across` says
    what they are (system), so that a terminal may show them as rows.
    """

    columns: Sequence[str | TableColumn]
    rows: Sequence[Sequence[Cell | Value]]
    title: str = ""
    notes: Sequence[str | Cell] = ()
    footer: Sequence[str] = ()
    cite: str = ""
    comments: Sequence[str] = ()
    rules: Sequence[int] = ()
    gap: Literal[1, 2, 3] = 3
    lead: int = 1
    across: str = ""

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
        """Every cell as it reads, asides apart; numbers of a column share their decimals."""
        decimals = [
            head.decimals if head.decimals is not None else self._share_decimals(place)
            for place, head in enumerate(self.heads)
        ]
        return [
            [cell_text(cell, places) for cell, places in zip(row, decimals, strict=True)]
            for row in self.cells
        ]

    def _share_decimals(self, place: int) -> int | None:
        cells = [row[place] for row in self.cells if row[place].text is None]
        return share_decimals(cell.value for cell in cells if isinstance(cell.value, float))

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
    elif form == "latex":
        text = "\n\n".join(map(latex_table, tables))
    else:
        return TerminalText("\n\n".join(map(text_table, tables)))
    return without_halves(text)


def csv_text(head: Sequence[str], rows: Iterable[Sequence[Value]]) -> str:
    """Write rows under their head for programs; what is missing is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(csv_cell, head))
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
    if isinstance(value, str):
        return csv_cell(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


def text_table(table: Table) -> TerminalText:
    """Write a table for a terminal, which cuts nothing off.

    What is too wide comes in parts, or turned around where that takes fewer lines. Words fold,
    numbers never do.
    """
    from rich.console import Console

    room = max(_LEAST_WIDTH, shutil.get_terminal_size((100, 24)).columns)
    parts = _fit(table, room)
    width = max(room, *(_total_width(part, _least_widths(part)) for part in parts))
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    console = Console(file=io.StringIO(), width=width, force_terminal=colour)
    if table.title:
        console.print(terminal_text(table.title), markup=False, highlight=False)
    for part in parts:
        console.print(_rich_table(part, width), end="")
    for note in map(as_cell, table.notes):
        words = terminal_text(cell_text(note))
        console.print(words, markup=False, highlight=False, style=_STYLES[note.tone])
    if table.cite:
        # One line, however long: it is to be copied.
        cited = f"cite: {line_text(table.cite)}"
        console.print(cited, markup=False, highlight=False, style="dim", soft_wrap=True)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    lines = "\n".join(line.rstrip() for line in text.rstrip("\n").split("\n"))
    return TerminalText(lines.replace("\n\n\n", "\n\n"))


def _fit(table: Table, room: int) -> list[Table]:
    """Give the table, or parts of it that fit; a grid may be turned around for it."""
    if _total_width(table, _least_widths(table)) <= room:
        return [table]
    ways = [_split(one, room) for one in ([table, _turn(table)] if table.across else [table])]
    return min(ways, key=lambda parts: sum(len(part.rows) + 3 for part in parts))


def _turn(table: Table) -> Table:
    """Make rows of the columns of a grid, and columns of its rows."""
    lead = table.lead
    names = [" ".join(filter(None, texts[:lead])) for texts in table.texts]
    rows: list[list[Cell | Value]] = [[head.name] for head in table.heads[lead:]]
    for cells, texts in zip(table.cells, table.texts, strict=True):
        for row, cell, text in zip(rows, cells[lead:], texts[lead:], strict=True):
            row.append(replace(cell, text=text))
    return Table([table.across, *(TableColumn(name, align="right") for name in names)], rows)


def _split(table: Table, room: int) -> list[Table]:
    """Part a table between columns, as many in each part as fit beside those that name the row."""
    least, first = _least_widths(table), list(range(table.lead))
    groups: list[list[int]] = [[]]
    for place in range(table.lead, len(least)):
        wanted = [least[number] for number in (*first, *groups[-1], place)]
        if groups[-1] and _total_width(table, wanted) > room:
            groups.append([])
        groups[-1].append(place)
    return [_choose_columns(table, first + group) for group in groups]


def _choose_columns(table: Table, places: Sequence[int]) -> Table:
    return replace(
        table,
        columns=[table.heads[place] for place in places],
        rows=[[row[place] for place in places] for row in table.cells],
        footer=[table.footer[place] for place in places] if table.footer else (),
    )


def _shown_texts(table: Table, place: int) -> list[str]:
    """Cells of a column as a terminal shows them, the small print after them."""
    return [
        line_text(f"{texts[place]} {cells[place].aside}".strip())
        for texts, cells in zip(table.texts, table.cells, strict=True)
    ]


def _measure(table: Table) -> list[tuple[int, int]]:
    """How wide each column is at least and at best, wide letters counting twice.

    Numbers are never folded; heads are between their words.
    """
    from rich.cells import cell_len

    widths = []
    for place, (head, right) in enumerate(zip(table.heads, table.right_aligned, strict=True)):
        name = line_text(head.name)
        shown = [*_shown_texts(table, place), *table.footer[place : place + 1]]
        cells = max(map(cell_len, shown), default=0)
        wanted = max(cell_len(name), cells)
        word = max(map(cell_len, name.split()), default=0)
        least = max(cells, min(word, _LEAST_HEAD)) if right else min(wanted, _LEAST_WORDS)
        widths.append((least, wanted))
    return widths


def _least_widths(table: Table) -> list[int]:
    return [least for least, _ in _measure(table)]


def _total_width(table: Table, widths: Sequence[int]) -> int:
    return sum(widths) + len(widths) * table.gap + 1


def _share_width(table: Table, room: int) -> list[int]:
    """Give columns what they want, and where that is too much the narrow ones first."""
    measured = _measure(table)
    widths = [least for least, _ in measured]
    for _ in range(room - _total_width(table, widths)):
        narrow = [place for place, (_, wanted) in enumerate(measured) if widths[place] < wanted]
        if narrow:
            widths[min(narrow, key=widths.__getitem__)] += 1
    return widths


def _rich_table(table: Table, room: int) -> RichTable:
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
    for place, (head, width) in enumerate(zip(table.heads, _share_width(table, room), strict=True)):
        drawn.add_column(
            Text(line_text(head.name)),
            Text(line_text(table.footer[place])) if table.footer else "",
            justify="right" if table.right_aligned[place] else "left",
            overflow="fold",
            width=width,
        )
    columns = [_shown_texts(table, place) for place in range(len(table.heads))]
    for number, cells in enumerate(table.cells):
        shown = [
            Text(column[number], _STYLES[cell.tone])
            for column, cell in zip(columns, cells, strict=True)
        ]
        drawn.add_row(*shown, end_section=number + 1 in table.rules)
    return drawn


def latex_table(table: Table) -> str:
    """Write a table for LaTeX with booktabs; title, notes and comments are LaTeX comments."""
    notes = [cell_text(as_cell(note)) for note in table.notes]
    body = [
        _latex_row([_latex_cell(*pair) for pair in zip(cells, texts, strict=True)])
        for cells, texts in zip(table.cells, table.texts, strict=True)
    ]
    for place in sorted(table.rules, reverse=True):
        body.insert(place, r"\midrule")
    footer = [_latex_row(list(map(latex_text, table.footer)))] if table.footer else []
    lines = [
        *(
            f"% {comment_text(line)}"
            for line in (table.cite, *table.comments, table.title, *notes)
            if line
        ),
        rf"\begin{{tabular}}{{{_latex_shape(table)}}}",
        r"\toprule",
        _latex_row([latex_text(head.name) for head in table.heads]),
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


def _latex_row(cells: Sequence[str]) -> str:
    row = " & ".join(cells) + r" \\"
    # The end of the row above would take a bracket or a star for its own.
    return f"{{}}{row}" if row.startswith(("[", "*")) else row


def _latex_cell(cell: Cell, text: str) -> str:
    text = latex_text(text)
    text = rf"\textbf{{{text}}}" if cell.tone == "good" else text
    return rf"{text} {{\scriptsize {latex_text(cell.aside)}}}" if cell.aside else text
