"""Run folders to make reports of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from fabula.core.story import Story
from fabula.core.table import ScoreTable, json_text
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate

MakeRun = Callable[..., Path]


def record_of(specs: Iterable[str], stories: int) -> dict[str, Any]:
    """Write the record of a run as `fabula score` does."""
    return {
        "fabula": "0.1.0",
        "finished": "2026-02-03T04:05:06+00:00",
        "input": {"path": "tales.jsonl", "format": "jsonl", "stories": stories},
        "question": {"input": "abc123"},
        "metrics": [
            {
                "spec": metric.spec,
                "direction": metric.card.direction,
                "family": metric.card.family,
                "signature": metric.signature(),
                "short_signature": metric.signature(short=True),
            }
            for metric in choose_metrics(specs)
        ],
        "versions": {"python": "3.11.0"},
        "files": {"scores.jsonl": "def456"},
    }


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Makes the folder of a run of some metrics over stories."""

    def make(
        stories: Iterable[Story], *specs: str, table: ScoreTable | None = None, name: str = "run"
    ) -> Path:
        listed = list(stories)
        folder = tmp_path / name
        (table or evaluate(listed, specs)).save(folder)
        record = record_of(specs, len(listed))
        (folder / "run.json").write_text(json_text(record), encoding="utf-8")
        return folder

    return make


@pytest.fixture
def two_systems() -> list[Story]:
    """Stories of two systems: one copies the reference, the other repeats itself."""
    reference = "The lamp went out and nobody lit it again that winter."
    texts = {"copy": reference, "loop": "It was dark. It was dark. It was dark. It was dark."}
    return [
        Story(
            f"{system}-{item}",
            f"{text} Night {item}.",
            prompt="A lamp.",
            references=(reference,),
            system=system,
            item=f"i{item}",
        )
        for item in range(4)
        for system, text in texts.items()
    ]
