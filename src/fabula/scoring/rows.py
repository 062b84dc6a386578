"""Rows of scores written as they come: JSONL, and Parquet where it can be had."""

from __future__ import annotations

from pathlib import Path
from typing import IO, Any

from fabula.core.table import COLUMNS, json_line, plain_row
from fabula.scoring.folder import PARQUET, SCORES, has_parquet

_GROUP = 50_000


class RowWriter:
    """Writes rows into a folder, a group at a time, so that memory stays bounded."""

    def __init__(self, folder: Path) -> None:
        self._jsonl: IO[str] = (folder / SCORES).open("w", encoding="utf-8", errors="replace")
        self._parquet = _ParquetRows(folder / PARQUET) if has_parquet() else None

    def write(self, row: dict[str, Any]) -> None:
        """Write one row."""
        self._jsonl.write(json_line(row))
        if self._parquet:
            self._parquet.write(row)

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._jsonl.close()
        if self._parquet:
            self._parquet.close()


class _ParquetRows:
    """Rows as Parquet, with a schema that does not depend on what they hold."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds = {name: pa.string() for name in COLUMNS}
        kinds |= {"value": pa.float64(), "coverage": pa.float64()}
        self._pa = pa
        self._schema = pa.schema(list(kinds.items()))
        self._writer = pq.ParquetWriter(path, self._schema)
        self._rows: list[dict[str, Any]] = []

    def write(self, row: dict[str, Any]) -> None:
        self._rows.append(plain_row(row))
        if len(self._rows) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        table = self._pa.Table.from_pylist(self._rows, schema=self._schema)
        self._writer.write_table(table)
        self._rows.clear()

    def close(self) -> None:
        self._flush()
        self._writer.close()
