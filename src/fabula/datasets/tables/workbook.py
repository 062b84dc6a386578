"""Tables that are no text: workbooks of Excel and LibreOffice (python-calamine), and Parquet."""

from __future__ import annotations

import io
import math
from collections.abc import Collection, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from fabula.core.errors import InputError, PackageMissing, closest
from fabula.core.story import count_text
from fabula.datasets.tables.archive import Extent, open_archive, scan_workbook
from fabula.datasets.tables.rows import Rows, check_names
from fabula.datasets.tables.text_file import Reading, TextFile

_ZIP, _OLE = b"PK", b"\xd0\xcf\x11\xe0"
_FEW = 3


def read_workbook(file: TextFile, reading: Reading) -> Rows:
    """Go through the rows of a sheet: the one named, else the first that has any."""
    raw = file.raw()
    if not raw.startswith((_ZIP, _OLE)):
        remedy = "is it a CSV file, or a page? give it its own suffix"
        raise InputError(f"{file.label}: not a workbook, whatever its name says", remedy)
    # Before the library lays a sheet out, cell by cell: is it of a size that can be?
    extents = {}
    if raw.startswith(_ZIP):
        with open_archive(raw, file.label) as archive:
            extents = scan_workbook(archive)
    book = _Book(raw, file.label)
    name = _choose_sheet(book, extents, reading)
    label = f"{file.label}, sheet {name!r}" if len(book.names) > 1 else file.label
    errors = extents[name].errors if name in extents else {}
    if errors:
        named = [f"{_name_cell(place)} {words}" for place, words in errors.items()]
        more = ", …" * (len(named) > _FEW)
        count = f"{count_text(len(named), 'cell')} without a value"
        reading.note(f"{count} ({', '.join(named[:_FEW])}{more})")
    yield from _name_rows(book.rows(name, errors), label, reading)


def _name_rows(rows: Iterator[tuple[int, list[str]]], label: str, reading: Reading) -> Rows:
    filled = ((number, cells) for number, cells in rows if any(cells))
    first, header = next(filled, (0, []))
    header = header[: max((place for place, name in enumerate(header, 1) if name), default=0)]
    check_names(header, f"{label}, row {first}")
    named = [(place, name) for place, name in enumerate(header) if name]
    for number, cells in filled:
        row = {name: cells[place] for place, name in named}
        if sum(map(bool, cells)) > sum(map(bool, row.values())):
            reading.note("cells under no name are left alone")
        if any(row.values()):
            yield f"{label}, row {number}", row


class _Book:
    """A workbook as the library reads it; what it gives up on is a broken file."""

    def __init__(self, raw: bytes, label: str) -> None:
        import python_calamine

        self._library = python_calamine
        self._label = label
        self._book = self._try(python_calamine.CalamineWorkbook.from_filelike, io.BytesIO(raw))
        visible = python_calamine.SheetVisibleEnum.Visible
        sheets = self._book.sheets_metadata
        # A hidden sheet is not what somebody sees who says "the first".
        self.names: list[str] = [
            sheet.name for sheet in sorted(sheets, key=lambda s: s.visible != visible)
        ]

    def rows(
        self, name: str, errors: dict[tuple[int, int], str]
    ) -> Iterator[tuple[int, list[str]]]:
        """Go through the rows of a sheet with their numbers, cells as text."""
        sheet = self._try(self._book.get_sheet_by_name, name)
        rows = self._try(lambda: sheet.to_python(skip_empty_area=False))
        for number, cells in enumerate(rows, 1):
            texts = [write_cell(cell) for cell in cells]
            if errors:
                for place in range(len(texts)):
                    texts[place] = texts[place] or errors.get((number, place + 1), "")
            yield number, texts

    def measure(self, name: str) -> Extent:
        """Tell how large a sheet is."""
        sheet = self._try(self._book.get_sheet_by_name, name)
        return Extent(sheet.height, sheet.width, sheet.height)

    def _try(self, act: Any, *arguments: Any) -> Any:
        try:
            return act(*arguments)
        except self._library.PasswordError:
            raise InputError(f"{self._label}: has a password", "save it without one") from None
        except (self._library.CalamineError, OSError, ValueError) as error:
            problem: BaseException = error
        except BaseException as error:
            # A panic of Rust is no Exception. Ctrl-C and the like are none of our business.
            if type(error).__name__ != "PanicException":
                raise
            problem = error
        remedy = "open it in a spreadsheet and save it again, or as CSV"
        raise InputError(f"{self._label}: not a whole workbook ({problem})", remedy)


