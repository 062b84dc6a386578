"""Made-up stories in files of every form that can be cut, and an object store for a session."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.object_store import FaultyProxy, describe_store, serve_objects

WORDS = "once upon a time there was an old lighthouse keeper who could not sleep at night".split()
METRICS = "words, mattr, rouge(n=2), bleu, cider, self_bleu, perplexity(model='fake()')"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty `FABULA_HOME`."""
    monkeypatch.setenv("FABULA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def make_rows(count: int) -> list[dict[str, Any]]:
    """Rows of stories by three systems, some without a text, a reference or an item."""
    chance = random.Random(7)
    return [
        {
            "id": f"s{number}",
            "text": "" if number % 61 == 5 else " ".join(chance.choices(WORDS, k=20 + number % 30)),
            "prompt": "A lamp goes out.",
            "reference": None if number % 13 == 2 else " ".join(chance.choices(WORDS, k=30)),
            "system": "abc"[number % 3],
            "item": None if number % 17 == 3 else str(number // 3),
            "unread": "x" * 50,
        }
        for number in range(count)
    ]


def write_parquet(path: Path, rows: list[dict[str, Any]], group: int = 30) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=group)
    return path


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    return path


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    return make_rows(200)


@pytest.fixture
def shards(tmp_path: Path, rows: list[dict[str, Any]]) -> str:
    """A pattern that stands for two Parquet files."""
    for number in range(2):
        write_parquet(tmp_path / f"in-{number}.parquet", rows[number * 100 :][:100])
    return str(tmp_path / "in-*.parquet")


@pytest.fixture(scope="session")
def object_store() -> Iterator[FaultyProxy]:
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with serve_objects() as proxy:
        yield proxy


@pytest.fixture
def store(object_store: FaultyProxy, monkeypatch: pytest.MonkeyPatch) -> FaultyProxy:
    """The store, reached by s3:// from here and from processes that are started here."""
    for name, value in describe_store(object_store).items():
        monkeypatch.setenv(name, value)
    object_store.on = False
    object_store.faults.clear()
    return object_store
