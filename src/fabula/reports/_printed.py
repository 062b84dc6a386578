"""Tables for a terminal with words below them, and the plain formats: json, jsonl, csv, latex."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fabula.core.table import HALVES, json_text
from fabula.reports.summary import latex_text

WIDTH = 100
# The first column, which holds names, folds only those that are longer.
_LEAST_NAME = 24
_SIGNS = {"–": "--", "−": "$-$", "<": "$<$", "±": r"$\pm$", "×": r"$\times$"}


def print_form(
    form: str, rows: Sequence[dict[str, Any]], *, record: Mapping[str, Any], shown: str, latex: str
) -> str:
    """Choose what to print: the table shown, LaTeX, the whole record as JSON, or its rows."""
    texts = {"table": shown, "latex": latex}
    text = texts[form] if form in texts else _plain_form(form, rows, record)
    return text.encode("utf-8", HALVES).decode()


def _plain_form(form: str, rows: Sequence[dict[str, Any]], record: Mapping[str, Any]) -> str:
    if form == "json":
        return json_text({**record, "rows": list(rows)}, indent=2)
    if form == "jsonl":
        return "\n".join(json_text(row) for row in rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().rstrip("\n")


def terminal_table(
    head: Sequence[str],
    body: Sequence[Sequence[str]],
    *,
    title: str = "",
    words: Sequence[str] = (),
    left: Sequence[int] = (0,),
) -> str:
    """Draw a table of at most 100 columns, its title above and words below; `left` is ranged so."""
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for place, name in enumerate(head):
        side: Literal["left", "right"] = "left" if place in left else "right"
        longest = max([len(name), *(len(cells[place]) for cells in body)])
        least = min(longest, _LEAST_NAME) if place == 0 else None
        folds = place in (left[0], left[-1])
        table.add_column(
            escape(name), justify=side, no_wrap=not folds, overflow="fold", min_width=least
        )
    for cells in body:
        table.add_row(*map(escape, cells))
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    console = Console(file=io.StringIO(), width=WIDTH, force_terminal=colour)
    if title:
        console.print(title, markup=False, highlight=False)
    console.print(table, end="")
    for line in words:
        console.print(line, markup=False, highlight=False)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return "\n".join(map(str.rstrip, text.splitlines()))


def latex_table(
    head: Sequence[str], body: Sequence[Sequence[str]], *, words: Sequence[str] = ()
) -> str:
    """Write a whole LaTeX table (booktabs); the words are comments above it."""
    lines = [
        *(f"% {line}" for line in words),
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        " & ".join(map(_latex_cell, head)) + r" \\",
        r"\midrule",
        *(" & ".join(map(_latex_cell, cells)) + r" \\" for cells in body),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _latex_cell(text: str) -> str:
    return "".join(_SIGNS.get(char) or latex_text(char) for char in text)
