"""Files that are zip archives of XML, opened with care: how large they are and what they hold.

Nothing in them is trusted: they may unzip to more than a disk holds, or spell out entities until
the memory is full.
"""

from __future__ import annotations

import io
import lzma
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from fabula.core.errors import InputError

MOST_PARTS = 10_000
MOST_UNZIPPED_BYTES = 1024**3
# Sheets are laid out from the first cell to the last: two cells far apart would fill the memory.
MOST_CELLS = 10_000_000
_MOST_ERRORS = 10_000
_NO_VALUE = "formula without a value"

# What `zipfile` raises at a broken archive: a part that is not there is a KeyError, a place before
# the beginning a ValueError, a way of packing unknown a NotImplementedError.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(KeyError, ValueError, NotImplementedError),
)


class Archive(zipfile.ZipFile):
    """A zip archive that messages call `label`."""

    label = ""

    def check_part(self, part: str, most: int) -> None:
        """Refuse a part that is larger than can be held in memory."""
        if self.getinfo(part).file_size > most:
            problem = f"{self.label} ({part}): larger than {most // 1024**2} MiB unzipped"
            raise InputError(problem, "part it, or write it as text")

    def elements(self, part: str) -> list[tuple[str, dict[str, str]]]:
        """Give the elements of a small part with what they are given."""
        self.check_part(part, 16 * 1024**2)
        found: list[tuple[str, dict[str, str]]] = []
        self.parse(part, lambda name, given: found.append((name, given)))
        return found

    def parse(
        self,
        part: str,
        begin: Callable[[str, dict[str, str]], None],
        end: Callable[[str], None] | None = None,
        text: Callable[[str], None] | None = None,
    ) -> None:
        """Go through a part of XML; names without prefixes, and no entities of its own."""
        parser = expat.ParserCreate()
        parser.buffer_text = True

        def refuse(*_: Any) -> None:
            problem = f"{self.label} ({part}): declares entities, which no office does"
            raise InputError(problem, "save it again")

        def begin_plain(name: str, given: dict[str, str]) -> None:
            plain = {key.rpartition(":")[2]: value for key, value in given.items()}
            if "calcext:value-type" in given:
                plain["calc-type"] = given["calcext:value-type"]
            begin(name.rpartition(":")[2], plain)

        parser.EntityDeclHandler = refuse
        parser.StartElementHandler = begin_plain
        if end:
            parser.EndElementHandler = lambda name: end(name.rpartition(":")[2])
        if text:
            parser.CharacterDataHandler = text
        with self.open(part) as file:
            try:
                parser.ParseFile(file)
            except (expat.ExpatError, LookupError, ValueError) as error:  # or an encoding unknown
                problem = f"{self.label} ({part}): broken XML ({error})"
                raise InputError(problem, "save the file again") from None


@contextmanager
def open_archive(raw: bytes, label: str, most_bytes: int | None = None) -> Iterator[Archive]:
    """Open a zip archive whose parts are of a size that can be read, together at most so many
    bytes: a part is never unzipped beyond the size that it says."""
    most_bytes = most_bytes or MOST_UNZIPPED_BYTES
    try:
        with Archive(io.BytesIO(raw)) as archive:
            archive.label = label
            parts = archive.infolist()
            if len(parts) > MOST_PARTS:
                problem = f"{label}: {len(parts):,} files in one archive"
                raise InputError(problem, f"at most {MOST_PARTS:,} are read")
            if sum(part.file_size for part in parts) > most_bytes:
                problem = f"{label}: larger than {most_bytes // 1024**2:,} MiB unzipped"
                raise InputError(problem, "part it, or write it as text")
            if any(part.flag_bits & 1 for part in parts):
                raise InputError(f"{label}: has a password", "save it without one")
            yield archive
    except _BROKEN as error:
        problem = (
            f"{label}: not a whole file of its kind ({error.args[0] if error.args else error})"
        )
        raise InputError(problem, "save it again") from None


@dataclass
class Extent:
    """How far the cells of a sheet reach, and which have an error in place of a value.

    `filled` are the rows that hold anything.
    """

    rows: int = 0
    columns: int = 0
    filled: int = 0
    errors: dict[tuple[int, int], str] = field(default_factory=dict)

    def add(self, row: int, column: int) -> None:
        """Take a cell that holds something into account."""
        self.filled += row > self.rows
        self.rows, self.columns = max(self.rows, row), max(self.columns, column)


