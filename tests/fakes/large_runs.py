"""Runs to be read where they lie: small ones that are taken for large, in one file or in parts."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from fabula.core.files import checksum_file
from fabula.core.table import json_text
from fabula.scoring import lazy_run
from fabula.scoring.folder import RUN

METRICS = "words, mattr, repetition, rouge(n=1)"
SYSTEMS = ("ash", "birch", "cedar")
_WORDS = "the ferry left at dawn and nobody waved from a cold pier while gulls turned over".split()


def make_rows(items: int = 12, *, seed: int = 0) -> list[dict[str, Any]]:
    """Stories of three systems; one has no text, one no reference, the last copies the first."""
    chance = random.Random(seed)

    def write(length: int) -> str:
        return " ".join(chance.choice(_WORDS) for _ in range(length))

    rows = [
        {
            "id": f"{system}-{item}",
            "item": f"item {item}",
            "system": system,
            "prompt": f"Write of harbour {item}.",
            "text": write(20 + 5 * number + item % 7),
            "references": [write(25)],
        }
        for item in range(items)
        for number, system in enumerate(SYSTEMS)
    ]
    rows[4]["text"] = ""
    rows[5]["references"] = []
    rows[-1]["text"] = rows[0]["text"]
    return rows


def write_scored(folder: Path, rows: list[dict[str, Any]], metrics: str = METRICS) -> Path:
    """Score rows into a run folder, as `fabula score` does."""
    from fabula.datasets.tables.stories import StoryFile
    from fabula.scoring.catalogue import choose_metrics
    from fabula.scoring.run import RunOptions, run

    folder.parent.mkdir(parents=True, exist_ok=True)
    source = folder.parent / f"{folder.name}.jsonl"
    source.write_text("".join(f"{json_text(row)}\n" for row in rows), encoding="utf-8")
    run(StoryFile(source), choose_metrics(metrics), RunOptions(folder, cache=False))
    return folder


def write_in_parts(folder: Path, into: Path, *, size: int = 5) -> Path:
    """Write a run of one file again as a run in parts of so many stories."""
    stories, scores = (
        [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").splitlines()]
        for name in ("stories.jsonl", "scores.jsonl")
    )
    files, told = {}, []
    for number, start in enumerate(range(0, len(stories), size)):
        own = stories[start : start + size]
        ids = {story["id"] for story in own}
        parts = {"stories": own, "scores": [row for row in scores if row["story"] in ids]}
        for name, rows in parts.items():
            path = into / name / f"part-{number:05d}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(
                pa.Table.from_pylist(rows, schema=_SCHEMAS[name]), path, compression="zstd"
            )
            files[f"{name}/{path.name}"] = checksum_file(path)
        sizes = [(into / name).joinpath(path.name).stat().st_size for name in parts]
        told.append({"stories": len(own), "scores": len(parts["scores"]), "bytes": sizes})
    record = json.loads((folder / RUN).read_text(encoding="utf-8"))
    record.pop("checksum")
    (into / RUN).write_text(json_text(record | {"files": files, "parts": told}), encoding="utf-8")
    return into


_TEXT, _TEXTS, _NUMBER = pa.string(), pa.list_(pa.string()), pa.float64()
_SCHEMAS = {
    "stories": pa.schema(
        [("id", _TEXT), ("text", _TEXT), ("prompt", _TEXT), ("references", _TEXTS),
         ("images", _TEXTS), ("system", _TEXT), ("item", _TEXT)]
    ),
    "scores": pa.schema(
        [("story", _TEXT), ("item", _TEXT), ("system", _TEXT), ("scorer", _TEXT),
         ("aspect", _TEXT), ("value", _NUMBER), ("status", _TEXT), ("coverage", _NUMBER),
         ("note", _TEXT)]
    ),
}  # fmt: skip


def take_for_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every run be read where it lies, however small."""
    monkeypatch.setattr(lazy_run, "MOST_STORIES", 1)
