"""A data set written as plain rows: stories, ratings, scores and preferences, a file each."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset
from fabula.core.errors import PackageMissing
from fabula.core.files import (
    note_written,
    open_atomically,
    refuse_foreign,
    write_atomically,
    write_lines,
)
from fabula.core.table import COLUMNS, HALVES, json_text

_STORY = ("id", "text", "prompt", "references", "images", "system", "item")
_PREFERENCE = ("better", "worse", "rater")
_NUMBERS = ("value", "coverage")

_Rows = Sequence[dict[str, Any]]


def write_dataset(
    dataset: Dataset,
    folder: Path,
    form: str = "jsonl",
    *,
    inputs: Iterable[Path] = (),
    overwrite: bool = False,
) -> list[Path]:
    """Write what a data set holds into a folder; a part that is empty gets no file.

    What is not of our making is only lost with `overwrite`, and never one of the `inputs`.
    """
    parts: dict[str, tuple[Sequence[str], list[dict[str, Any]]]] = {
        "stories": (_STORY, [asdict(story) for story in dataset.stories]),
        "ratings": (COLUMNS, list(dataset.ratings.rows())),
        "scores": (COLUMNS, list(dataset.scores.rows())),
        "preferences": (_PREFERENCE, [asdict(choice) for choice in dataset.preferences]),
    }
    write = {"csv": _write_csv, "parquet": _write_parquet, "jsonl": _write_jsonl}[form]
    paths = {name: folder / f"{name}.{form}" for name, (_, rows) in parts.items() if rows}
    names = [path.name for path in paths.values()]
    refuse_foreign(folder, names, inputs=inputs, overwrite=overwrite)
    for name, path in paths.items():
        columns, rows = parts[name]
        write(path, columns, [_make_plain(row) for row in rows])
    note_written(folder, names)
    return list(paths.values())


def _make_plain(row: dict[str, Any]) -> dict[str, Any]:
    """Give a row in which NaN is None and several strings are a list."""
    return {
        key: list(value) if isinstance(value, tuple) else None if value != value else value
        for key, value in row.items()
    }


def _write_jsonl(path: Path, _columns: Sequence[str], rows: _Rows) -> None:
    write_lines(path, (f"{json_text(row)}\n" for row in rows))


def _write_csv(path: Path, columns: Sequence[str], rows: _Rows) -> None:
    """Write CSV; lists are spelled as JSON, which a file of stories is read from again."""
    with open_atomically(path, errors=HALVES) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_spell(row[name]) for name in columns] for row in rows)


def _spell(cell: Any) -> Any:
    if isinstance(cell, list):
        return json.dumps(cell, ensure_ascii=False) if cell else ""
    return cell


def _write_parquet(path: Path, columns: Sequence[str], rows: _Rows) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise PackageMissing("pyarrow", "tables") from None
    kinds = {name: pa.string() for name in columns}
    kinds |= {name: pa.float64() for name in _NUMBERS if name in kinds}
    kinds |= {name: pa.list_(pa.string()) for name in ("references", "images") if name in kinds}
    whole = [{key: _spell_halves(value) for key, value in row.items()} for row in rows]
    table = pa.Table.from_pylist(whole, schema=pa.schema(list(kinds.items())))
    with write_atomically(path) as partial:
        pq.write_table(table, partial)


def _spell_halves(value: Any) -> Any:
    """Spell halves of characters, which Parquet cannot hold, as escapes."""
    if isinstance(value, list):
        return [_spell_halves(part) for part in value]
    return value.encode("utf-8", HALVES).decode() if isinstance(value, str) else value
