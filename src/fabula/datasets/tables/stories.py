"""A file or folder of stories, and which of its fields is the text, the prompt, the reference …"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.files import write_lines
from fabula.core.story import Story
from fabula.core.table import story_line
from fabula.datasets.tables.rows import Rows, detect_format, is_table, list_story_files, read_rows
from fabula.datasets.tables.text_file import TextFile, decode_text

USUAL = {
    "id": "id story_id storyid uid uuid key",
    "text": "text story generated_story generated generation output prediction candidate "
    "hypothesis completion response",
    "prompt": "prompt writing_prompt premise context title instruction input",
    "references": "references reference refs ref human human_story gold target",
    "images": "images image image_paths",
    "system": "system model model_name generator writer",
    "item": "item item_id prompt_id",
}
ROLES = tuple(USUAL)


@dataclass(frozen=True)
class StoryColumns:
    """The fields of a file that hold each part of a story; several for the references."""

    names: Mapping[str, tuple[str, ...]]

    @classmethod
    def choose(
        cls,
        present: Collection[str],
        given: Mapping[str, str],
        where: str,
        *,
        remedy: str = "name it with --column text=NAME",
    ) -> StoryColumns:
        """Take the columns that are given and guess the others by their usual names."""
        chosen = {role: _choose_fields(role, present, given, where) for role in ROLES}
        if not chosen["text"]:
            raise InputError(
                f"{where}: no column for the text among {', '.join(sorted(present)) or 'none'}",
                remedy,
            )
        return cls({role: names for role, names in chosen.items() if names})

    def make_story(self, row: Mapping[str, Any], number: int, where: str) -> Story:
        """Make the story of a row; without an id column its number is its id."""
        parts = {role: self._read_part(role, row, where) for role in self.names}
        if not parts.get("text") and parts.get("text") != "":
            raise InputError(
                f"{where}: field {self.names['text'][0]!r} (the text) is missing or null",
                'write "" for an empty story',
            )
        if "id" in parts and not parts["id"]:
            raise InputError(f"{where}: field {self.names['id'][0]!r} (the id) is empty", "fill it")
        return Story(**({"id": str(number)} | parts))

    def _read_part(self, role: str, row: Mapping[str, Any], where: str) -> Any:
        values = [row.get(name) for name in self.names[role]]
        if role in ("references", "images"):
            return tuple(
                text
                for name, value in zip(self.names[role], values, strict=True)
                for text in split_strings(value, name, where)
            )
        return _read_string(values[0], role, self.names[role][0], where)


def check_roles(given: Mapping[str, str]) -> None:
    """Refuse roles that a story does not have."""
    for role in given:
        if role not in ROLES:
            raise SettingError(f"a story has no {role!r}", closest(role, ROLES))


def _choose_fields(
    role: str, present: Collection[str], given: Mapping[str, str], where: str
) -> tuple[str, ...]:
    if role in given:
        names = tuple(name.strip() for name in given[role].split(",") if name.strip())
        for name in names:
            if name not in present:
                raise InputError(f"{where}: no column {name!r}", closest(name, present))
        return names
    lowered = {name.strip().lower(): name for name in present}
    return next(((lowered[usual],) for usual in USUAL[role].split() if usual in lowered), ())


def _read_string(value: Any, role: str, name: str, where: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if role != "text" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    kind = type(value).__name__
    raise InputError(f"{where}: field {name!r} holds a {kind}, not a string", "write a string")


def split_strings(value: Any, name: str, where: str) -> list[str]:
    """Strings of a cell: a list, or a string that may itself spell a list of strings."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        return _parse_list(value) or [value]
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    raise InputError(f"{where}: field {name!r} is no string or list of strings", "write one")


def _parse_list(text: str) -> list[str]:
    if not text.startswith('["'):
        return []
    try:
        parts = json.loads(text)
    except json.JSONDecodeError:
        return []
    return parts if all(isinstance(part, str) for part in parts) else []


# Formats in which every row has the same columns.
_TABLES = ("csv", "tsv", "parquet")


