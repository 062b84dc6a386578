"""Fields of a release, checked: texts and lists of a row, cells of a line, keys of an object."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabula.core.dataset import DatasetCard
from fabula.core.errors import InputError
from fabula.datasets._lines import TextFile
from fabula.datasets._release import field, find_release_file, release_file
from fabula.datasets._rows import Row


def chosen_file(path: Path | None, name: str, *names: str) -> TextFile:
    """Give the file itself, whatever its name, or the first of some that a folder holds."""
    if path is not None and path.is_file():
        return TextFile(path, path.name)
    return release_file(path, name, *names)


def present_files(path: Path | None, name: str, *names: str) -> dict[str, TextFile]:
    """Give those of some files that a folder holds, by name; at least one has to be there."""
    found = {one: find_release_file(path, one) for one in (name, *names)}
    present = {one: file for one, file in found.items() if file}
    return present or {name: release_file(path, name, *names)}


def card_for(card: DatasetCard, *files: TextFile) -> DatasetCard:
    """Give the card; its counts are those of the files it knows, and say nothing of others."""
    known = all(file.path.name.removesuffix(".gz") in card.checksums for file in files)
    return card if known else replace(card, counts={})


def text_field(row: Row, name: str, where: str) -> str:
    """Give a field that holds text, or say which one does not."""
    found = field(row, name, where)
    if not isinstance(found, str):
        kind = type(found).__name__
        raise InputError(f"{where}: field {name!r} holds a {kind}, not text", "write a string")
    return found


def list_field(row: Row, name: str, where: str, count: int | None = None) -> list[Any]:
    """Give a field that holds a list, of so many values where that is known."""
    found = field(row, name, where)
    if not isinstance(found, list):
        kind = type(found).__name__
        raise InputError(f"{where}: field {name!r} holds a {kind}, not a list", "write a list")
    if count is not None and len(found) != count:
        raise InputError(
            f"{where}: field {name!r} holds {len(found)} values, not {count}", "fetch it again"
        )
    return found


def texts_field(row: Row, name: str, where: str) -> list[str]:
    """Give a field that holds a list of texts, at least one."""
    found = list_field(row, name, where)
    if not found or not all(isinstance(one, str) for one in found):
        raise InputError(f"{where}: field {name!r} is no list of texts", 'write ["…", …]')
    return found


def object_of(value: Any, where: str) -> dict[str, Any]:
    """Give a value that is a JSON object, or say where it is none."""
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise InputError(f"{where}: a {kind}, not an object", "check that it is the right file")
    return value


def file_object(file: TextFile) -> dict[str, Any]:
    """Read a file that is one JSON object; a key that stands twice is refused."""
    try:
        found = json.loads(file.text(), object_pairs_hook=lambda pairs: _once(pairs, file.label))
    except ValueError as error:
        raise InputError(f"{file.label}: not valid JSON ({error})", "fetch it again") from None
    except RecursionError:
        raise InputError(f"{file.label}: nested too deeply", "fetch it again") from None
    return object_of(found, file.label)


def _once(pairs: list[tuple[str, Any]], label: str) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise InputError(f"{label}: key {doubled!r} stands twice", "keep one of the two")
    return found


def cell_lines(file: TextFile, separator: str, count: int) -> Iterator[tuple[str, list[str]]]:
    """Go through lines of so many cells, with the words for where each is."""
    for number, line in file.lines():
        where = f"{file.label}, line {number}"
        cells = [cell.strip() for cell in line.rstrip("\r\n").split(separator)]
        if len(cells) != count:
            raise InputError(
                f"{where}: {len(cells)} cells between {separator!r}, not {count}", "mend the line"
            )
        yield where, cells


def text_lines(file: TextFile) -> list[str]:
    """Give all lines, without the blanks around them."""
    return [line.strip() for _, line in file.lines()]
