"""A data set written as plain rows: stories, ratings, scores and preferences, a file each."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import PackageMissing, UserError
from fabula.core.table import COLUMNS, HALVES, json_text

_STORY = ("id", "text", "prompt", "references", "images", "system", "item")
_CHOICE = ("better", "worse", "rater")
_NUMBERS = ("value", "coverage")

Rows = Sequence[dict[str, Any]]


def write_dataset(dataset: Dataset, folder: Path, form: str = "jsonl") -> list[Path]:
    """Write what a data set holds into a folder; a part that is empty gets no file."""
    parts: dict[str, tuple[Sequence[str], Rows]] = {
        "stories": (_STORY, [asdict(story) for story in dataset.stories]),
        "ratings": (COLUMNS, list(dataset.ratings.rows())),
        "scores": (COLUMNS, list(dataset.scores.rows())),
        "preferences": (_CHOICE, [asdict(one) for one in dataset.preferences]),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return [
            _write(folder / f"{name}.{form}", columns, rows)
            for name, (columns, rows) in parts.items()
            if rows
        ]
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"{folder} cannot be written ({reason})", "choose another") from None


def _write(path: Path, columns: Sequence[str], rows: Rows) -> Path:
    plain = [_plain(row) for row in rows]
    partial = path.with_name(f".{path.name}.partial")
    if path.suffix == ".parquet":
        _write_parquet(partial, columns, plain)
    else:
        lines = _csv_lines(columns, plain) if path.suffix == ".csv" else _json_lines(plain)
        with partial.open("w", encoding="utf-8", errors=HALVES, newline="") as file:
            file.writelines(lines)
    return partial.replace(path)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    """Give a row in which NaN is None and several strings are a list."""
    return {
        key: list(value) if isinstance(value, tuple) else None if value != value else value
        for key, value in row.items()
    }


def _json_lines(rows: Rows) -> Iterator[str]:
    return (json_text(row) + "\n" for row in rows)


class _Lines:
    """Takes the lines that a writer of CSV makes, one at a time."""

    def write(self, line: str) -> str:
        return line


def _csv_lines(columns: Sequence[str], rows: Rows) -> Iterator[str]:
    """Lines of CSV; lists are spelled as JSON, which a file of stories is read from again."""
    writer = csv.writer(_Lines(), lineterminator="\n")
    yield str(writer.writerow(columns))
    for row in rows:
        cells = [row[name] for name in columns]
        yield str(writer.writerow([_spelled(cell) for cell in cells]))


def _spelled(cell: Any) -> Any:
    if isinstance(cell, list):
        return json.dumps(cell, ensure_ascii=False) if cell else ""
    return cell


def _write_parquet(path: Path, columns: Sequence[str], rows: Rows) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise PackageMissing("pyarrow", "tables") from None
    kinds = {name: pa.string() for name in columns}
    kinds |= {name: pa.float64() for name in _NUMBERS if name in kinds}
    kinds |= {name: pa.list_(pa.string()) for name in ("references", "images") if name in kinds}
    whole = [{key: _whole(value) for key, value in row.items()} for row in rows]
    pq.write_table(pa.Table.from_pylist(whole, schema=pa.schema(list(kinds.items()))), path)


def _whole(value: Any) -> Any:
    """Give a value without halves of characters, which Parquet cannot hold."""
    if isinstance(value, list):
        return [_whole(one) for one in value]
    return value.encode("utf-8", HALVES).decode() if isinstance(value, str) else value