@dataclass(frozen=True)
class StoryLayout:
    """How a file of stories is read: its format (else told by its name), fields and encoding."""

    kind: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = "utf-8"


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
        check_roles(self.given)
        if not is_there(self.path):
            raise InputError(f"{self.label}: no such file", "check the path")
        self.kind = kind or detect_format(self.path)
        if self.path.is_dir() != (self.kind == "folder"):
            what = f"a folder, not a {self.kind} file" if self.path.is_dir() else "no folder"
            raise InputError(f"{self.label}: {what}", "check --input-format")

    def __iter__(self) -> Iterator[Story]:
        """Go through the stories from the first; a doubled id names both rows."""
        columns = self.columns
        seen: dict[str, int] = {}
        for number, (where, row) in enumerate(self._read_rows(), 1):
            story = columns.make_story(row, number, where)
            if story.id in seen:
                raise InputError(
                    f"{where}: id {story.id!r} was used before, by story {seen[story.id]}",
                    "give every story an id of its own",
                )
            seen[story.id] = number
            yield story

    @cached_property
    def columns(self) -> StoryColumns:
        """Column of each part; where rows differ, all of them are looked at."""
        names: dict[str, None] = {}
        first = ""
        for where, row in self._read_rows():
            first = first or where
            names.update(dict.fromkeys(row))
            if self.kind in _TABLES:
                break
        if not first:
            raise InputError(f"{self.label}: holds no stories", "check that it is the right file")
        return StoryColumns.choose(list(names), self.given, first)

    def _read_rows(self) -> Rows:
        return read_rows(TextFile(self.path, self.label, self.encoding), self.kind)

    def checksum(self) -> str:
        """SHA-256 of the file, or of a folder's names and files."""
        if not self.path.is_dir():
            return _digest_file(self.path)
        files = list_story_files(self.path)
        named = [f"{file.relative_to(self.path)} {_digest_file(file)}" for file in files]
        return hashlib.sha256("\n".join(named).encode()).hexdigest()


@contextmanager
def open_stories(source: str, layout: StoryLayout) -> Iterator[StoryFile]:
    """Open a file, a folder, a data set by its name, or - for stdin.

    What is no plain file is put aside first, to be read more than once.
    """
    from fabula.datasets import DATASETS, is_added, load_dataset

    if is_dataset := (source in DATASETS and source != "table") or is_added(source):
        path = getattr(DATASETS.get(source), "FILE", None) if source in DATASETS else None
    else:
        path = None if source == "-" else _find_path(source)
    if path and (path.is_file() or path.is_dir()):
        yield StoryFile(path, label=source, **vars(layout))
        return
    with tempfile.TemporaryDirectory(prefix="fabula-") as folder:
        aside = Path(folder) / "stories.jsonl"
        if is_dataset:
            write_lines(aside, map(story_line, load_dataset(source).stories))
            yield StoryFile(aside, label=source)
            return
        with (
            path.open("rb") if path else nullcontext(sys.stdin.buffer) as pipe,
            aside.open("wb") as spool,
        ):
            shutil.copyfileobj(pipe, spool)
        settings = vars(layout) | {"kind": layout.kind or "jsonl"}
        yield StoryFile(aside, label=source if path else "stdin", **settings)


def load_stories(source: str, *, prompt: str | None = None, encoding: str = "utf-8") -> list[Story]:
    """Read the stories of a table or folder, or the one that a text file or stdin (-) holds."""
    path = Path(source)
    if source == "-":
        stories = [_make_story("stdin", sys.stdin.buffer.read(), "stdin", encoding)]
    elif not is_there(path):
        raise InputError(f"{source}: no such file or folder", "check the path")
    elif path.is_dir() or is_table(path):
        stories = list(StoryFile(path, encoding=encoding))
    else:
        try:
            raw = path.read_bytes()
        except OSError as error:
            reason = error.strerror or error
            raise InputError(f"{path}: cannot be read ({reason})", "check it") from None
        stories = [_make_story(path.stem, raw, source, encoding)]
    return [replace(story, prompt=prompt) for story in stories] if prompt is not None else stories


def _make_story(name: str, raw: bytes, label: str, encoding: str) -> Story:
    """Make a story of bytes that must be text and hold something to read."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8") and b"\0" in raw:
        raise InputError(f"{label}: no text but binary data", "give a text file")
    text = decode_text(raw, encoding, label)
    if not text.strip():
        raise InputError(f"{label}: holds no text", "give a file with a story in it")
    return Story(name, text.replace("\r\n", "\n"))


def _find_path(source: str) -> Path:
    from fabula.datasets import DATASETS, list_added

    if not is_there(Path(source)):
        names = ", ".join(sorted({*DATASETS.names(), *list_added()} - {"table"}))
        raise InputError(f"{source}: no such file or data set", f"check it; data sets: {names}")
    return Path(source)


def is_there(path: Path) -> bool:
    """Whether there is such a file; no name, however odd, is an error."""
    return os.path.exists(path)  # noqa: PTH110  Path.exists raises on names that are too long


def _digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
