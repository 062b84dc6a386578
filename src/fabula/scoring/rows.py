"""Stories and scores written as they come: JSONL, and Parquet where it can be had."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from fabula.core.story import Story
from fabula.core.table import COLUMNS, HALVES, SCORES, STORIES, json_line, plain_row, story_line
from fabula.scoring.folder import PARQUET, has_parquet, unwritable

_GROUP = 50_000


class RowWriter:
    """Writes rows into a folder, a group at a time, so that memory stays bounded."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        with self._explained():
            self._stories: IO[str] = (folder / STORIES).open("w", encoding="utf-8")
            self._jsonl: IO[str] = (folder / SCORES).open("w", encoding="utf-8")
            self._parquet = _ParquetRows(folder / PARQUET) if has_parquet() else None

    def write_story(self, story: Story) -> None:
        """Write a story, so that the folder says by itself what was scored."""
        try:
            self._stories.write(story_line(story))
        except OSError as error:
            raise unwritable(self._folder.parent, error) from error

    def write(self, row: dict[str, Any]) -> None:
        """Write one row."""
        try:
            self._jsonl.write(json_line(row))
            if self._parquet:
                self._parquet.write(row)
        except OSError as error:
            raise unwritable(self._folder.parent, error) from error

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with self._explained():
            self._stories.close()
            self._jsonl.close()
            if self._parquet:
                self._parquet.close()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise unwritable(self._folder.parent, error) from error


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
        self._rows.append({key: _whole(value) for key, value in plain_row(row).items()})
        if len(self._rows) >= _GROUP:
            self._flush()

    def _flush(self) -> None:
        table = self._pa.Table.from_pylist(self._rows, schema=self._schema)
        self._writer.write_table(table)
        self._rows.clear()

    def close(self) -> None:
        self._flush()
        self._writer.close()


def _whole(value: Any) -> Any:
    """Give a value without halves of characters, which Parquet cannot hold."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", HALVES).decode()
