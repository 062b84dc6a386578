"""Rows written to a file, in the form asked for: JSON, JSONL, CSV or Parquet.

A column has a kind, so that a file's form does not depend on what the rows happen to hold. Rows are
written as they come: there may be more than memory holds.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from fabula.core.errors import PackageMissing
from fabula.core.files import open_atomically, write_atomically, write_lines
from fabula.core.table import HALVES, json_text

Kind = Literal["text", "texts", "number", "integer", "truth", "moment", "json"]
RowForm = Literal["json", "jsonl", "csv", "parquet"]
ROW_FORMS: tuple[RowForm, ...] = get_args(RowForm)
Row = Mapping[str, Any]
_GROUP_ROWS = 10_000  # of Parquet, held in memory until there are so many


def write_rows(
    path: Path,
    form: RowForm,
    kinds: Mapping[str, Kind],
    rows: Iterable[Row],
    *,
    about: Mapping[str, str] = MappingProxyType({}),
) -> int:
    """Write rows with these columns and give how many there were.

    A missing value is null, or an empty cell of CSV. `texts` is a list of strings and `json`
    anything that JSON can say; CSV holds both as JSON, Parquet the latter. A moment is ISO 8601 in
    UTC, or a time stamp of Parquet. `about` is what Parquet is to say of itself.
    """
    count = 0

    def plain_rows() -> Iterator[dict[str, Any]]:
        nonlocal count
        for row in rows:
            count += 1
            yield {name: _make_plain(row[name]) for name in kinds}

    if form == "jsonl":
        write_lines(path, (f"{json_text(_write_moments(row))}\n" for row in plain_rows()))
    elif form == "json":
        write_lines(path, _write_array(plain_rows()))
    elif form == "csv":
        with open_atomically(path, errors=HALVES) as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(kinds)
            for row in plain_rows():
                cells = _write_moments(row)
                writer.writerow([_spell(cells[name], kinds[name]) for name in kinds])
    else:
        _write_parquet(path, kinds, plain_rows(), about)
    return count


def _make_plain(value: Any) -> Any:
    """Give a value in which NaN is None and several strings are a list."""
    if isinstance(value, tuple):
        return list(value)
    return None if value != value else value


def _write_moments(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def _write_array(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    ahead = "[\n"
    for row in rows:
        yield f"{ahead}{json_text(_write_moments(row))}"
        ahead = ",\n"
    yield "[]\n" if ahead == "[\n" else "\n]\n"


def _spell(cell: Any, kind: Kind) -> Any:
    if cell is None or kind not in ("texts", "json"):
        return cell
    return "" if kind == "texts" and not cell else json.dumps(cell, ensure_ascii=False)


def _write_parquet(
    path: Path,
    kinds: Mapping[str, Kind],
    rows: Iterator[dict[str, Any]],
    about: Mapping[str, str],
) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise PackageMissing("pyarrow", "tables") from None
    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "number": pa.float64(),
        "integer": pa.int64(),
        "truth": pa.bool_(),
        "moment": pa.timestamp("us", tz="UTC"),
        "json": pa.string(),
    }
    schema = pa.schema([(name, types[kind]) for name, kind in kinds.items()], dict(about))
    with write_atomically(path) as partial, pq.ParquetWriter(partial, schema) as writer:
        while group := list(islice(rows, _GROUP_ROWS)):
            for row in group:
                for name, kind in kinds.items():
                    cell = _spell(row[name], kind) if kind == "json" else row[name]
                    row[name] = _spell_halves(cell)
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _spell_halves(value: Any) -> Any:
    """Spell halves of characters, which Parquet cannot hold, as escapes."""
    if isinstance(value, list):
        return [_spell_halves(part) for part in value]
    return value.encode("utf-8", HALVES).decode() if isinstance(value, str) else value
