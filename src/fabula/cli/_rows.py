"""Rows printed in the format asked for: table, json, jsonl, csv."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import Any

import click


def _format_option(*forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(forms),
        default="table",
        show_default=True,
        help="How to print it.",
    )


format_option = _format_option("table", "json", "jsonl", "csv")
paper_format_option = _format_option("table", "json", "jsonl", "csv", "latex")


def print_rows(rows: Sequence[dict[str, Any]], form: str, title: str = "") -> None:
    """Print rows that share their keys."""
    if form == "json":
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif form == "jsonl":
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
    elif form == "csv":
        _print_csv(rows)
    else:
        _print_table(rows, title)


def _print_csv(rows: Sequence[dict[str, Any]]) -> None:
    if rows:
        writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _print_table(rows: Sequence[dict[str, Any]], title: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title or None, box=box.SIMPLE_HEAD, title_justify="left")
    for place, name in enumerate(rows[0] if rows else ()):
        table.add_column(name.replace("_", " "), overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*(escape(_cell(value)) for value in row.values()))
    width = get_terminal_size((120, 24)).columns
    Console(width=max(80, width)).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
