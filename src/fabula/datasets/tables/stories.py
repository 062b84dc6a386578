"""A file or folder of stories, and which of its fields is the text, the prompt, the reference …"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, SettingError, closest
from fabula.core.files import checksum_file, write_lines
from fabula.core.images import find_images, split_images
from fabula.core.story import Story
from fabula.core.table import story_line
from fabula.datasets.tables.rows import TEXTS, Rows, detect_format, is_known, read_rows
from fabula.datasets.tables.text_file import FileForm, Reading, TextFile, name_path, shorten

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
        need: str = "text",
        remedy: str = "name it with --column text=NAME",
    ) -> StoryColumns:
        """Take the columns that are given and guess the others by their usual names."""
        chosen = {role: _choose_fields(role, present, given, where) for role in ROLES}
        if not chosen[need]:
            raise InputError(
                f"{where}: no column for the {need} among {_list_names(present)}",
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
        if "id" in parts and not (parts["id"] or "").strip():
            raise InputError(f"{where}: field {self.names['id'][0]!r} (the id) is empty", "fill it")
        return Story(**({"id": str(number)} | parts))

    def _read_part(self, role: str, row: Mapping[str, Any], where: str) -> Any:
        values = [row.get(name) for name in self.names[role]]
        if role in ("references", "images"):
            return tuple(
                text
                for name, value in zip(self.names[role], values, strict=True)
                for text in _split_cell(role, value, name, where)
            )
        return _read_string(values[0], role, self.names[role][0], where)


def _list_names(names: Collection[str]) -> str:
    """Name columns, of very many the first ones."""
    known = [shorten(name, 60) for name in sorted(names)]
    return ", ".join([*known[:20], *["…"] * (len(known) > 20)]) or "none"


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
    if isinstance(value, float) and not math.isfinite(value) and role != "text":
        if role == "id":
            problem = f"{where}: field {name!r} (the id) holds {value}, which names nothing"
            raise InputError(problem, "give the story an id")
        return None
    if role != "text" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    kind = type(value).__name__
    raise InputError(f"{where}: field {name!r} holds a {kind}, not a string", "write a string")


def _split_cell(role: str, value: Any, name: str, where: str) -> list[str]:
    if role == "images" and isinstance(value, str):
        return split_images(value)
    return split_strings(value, name, where)


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
_TABLES = ("csv", "tsv", "parquet", "xlsx", "xls", "ods")
# What may be forced and makes other stories of one file.
_FORCED = ("delimiter", "sheet")
# Formats that are text, and so have an encoding.
_ENCODED = ("jsonl", "json", "csv", "tsv", "txt", "md", "html")


@dataclass(frozen=True)
class StoryLayout:
    """How a file of stories is read: its format (else told by its name), its fields and form.

    Encoding, delimiter and sheet are found out where they are empty. With `skip_bad`, what cannot
    be read is left out; `say` is told of it, and of a form that is not the ordinary one.
    """

    kind: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    delimiter: str = ""
    sheet: str = ""
    skip_bad: bool = False
    say: Callable[[str], None] | None = None


class StoryFile:
    """Stories of a file; a row at a time, so that the file may be larger than memory.

    `columns` names the field of each part (`{"text": "story"}`); the others are guessed by their
    usual names. An empty name leaves a part out. `label` is what messages call the file; the other
    settings are those of a `StoryLayout`.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        kind: str = "",
        columns: Mapping[str, str] | None = None,
        label: str = "",
        **form: Any,
    ) -> None:
        self.path = Path(path)
        self.label = label or name_path(path)
        self.origin: Path | None = None  # where a file came from that was put aside
        self.given = dict(columns or {})
        self.reading = Reading(self.label, FileForm(**form))
        self._file = TextFile(self.path, self.label, self.reading.form.encoding)
        check_roles(self.given)
        if not is_there(self.path):
            raise InputError(f"{self.label}: no such file", "check the path")
        self.kind = kind or detect_format(self.path)
        if self.path.is_dir() != (self.kind == "folder"):
            what = f"a folder, not a {self.kind} file" if self.path.is_dir() else "no folder"
            raise InputError(f"{self.label}: {what}", "check --input-format")
        # The folder that names of pictures are relative to; a folder's rows give them whole.
        self.pictures: Path | None = None if self.path.is_dir() else self.path.parent

    @property
    def encoding(self) -> str:
        """The encoding that was named or found out; a folder's files may have their own."""
        given = self.reading.form.encoding
        return given or (self._file.codec if self.kind in _ENCODED else "utf-8")

    @property
    def left_out(self) -> int:
        """How many rows or files were left out so far, because they cannot be used."""
        return len(self.reading.left_out)

    def __iter__(self) -> Iterator[Story]:
        """Go through the stories from the first; a doubled id names both rows."""
        return (story for _, story in self.pair_rows())

    def pair_rows(self) -> Iterator[tuple[Mapping[str, Any], Story]]:
        """Go through the rows as they stand, each with the story that it holds."""
        columns = self.columns
        seen: dict[str, int] = {}
        number = 0
        for where, row in self.rows():
            try:
                story = columns.make_story(row, number + 1, where)
                if story.images and self.pictures:
                    story = replace(story, images=find_images(story.images, self.pictures))
                if story.id in seen:
                    raise InputError(
                        f"{where}: id {story.id!r} was used before, by story {seen[story.id]}",
                        "give every story an id of its own",
                    )
            except InputError as error:
                self.reading.refuse(where, error)
                continue
            number += 1
            seen[story.id] = number
            yield row, story
        self.reading.say_left_out()

    @cached_property
    def columns(self) -> StoryColumns:
        """Column of each part; where rows differ, all of them are looked at."""
        names: dict[str, None] = {}
        first = ""
        try:
            for where, row in self.rows():
                first = first or where
                names.update(dict.fromkeys(row))
                if self.kind in _TABLES:
                    break
        finally:
            self.reading.say_notes()
        if not first:
            bad = next(iter(self.reading.left_out.values()), "")
            raise InputError(
                f"{self.label}: holds no stories{f' that can be used ({bad})' if bad else ''}",
                "check that it is the right file",
            )
        remedy = "name it with --column text=NAME"
        if self.kind in _TABLES:
            remedy += "; the first row must hold the names of the columns"
        return StoryColumns.choose(list(names), self.given, first, remedy=remedy)

    def rows(self) -> Rows:
        """Go through the rows as they stand: where each is, and its fields."""
        return read_rows(self._file, self.kind, self.reading)

    def describe(self) -> list[str]:
        """Say which columns were taken for what."""
        names = ", ".join(f"{part}={'+'.join(n)}" for part, n in self.columns.names.items())
        return [f"{self.label}: {names}"]

    def inputs(self) -> list[Path]:
        """Files that the stories are read from."""
        if not self.path.is_dir():
            return [self.origin or self.path]
        from fabula.datasets.tables.folders import list_story_files

        return list_story_files(self.path, self.reading)

    def checksum(self) -> str:
        """SHA-256 of the file, or of a folder's names and files; and of a form that was forced."""
        form = self.reading.form
        told = [f"{name} {value}" for name in _FORCED if (value := getattr(form, name))]
        if not self.path.is_dir():
            named = [checksum_file(self.path)]
        else:
            from fabula.datasets.tables.folders import list_story_files

            named = [
                f"{name_path(file.relative_to(self.path))} {checksum_file(file)}"
                for file in list_story_files(self.path, self.reading)
                if name_path(file) not in self.reading.left_out
            ]
        if not told and not self.path.is_dir():
            return named[0]
        return hashlib.sha256("\n".join([*named, *told]).encode()).hexdigest()


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
    if not is_dataset or path:
        with _open_path(path, layout, source if is_dataset else "") as file:
            yield file
        return
    from fabula.datasets.tables.spool import make_spool

    with make_spool() as folder:
        aside = folder / "stories.jsonl"
        write_lines(aside, map(story_line, load_dataset(source).stories))
        file = StoryFile(aside, label=source)
        file.pictures = None
        yield file


