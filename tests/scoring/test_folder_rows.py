from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from fabula.core.table import COLUMNS
from fabula.scoring import folder as run_folder
from fabula.scoring.folder import RowWriter


def row(number: int, **change: Any) -> dict[str, Any]:
    usual = ("s" + str(number), None, "writer", "words", "", number / 3, "ok", 1.0, "")
    return dict(zip(COLUMNS, usual, strict=True)) | change


ROWS = [
    row(1),
    row(2, value=math.nan, status="undefined", coverage=0.0, note="“no” words\n–"),
    row(3, item="7", system=None, value=5e-324),
    row(4, story="naïve 故事 😀", aspect="f"),
]


def written(folder: Path, some: list[dict[str, Any]]) -> tuple[list[Any], list[Any]]:
    with RowWriter(folder) as writer:
        for one in some:
            writer.write(one)
    text = (folder / "scores.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n")[:-1]]
    return lines, pq.read_table(folder / "scores.parquet").to_pylist()


def test_parquet_holds_what_jsonl_holds(tmp_path: Path) -> None:
    lines, table = written(tmp_path, ROWS)
    assert lines == table
    assert [line["value"] for line in lines] == [1 / 3, None, 5e-324, 4 / 3]


def test_groups_are_joined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "SCORE_ROWS", 2)
    many = [row(number) for number in range(7)]
    lines, table = written(tmp_path, many)
    assert lines == table == many
    assert pq.ParquetFile(tmp_path / "scores.parquet").num_row_groups == 4


def test_the_schema_does_not_depend_on_the_rows(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "some").mkdir()
    written(tmp_path / "none", [row(1, value=math.nan)])
    written(tmp_path / "some", ROWS)
    schemas = [pq.read_schema(tmp_path / name / "scores.parquet") for name in ("none", "some")]
    assert schemas[0] == schemas[1]


def test_a_lone_surrogate_in_a_name_does_not_stop_the_writing(tmp_path: Path) -> None:
    lines, table = written(tmp_path, [row(1, story="a\ud800b")])
    assert lines[0]["story"] == "a\ud800b"
    assert table[0]["story"] == "a\\ud800b"


def test_without_pyarrow_there_is_jsonl_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder.importlib.util, "find_spec", lambda name: None)
    with RowWriter(tmp_path) as writer:
        writer.write(row(1))
    found = sorted(path.name for path in tmp_path.iterdir())
    assert found == ["scores.jsonl", "stories.jsonl"]
