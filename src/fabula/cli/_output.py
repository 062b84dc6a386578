"""What commands print: rows in the format asked for, and progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import click

from fabula.cli import echo


def _make_format_option(*forms: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option(
        "-f",
        "--format",
        "form",
        type=click.Choice(forms),
        default="table",
        show_default=True,
        help="Form of what is printed.",
    )


format_option = _make_format_option("table", "json", "jsonl", "csv")
paper_format_option = _make_format_option("table", "json", "jsonl", "csv", "latex")


def print_rows(rows: Sequence[dict[str, Any]], form: str) -> None:
    """Print rows that share their keys."""
    from fabula.reports.tables import Table, render

    if form == "json":
        echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif rows or form == "table":
        columns = [name.replace("_", " ") for name in (rows[0] if rows else ())]
        table = Table(columns, [[_flatten(value) for value in row.values()] for row in rows])
        echo(render(form, rows, [table], {}))


def _flatten(value: Any) -> str | float | int | None:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return str(value) if isinstance(value, bool) else value


class StderrProgress:
    """One line that is written over on a terminal, a line every ten seconds elsewhere.

    Nothing is shown of what is done within two seconds.
    """

    quiet_s = 2.0
    line_every_s = 10.0
    redraw_every_s = 0.2

    def __init__(self, what: str = "scores") -> None:
        self._what = what
        self._terminal = sys.stderr.isatty()
        self._total = self._done = 0
        self._started = self._shown = time.monotonic()
        self._drawn = False

    def start(self, total: int) -> None:
        """So many steps lie ahead."""
        self._total, self._done = total, 0
        self._started = self._shown = time.monotonic()

    def advance(self, steps: int) -> None:
        """So many more steps are done."""
        self._done += steps
        now = time.monotonic()
        wait = self.redraw_every_s if self._terminal else self.line_every_s
        if now - self._started >= self.quiet_s and now - self._shown >= wait:
            self._show(now)

    def finish(self) -> None:
        """No more steps follow."""
        if self._drawn:
            self._show(time.monotonic())
            if self._terminal:
                sys.stderr.write("\n")

    def _show(self, now: float) -> None:
        self._shown, self._drawn = now, True
        line = progress_line(self._done, self._total, now - self._started, self._what)
        sys.stderr.write(f"\r{line}\x1b[K" if self._terminal else f"{line}\n")
        sys.stderr.flush()


def progress_line(done: int, total: int, elapsed_s: float, what: str) -> str:
    """Say how far it is: `1,200/4,000 scores (30 %), 400/s, 0:07 left`."""
    rate = done / elapsed_s if elapsed_s > 0 else 0.0
    share = 100 * done / total if total else 100.0
    left = _format_clock((total - done) / rate) if rate else "?"
    return f"{done:,}/{total:,} {what} ({share:.0f} %), {rate:,.0f}/s, {left} left"


def _format_clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