def scan_workbook(archive: Archive) -> dict[str, Extent]:
    """Tell how far the sheets of a workbook reach, by their names; too far is an error."""
    names = archive.namelist()
    if "xl/workbook.bin" in names:
        raise InputError(f"{archive.label}: a binary workbook (.xlsb)", "save it as .xlsx or CSV")
    scanner = _OdsScanner() if "content.xml" in names else None
    if scanner:
        archive.parse("content.xml", scanner.begin, scanner.end, scanner.text)
        extents = scanner.extents
    else:
        extents = {name: _scan_sheet(archive, part) for name, part in _list_sheets(archive)}
    for name, extent in extents.items():
        if extent.rows * extent.columns > MOST_CELLS:
            raise InputError(
                f"{archive.label}, sheet {name!r}: cells as far as row {extent.rows:,} and column "
                f"{extent.columns:,}, too many to read",
                "delete what stands far from the table, or save the table as CSV",
            )
    return extents


def _list_sheets(archive: Archive) -> list[tuple[str, str]]:
    """Names of the sheets of an .xlsx file, and the parts that hold them."""
    ids: list[tuple[str, str]] = []
    targets: dict[str, str] = {}
    for name, given in archive.elements("xl/workbook.xml"):
        if name == "sheet":
            ids.append((given.get("name", ""), given.get("id", "")))
    for name, given in archive.elements("xl/_rels/workbook.xml.rels"):
        if name == "Relationship":
            path = posixpath.join("xl", given.get("Target", ""))
            targets[given.get("Id", "")] = posixpath.normpath(path).lstrip("/")
    known = set(archive.namelist())
    parts = [(name, targets.get(number, "")) for name, number in ids]
    return [(name, part) for name, part in parts if part in known]


def _scan_sheet(archive: Archive, part: str) -> Extent:
    """Scan a sheet of an .xlsx file; rows and cells without a number follow the one before."""
    extent = Extent()
    row = column = 0
    kind, value, inside, formula = "", "", False, False

    def begin(name: str, given: dict[str, str]) -> None:
        nonlocal row, column, kind, value, inside, formula
        if name == "row":
            row, column = _read_count(given.get("r"), row + 1), 0
        elif name == "c":
            letters = re.match(r"[A-Z]{1,4}", given.get("r", ""))
            column = _count_letters(letters[0]) if letters else column + 1
            digits = re.search(r"\d{1,9}$", given.get("r", ""))
            row = int(digits[0]) if digits else row
            kind, value, formula = given.get("t", ""), "", False
        elif name in ("v", "is"):
            inside = True
            extent.add(row, column)
        elif name == "f":
            formula = True

    def end(name: str) -> None:
        nonlocal inside
        if name in ("v", "is"):
            inside = False
        elif name == "c" and len(extent.errors) < _MOST_ERRORS:
            if kind == "e":
                extent.errors[row, column] = value
            elif formula and not value and kind != "str":
                extent.errors[row, column] = _NO_VALUE
                extent.add(row, column)

    def text(words: str) -> None:
        nonlocal value
        if inside and len(value) < 100:
            value += words

    archive.parse(part, begin, end, text)
    return extent


def _count_letters(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _read_count(text: str | None, other: int = 1) -> int:
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text) else other


class _OdsScanner:
    """Scans the sheets of an .ods file, in which equal cells and rows are written once."""

    def __init__(self) -> None:
        self.extents: dict[str, Extent] = {}
        self._extent = Extent()
        self._row = self._column = 0
        self._rows = self._cells = 1
        self._error: str | None = None
        self._filled = False

    def begin(self, name: str, given: dict[str, str]) -> None:
        """Note where a table, a row or a cell begins."""
        if name == "table":
            self._extent = self.extents.setdefault(given.get("name", ""), Extent())
            self._row = 0
        elif name == "table-row":
            self._rows, self._column = _read_count(given.get("number-rows-repeated")), 0
        elif name in ("table-cell", "covered-table-cell"):
            self._cells = _read_count(given.get("number-columns-repeated"))
            self._filled = any(key.endswith("value") for key in given)
            # The office's own type says `string`; that of LibreOffice tells the error.
            self._error = "" if given.get("calc-type") == "error" else None
        elif name == "p":
            self._filled = True

    def end(self, name: str) -> None:
        """Take a cell or a row into account."""
        if name in ("table-cell", "covered-table-cell"):
            if self._filled:
                self._extent.add(self._row + self._rows, self._column + self._cells)
            if self._error is not None and len(self._extent.errors) < _MOST_ERRORS:
                self._extent.errors[self._row + 1, self._column + 1] = self._error
            self._column += self._cells
            self._error = None
        elif name == "table-row":
            self._row += self._rows

    def text(self, words: str) -> None:
        """Keep what stands in a cell whose value is an error."""
        if self._error is not None:
            self._error += words
