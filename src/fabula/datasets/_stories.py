"""A file or folder of stories that can be gone through again and again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.datasets._columns import Columns, check_given
from fabula.datasets._rows import format_of, rows, story_files


class StoryFile:
    """Stories of a file; a row at a time, so that the file may be larger than memory.

    `columns` names the field of each part (`{"text": "story"}`); the others are guessed by their
    usual names. An empty name leaves a part out.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        kind: str = "",
        columns: Mapping[str, str] | None = None,
        encoding: str = "utf-8",
    ) -> None:
        self.path = Path(path)
        self.given = dict(columns or {})
        self.encoding = encoding
        check_given(self.given)
        if not self.path.exists():
            raise InputError(f"{self.path}: no such file", "check the path")
        self.kind = kind or format_of(self.path)
        if self.path.is_dir() and self.kind != "folder":
            raise InputError(f"{self.path}: a folder, not a {self.kind} file", "give a file")

    def __iter__(self) -> Iterator[Story]:
        """Go through the stories from the first; a doubled id names both rows."""
        seen: dict[str, int] = {}
        for number, (where, row) in enumerate(self._rows(), 1):
            story = self.columns.story(row, number, where)
            if story.id in seen:
                raise InputError(
                    f"{where}: id {story.id!r} was used before, by story {seen[story.id]}",
                    "give every story an id of its own",
                )
            seen[story.id] = number
            yield story

    @cached_property
    def columns(self) -> Columns:
        """Columns of each part, chosen by the first row."""
        for where, row in self._rows():
            return Columns.choose(list(row), self.given, where)
        raise InputError(f"{self.path}: holds no stories", "check that it is the right file")

    def _rows(self) -> Iterator[tuple[str, Mapping[str, object]]]:
        try:
            yield from rows(self.path, self.kind, self.encoding)
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"{self.path}: cannot be read ({reason})", "check it") from None

    def checksum(self) -> str:
        """SHA-256 of the file, or of a folder's names and files."""
        if not self.path.is_dir():
            return _file_digest(self.path)
        named = [f"{file.relative_to(self.path)} {_file_digest(file)}" for file in self._files]
        return hashlib.sha256("\n".join(named).encode()).hexdigest()

    @property
    def _files(self) -> list[Path]:
        return story_files(self.path)


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
