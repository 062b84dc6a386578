"""Run folders made by hand: the record of a run, and the files it speaks of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fabula.core.files import checksum_file
from fabula.core.metric import Metric
from fabula.core.table import json_text
from fabula.scoring.folder import RUN, SCORES, STORIES


def metric_entry(metric: Metric) -> dict[str, Any]:
    """What a run says of a metric."""
    return {
        "spec": metric.spec,
        "direction": metric.direction,
        "family": metric.card.family,
        "signature": metric.signature(),
        "short_signature": metric.signature(short=True),
    }


def make_record(metrics: list[Metric], stories: int = 1, **changes: Any) -> dict[str, Any]:
    """Make the record of a run, but for its files."""
    return {
        "fabula": "0.1.0",
        "finished": "2026-02-03T04:05:06+00:00",
        "seconds": 1.0,
        "input": {"path": "tales.jsonl", "format": "jsonl", "stories": stories},
        "question": {"input": "abc123", "metrics": [metric.identity for metric in metrics]},
        "metrics": [metric_entry(metric) for metric in metrics],
        "versions": {"python": "3.11.0"},
    } | changes


def write_record(folder: Path, record: dict[str, Any]) -> None:
    """Write the record into the folder of a saved table, with the checksums of its files."""
    files = {name: checksum_file(folder / name) for name in (STORIES, SCORES)}
    (folder / RUN).write_text(json_text({**record, "files": files}), encoding="utf-8")


def write_run(
    folder: Path,
    *,
    systems: tuple[str, ...] = ("one", "two"),
    words: int = 5,
    metrics: str = "words, repetition",
) -> Path:
    """Score a few made-up stories of some systems into a folder, as `fabula score` does."""
    from fabula.datasets.tables.stories import StoryFile
    from fabula.scoring.catalogue import choose_metrics
    from fabula.scoring.run import RunOptions, run

    folder.parent.mkdir(parents=True, exist_ok=True)
    source = folder.parent / f"{folder.name}.jsonl"
    rows = [
        {
            "id": f"{system}-{item}",
            "item": f"item {item}",
            "system": system,
            "prompt": f"Write of harbour {item}.",
            "text": " ".join(["The ferry left at dawn."] * (words + number + item)),
        }
        for number, system in enumerate(systems)
        for item in range(3)
    ]
    source.write_text("".join(f"{json_text(row)}\n" for row in rows), encoding="utf-8")
    run(StoryFile(source), choose_metrics(metrics), RunOptions(folder, cache=False))
    return folder
