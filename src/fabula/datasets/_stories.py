"""A file or folder of stories that can be gone through again and again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets._columns import Columns, check_given
from fabula.datasets._lines import TextFile
from fabula.datasets._rows import Rows, format_of, rows, story_files

# Formats in which every row has the same columns.
_TABLES = ("csv", "tsv", "parquet")


class StoryFile:
    """Stories of a file; a row at a time, so that the file may be larger than memory.

    `columns` names the field of each part (`{"text": "story"}`); the others are guessed by their
    usual names. An empty name leaves a part out. `label` is what messages call the file.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        kind: str = "",
        columns: Mapping[str, str] | None = None,
        encoding: str = "utf-8",
        label: str = "",
    ) -> None:
        self.path = Path(path)
        self.label = label or str(path)
        self.given = dict(columns or {})
        self.encoding = encoding
        check_given(self.given)
        if not is_there(self.path):
            raise InputError(f"{self.label}: no such file", "check the path")
        self.kind = kind or format_of(self.path)
        if self.path.is_dir() != (self.kind == "folder"):
            what = f"a folder, not a {self.kind} file" if self.path.is_dir() else "no folder"
            raise InputError(f"{self.label}: {what}", "check --input-format")

    def __iter__(self) -> Iterator[Story]:
        """Go through the stories from the first; a doubled id names both rows."""
        columns = self.columns
        seen: dict[str, int] = {}
        for number, (where, row) in enumerate(self._rows(), 1):
            story = columns.story(row, number, where)
            if story.id in seen:
                raise InputError(
                    f"{where}: id {story.id!r} was used before, by story {seen[story.id]}",
                    "give every story an id of its own",
                )
            seen[story.id] = number
            yield story

    @cached_property
    def columns(self) -> Columns:
        """Column of each part; where rows differ, all of them are looked at."""
        names: dict[str, None] = {}
        first = ""
        for where, row in self._rows():
            first = first or where
            names.update(dict.fromkeys(row))
            if self.kind in _TABLES:
                break
        if not first:
            raise InputError(f"{self.label}: holds no stories", "check that it is the right file")
        return Columns.choose(list(names), self.given, first)

    def _rows(self) -> Rows:
        try:
            yield from rows(TextFile(self.path, self.label, self.encoding), self.kind)
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"{self.label}: cannot be read ({reason})", "check it") from None

    def checksum(self) -> str:
        """SHA-256 of the file, or of a folder's names and files."""
        if not self.path.is_dir():
            return _file_digest(self.path)
        files = story_files(self.path)
        named = [f"{file.relative_to(self.path)} {_file_digest(file)}" for file in files]
        return hashlib.sha256("\n".join(named).encode()).hexdigest()


def is_there(path: Path) -> bool:
    """Whether there is such a file; no name, however odd, is an error."""
    return os.path.exists(path)  # noqa: PTH110  Path.exists raises on names that are too long


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
