"""Rows of a file, whatever its format: each with the words that say where it stands.

To add a format, write its reader, enter it in `_READERS` and its suffixes in `_SUFFIXES`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, PackageMissing
from fabula.datasets.tables.text_file import MOST_LINE_BYTES, TextFile

Row = Mapping[str, Any]
Rows = Iterator[tuple[str, Row]]

_SUFFIXES = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".txt": "txt",
}


def detect_format(path: Path) -> str:
    """Tell a file's format by its name."""
    if path.is_dir():
        return "folder"
    suffix = _suffix(path)
    if suffix not in _SUFFIXES:
        raise InputError(
            f"{path}: cannot tell the format by the name",
            f"pass --input-format with one of {', '.join(sorted(set(_SUFFIXES.values())))}",
        )
    return _SUFFIXES[suffix]


def is_table(path: Path) -> bool:
    """Whether a file's name says that it holds rows, and not one text."""
    return _SUFFIXES.get(_suffix(path), "txt") != "txt"


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def read_rows(file: TextFile, kind: str = "") -> Rows:
    """Go through a file's rows with the words for where each is; its name tells the format."""
    try:
        yield from _READERS[kind or detect_format(file.path)](file)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{file.label}: cannot be read ({reason})", "check it") from None


def _read_jsonl(file: TextFile) -> Rows:
    for number, line in file.lines():
        if line.strip():
            where = f"{file.label}, line {number}"
            yield where, _check_object(_parse_json(line, where), where)


def _read_json(file: TextFile) -> Rows:
    value = _parse_json(file.text(), file.label)
    if isinstance(value, dict) and isinstance(value.get("stories"), list):
        value = value["stories"]
    if not isinstance(value, list):
        raise InputError(f"{file.label}: not a list of stories", 'write [{"text": …}, …] or JSONL')
    for number, row in enumerate(value, 1):
        where = f"{file.label}, story {number}"
        yield where, _check_object(row, where)


def _parse_json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        problem = f"{error.msg} at {line}column {error.colno}"
    except ValueError as error:
        problem = str(error)
    except RecursionError:
        problem = "nested too deeply"
    raise InputError(f"{where}: not valid JSON ({problem})", "mend or delete it")


def _check_object(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object", 'write {"text": "…", …}')
    return value


def _read_csv(file: TextFile, delimiter: str = ",") -> Rows:
    csv.field_size_limit(MOST_LINE_BYTES)
    reader = csv.reader((line for _, line in file.lines()), delimiter=delimiter, strict=True)
    begins = 1
    try:
        header = next(reader, None)
        if header is None:
            return
        _check_names(header, f"{file.label}, line 1")
        begins = reader.line_num + 1
        for cells in reader:
            where = f"{file.label}, line {begins}"
            begins = reader.line_num + 1
            if cells:
                yield where, _name_cells(header, cells, where)
    except csv.Error as error:
        problem = f"{file.label}, line {begins}: broken CSV ({error})"
        raise InputError(problem, "mend the quotes of the row that begins there") from None


def _check_names(names: list[str], where: str) -> None:
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise InputError(f"{where}: column {min(doubled)!r} stands twice", "rename one")


def _name_cells(header: list[str], cells: list[str], where: str) -> Row:
    if len(cells) != len(header):
        raise InputError(
            f"{where}: {len(cells)} cells where the header has {len(header)}",
            "quote cells that hold the separator or a line break",
        )
    return dict(zip(header, cells, strict=True))


def _read_tsv(file: TextFile) -> Rows:
    return _read_csv(file, "\t")


def _read_parquet(file: TextFile) -> Rows:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise PackageMissing("pyarrow", "tables") from None
    number = 0
    try:
        table = pq.ParquetFile(file.path)
        _check_names(table.schema_arrow.names, file.label)
        for batch in table.iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                yield f"{file.label}, row {number}", row
    except pa.ArrowInvalid as error:
        raise InputError(f"{file.label}: not a Parquet file ({error})", "write it again") from None


def _read_text(file: TextFile) -> Rows:
    name = Path(file.path.name.removesuffix(".gz")).stem
    yield file.label, {"id": name, "text": file.text()}


def _read_folder(file: TextFile) -> Rows:
    """One story a file; a folder within stands for a system, the file's name for the item."""
    for path in list_story_files(file.path):
        inner = path.relative_to(file.path)
        text = TextFile(path, str(path), file.encoding).text()
        row = {"id": inner.with_suffix("").as_posix(), "text": text, "item": path.stem}
        if len(inner.parts) > 1:
            row["system"] = inner.parent.as_posix()
        yield str(path), row


def list_story_files(folder: Path) -> list[Path]:
    """Text files of a folder, sorted; none is a mistake."""
    paths = sorted(path for path in folder.rglob("*.txt") if path.is_file())
    if not paths:
        raise InputError(f"{folder}: a folder without .txt files", "give a file or add some")
    return paths


_READERS: dict[str, Callable[[TextFile], Rows]] = {
    "jsonl": _read_jsonl,
    "json": _read_json,
    "csv": _read_csv,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "txt": _read_text,
    "folder": _read_folder,
}
FORMATS = tuple(_READERS)