@contextmanager
def _open_path(path: Path | None, layout: StoryLayout, label: str = "") -> Iterator[StoryFile]:
    """Open a file or folder as it lies there; stdin (None), a pipe or a device through a copy."""
    label = label or (name_path(path) if path else "stdin")
    if path and (path.is_file() or path.is_dir()):
        yield StoryFile(path, label=label, **vars(layout))
        return
    from fabula.datasets.tables.spool import make_spool, put_aside

    kind = layout.kind or (detect_format(path) if path and is_known(path) else "jsonl")
    with make_spool() as folder:
        aside = put_aside(path, folder, label, kind)
        file = StoryFile(aside, label=label, **vars(layout) | {"kind": kind})
        file.origin, file.pictures = path or Path("/dev/stdin"), None
        yield file


def load_stories(
    source: str, *, prompt: str | None = None, layout: StoryLayout | None = None, encoding: str = ""
) -> list[Story]:
    """Read the stories of a table or folder, or the one that a text or stdin (-) holds."""
    layout = layout or StoryLayout(encoding=encoding)
    path = None if source == "-" else Path(source)
    if path and not is_there(path):
        raise InputError(f"{name_path(source)}: no such file or folder", "check the path")
    if not layout.kind and not (path and (path.is_dir() or is_known(path))):
        layout = replace(layout, kind="txt")
    with _open_path(path, layout) as file:
        stories = [_check_text(story, file) for story in file]
    return [replace(story, prompt=prompt) for story in stories] if prompt is not None else stories


def _check_text(story: Story, file: StoryFile) -> Story:
    """Refuse a text that is read alone and is none, or holds nothing."""
    if file.kind not in TEXTS:
        return story
    if "\0" in story.text:
        raise InputError(f"{file.label}: no text but binary data", "give a text file")
    if not story.text.strip():
        raise InputError(f"{file.label}: holds no text", "give a file with a story in it")
    return replace(story, text=story.text.replace("\r\n", "\n"))


def _find_path(source: str) -> Path:
    from fabula.datasets import DATASETS, list_added

    if not is_there(Path(source)):
        names = ", ".join(sorted({*DATASETS.names(), *list_added()} - {"table"}))
        raise InputError(f"{source}: no such file or data set", f"check it; data sets: {names}")
    return Path(source)


def is_there(path: Path) -> bool:
    """Whether there is such a file; no name, however odd, is an error."""
    return os.path.exists(path)  # noqa: PTH110  Path.exists raises on names that are too long
