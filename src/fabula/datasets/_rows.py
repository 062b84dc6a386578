"""Rows of a file, whatever its format: each with the words that say where it stands."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError, PackageMissing
from fabula.datasets._lines import MOST_LINE_BYTES, lines

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


def format_of(path: Path) -> str:
    """Tell a file's format by its name."""
    if path.is_dir():
        return "folder"
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    if suffix not in _SUFFIXES:
        raise InputError(
            f"{path}: cannot tell the format by the name",
            f"pass --input-format with one of {', '.join(sorted(set(_SUFFIXES.values())))}",
        )
    return _SUFFIXES[suffix]


def rows(path: Path, kind: str, encoding: str) -> Rows:
    """Go through the rows of a file of that format."""
    return _READERS[kind](path, encoding)


def _jsonl_rows(path: Path, encoding: str) -> Rows:
    for number, line in lines(path, encoding):
        if line.strip():
            where = f"{path}, line {number}"
            yield where, _object(_parsed(line, where), where)


def _json_rows(path: Path, encoding: str) -> Rows:
    text = "".join(line for _, line in lines(path, encoding))
    found = _parsed(text, str(path))
    if isinstance(found, dict) and isinstance(found.get("stories"), list):
        found = found["stories"]
    if not isinstance(found, list):
        raise InputError(f"{path}: not a list of stories", 'write [{"text": …}, …] or JSONL')
    for number, one in enumerate(found, 1):
        where = f"{path}, story {number}"
        yield where, _object(one, where)


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"column {error.colno}" if "line" in where else f"line {error.lineno}"
        raise InputError(
            f"{where}: not valid JSON ({error.msg} at {place})", "mend or delete it"
        ) from None
    except RecursionError:
        raise InputError(f"{where}: JSON nested too deeply", "mend or delete it") from None


def _object(value: Any, where: str) -> Row:
    if not isinstance(value, dict):
        raise InputError(f"{where}: not a JSON object", 'write {"text": "…", …}')
    return value


def _csv_rows(path: Path, encoding: str, delimiter: str = ",") -> Rows:
    csv.field_size_limit(MOST_LINE_BYTES)
    text = (line for _, line in lines(path, encoding))
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            return
        _check_header(header, path)
        for cells in reader:
            where = f"{path}, line {reader.line_num}"
            if cells:
                yield where, _named(header, cells, where)
    except csv.Error as error:
        raise InputError(
            f"{path}, line {reader.line_num}: broken CSV ({error})", "mend the quotes there"
        ) from None


def _check_header(header: list[str], path: Path) -> None:
    doubled = {name for name in header if header.count(name) > 1}
    if doubled:
        raise InputError(f"{path}, line 1: column {min(doubled)!r} stands twice", "rename one")


def _named(header: list[str], cells: list[str], where: str) -> Row:
    if len(cells) != len(header):
        raise InputError(
            f"{where}: {len(cells)} cells where the header has {len(header)}",
            "quote cells that hold the separator or a line break",
        )
    return dict(zip(header, cells, strict=True))


def _tsv_rows(path: Path, encoding: str) -> Rows:
    return _csv_rows(path, encoding, "\t")


def _parquet_rows(path: Path, encoding: str) -> Rows:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise PackageMissing("pyarrow", "tables") from None
    number = 0
    try:
        for batch in pq.ParquetFile(path).iter_batches(batch_size=256):
            for row in batch.to_pylist():
                number += 1
                yield f"{path}, row {number}", row
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: not a Parquet file ({error})", "write it again") from None


def _text_rows(path: Path, encoding: str) -> Rows:
    text = "".join(line for _, line in lines(path, encoding))
    yield str(path), {"id": path.stem, "text": text}


def _folder_rows(path: Path, encoding: str) -> Rows:
    """One story a file; a folder within stands for a system, the file's name for the item."""
    for file in story_files(path):
        text = "".join(line for _, line in lines(file, encoding))
        inner = file.relative_to(path)
        row = {"id": str(inner.with_suffix("").as_posix()), "text": text, "item": file.stem}
        if len(inner.parts) > 1:
            row["system"] = "/".join(inner.parts[:-1])
        yield str(file), row


def story_files(folder: Path) -> list[Path]:
    """Text files of a folder, sorted; none is a mistake."""
    found = sorted(path for path in folder.rglob("*.txt") if path.is_file())
    if not found:
        raise InputError(f"{folder}: a folder without .txt files", "give a file or add some")
    return found


_READERS: dict[str, Callable[[Path, str], Rows]] = {
    "jsonl": _jsonl_rows,
    "json": _json_rows,
    "csv": _csv_rows,
    "tsv": _tsv_rows,
    "parquet": _parquet_rows,
    "txt": _text_rows,
    "folder": _folder_rows,
}
FORMATS = tuple(_READERS)
