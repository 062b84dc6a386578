"""The file that stories are written into: a line each, kept as they come, gone on with later.

A line holds the story as `fabula score` reads it, and all that it depends on: co-author, signature,
seed, decoding, how much was wanted. A run that was stopped goes on where it was; one with other
settings is refused by what the lines say.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from fabula.core.errors import Conflict, InputError
from fabula.core.files import lock_file, unwritable, write_lines
from fabula.core.table import json_text

Row = Mapping[str, Any]
Key = tuple[str, str, int]  # system, item, number

# What a story depends on: none of it may change while a file is gone on with.
SETTINGS = ("author", "signature", "prompt", "seed", "decoding", "wanted")
_NAMES = ("id", "item", "system", "number", "text", "references", "status", *SETTINGS)
_INSTEAD = "name another file, or say --overwrite"


def key_of(row: Row) -> Key:
    """Say which story of a run a row is."""
    return str(row["system"]), str(row["item"]), int(row["number"])


class StoryLines:
    """A file of stories that grows; `rows` are those that are there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[Row] = []

    @contextmanager
    def open(self, *, overwrite: bool = False) -> Iterator[None]:
        """Read what is there and let nobody else write; a last line that was cut off is dropped."""
        with ExitStack() as held:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                lock = self.path.with_name(f".{self.path.name}.lock")
                held.enter_context(lock_file(lock, wait=False))
                if overwrite:
                    self._rewrite([])
                self.rows = list(self._read())
            except BlockingIOError as error:
                problem = f"{self.path} is being written by process {error.strerror or 'another'}"
                raise Conflict(problem, "wait for it, or name another file") from None
            except OSError as error:
                raise unwritable(self.path, error) from None
            yield

    def _read(self) -> Iterator[Row]:
        if not self.path.exists():
            return
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict) or any(name not in row for name in _NAMES):
                problem = f"{self.path}, line {number}: no story of `fabula write`"
                raise InputError(problem, _INSTEAD)
            yield row
        if len(whole) < len(data):
            if not whole and not data.lstrip().startswith(b"{"):
                raise InputError(f"{self.path} is not by `fabula write`", _INSTEAD)
            with self.path.open("r+b") as file:
                file.truncate(len(whole))

    def check(self, planned: Mapping[Key, Row]) -> None:
        """Refuse to go on with rows that were written with other settings."""
        for row in self.rows:
            settings = planned.get(key_of(row))
            if settings is None:
                system, item, number = key_of(row)
                problem = (
                    f"{self.path} holds story {number} of {system} on item {item!r},"
                    " which is not asked for now"
                )
                raise Conflict(problem, _INSTEAD)
            other = [name for name in SETTINGS if row[name] != settings[name]]
            if other:
                problem = f"{self.path} holds stories that were written with another {other[0]}"
                said = f"{row[other[0]]!s:.60} then, {settings[other[0]]!s:.60} now"
                raise Conflict(f"{problem} ({said})", _INSTEAD)

    def drop_failed(self) -> None:
        """Forget stories that failed, so that they are written again."""
        kept = [row for row in self.rows if row["status"] != "failed"]
        if len(kept) < len(self.rows):
            self._rewrite(kept)

    def add(self, rows: Sequence[Row]) -> None:
        """Keep rows: they are on disk when this returns."""
        try:
            with self.path.open("ab") as file:
                file.write("".join(map(_line, rows)).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise unwritable(self.path, error) from None
        self.rows += rows

    def sort(self, keys: Iterable[Key]) -> None:
        """Bring rows into the order of the plan, if they were not written in it."""
        place = {key: number for number, key in enumerate(keys)}
        ordered = sorted(self.rows, key=lambda row: place[key_of(row)])
        if ordered != self.rows:
            self._rewrite(ordered)

    def _rewrite(self, rows: Sequence[Row]) -> None:
        write_lines(self.path, map(_line, rows))
        self.rows = list(rows)


def _line(row: Row) -> str:
    return json_text(row) + "\n"
