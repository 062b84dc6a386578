"""The live bar on a terminal; rich is imported here, for those who have waited already."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Column

from fabula.text.escapes import line_text

_BAR_WIDTH = 24


class LiveBar:
    """A line at the foot of the terminal, gone when it is closed.

    What is written to stderr meanwhile stands above it; before anything is written to stdout, the
    bar makes way, so that neither ever cuts into the other.
    """

    def __init__(self, hide: Callable[[], None]) -> None:
        self._progress = Progress(
            SpinnerColumn("line"),
            BarColumn(_BAR_WIDTH),
            # Specs and ids may hold anything: no markup, and no line that breaks.
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(no_wrap=True, overflow="crop"),
            ),
            console=Console(stderr=True),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
        )
        self._task = self._progress.add_task("", total=None)
        self._stdout = sys.stdout
        if self._stdout.isatty():
            # Held even when the bar has gone: `print` does not hold the stream that it writes to.
            _MakingWay.latest = sys.stdout = _MakingWay(self._stdout, hide)
        self._progress.start()

    def draw(self, line: str, done: int, total: int) -> None:
        """Draw the bar anew."""
        words = line_text(line)
        self._progress.update(
            self._task, description=words, completed=done, total=total or None, refresh=True
        )

    def close(self) -> None:
        """Leave the terminal as it was."""
        if isinstance(sys.stdout, _MakingWay):
            sys.stdout = self._stdout
        self._progress.stop()


class _MakingWay:
    """The terminal's stdout, which asks a bar to go before it is written to."""

    latest: _MakingWay | None = None

    def __init__(self, stream: Any, hide: Callable[[], None]) -> None:
        self._stream, self._hide = stream, hide

    def write(self, text: str) -> int:
        """Write when the bar has gone."""
        self._hide()
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        """Be the stream in all else."""
        return getattr(self._stream, name)