def _choose_sheet(book: _Book, extents: dict[str, Extent], reading: Reading) -> str:
    """Give the name of the sheet to read; where several have rows, the others are noted."""
    wanted = reading.form.sheet
    if wanted in book.names:
        return wanted
    if wanted:
        if not (wanted.isdecimal() and 0 < int(wanted) <= len(book.names)):
            raise InputError(f"{reading.label}: no sheet {wanted!r}", closest(wanted, book.names))
        return book.names[int(wanted) - 1]
    sizes = {name: extents.get(name) or book.measure(name) for name in book.names}
    filled = [name for name in book.names if sizes[name].filled]
    # A cover or a note to the reader is no table: that has a header and a row, and columns.
    tables = [name for name in filled if sizes[name].filled > 1]
    wide = [name for name in tables if sizes[name].columns > 1]
    chosen = next(iter([*wide, *tables, *filled, *book.names]), "")
    others = [name for name in filled if name != chosen]
    if others:
        named = ", ".join(map(repr, others[:_FEW])) + ", …" * (len(others) > _FEW)
        hold = "hold" if len(others) > 1 else "holds"
        reading.note(f"sheet {chosen!r} ({named} {hold} rows too: --sheet)")
    return chosen


def write_cell(cell: Any) -> str:
    """Write what a cell holds as text: numbers as in CSV, dates as ISO 8601 has them."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        whole = math.isfinite(cell) and cell.is_integer() and abs(cell) < 1e15
        return str(int(cell)) if whole else repr(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    if isinstance(cell, date | time):
        return cell.isoformat()
    return str(cell) if isinstance(cell, timedelta) else "" if cell is None else str(cell)


def _name_cell(place: tuple[int, int]) -> str:
    row, column = place
    letters = ""
    while column:
        column, letter = divmod(column - 1, 26)
        letters = chr(ord("A") + letter) + letters
    return f"{letters}{row}"


def read_parquet(file: TextFile) -> Rows:
    """Go through the rows of a Parquet file, a batch at a time."""
    return iter_parquet(file.path, file.label)


def need_arrow() -> Any:
    """Give pyarrow with its Parquet, or say what to install."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise PackageMissing("pyarrow", "tables") from None
    return pyarrow


def iter_parquet(
    source: Any,
    label: str,
    *,
    columns: Collection[str] | None = None,
    start: int = 0,
    stop: int | None = None,
) -> Rows:
    """Go through rows of a Parquet file from `start` to before `stop`, counted from 0.

    Only row groups that hold such rows are read, and of them the columns named.
    """
    pa = need_arrow()
    try:
        table = pa.parquet.ParquetFile(source)
        check_names(table.schema_arrow.names, label)
        stop = table.metadata.num_rows if stop is None else stop
        groups, number = _find_groups(table.metadata, start, stop)
        wanted = None if columns is None else [n for n in table.schema_arrow.names if n in columns]
        for batch in table.iter_batches(batch_size=256, row_groups=groups, columns=wanted):
            first, number = number, number + len(batch)
            if number <= start or first >= stop:
                continue
            part = batch.slice(max(start - first, 0), min(stop, number) - max(start, first))
            for place, row in enumerate(_list_rows(part), max(start, first) + 1):
                yield f"{label}, row {place}", row
    except (pa.ArrowException, ValueError, UnicodeError) as error:
        problem = " ".join(str(error).split())
        raise InputError(
            f"{label}: not a Parquet file that can be read ({problem})", "write it again"
        ) from None


def _find_groups(metadata: Any, start: int, stop: int) -> tuple[list[int], int]:
    """Give the row groups that hold some of these rows, and the number of their first row."""
    groups: list[int] = []
    first, before = 0, 0
    for group in range(metadata.num_row_groups):
        after = before + metadata.row_group(group).num_rows
        if before < stop and after > start:
            first = first if groups else before
            groups.append(group)
        before = after
    return groups, first


def _list_rows(batch: Any) -> list[dict[str, Any]]:
    """Make rows of a batch; times that Python has no dates for become the text Arrow makes."""
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
        return rows
    except (ValueError, OverflowError):
        names = batch.schema.names
        columns = [_list_cells(batch.column(place)) for place in range(len(names))]
        return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _list_cells(column: Any) -> list[Any]:
    import pyarrow as pa

    try:
        cells: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        try:
            cells = column.cast(pa.string()).to_pylist()
        except pa.ArrowException:  # times within lists
            cells = ["out of range"] * len(column)
    return cells
