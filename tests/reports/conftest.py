"""Run folders to make reports of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate
from fakes.runs import make_record, write_record

MakeRun = Callable[..., Path]


@pytest.fixture
def make_run(tmp_path: Path) -> MakeRun:
    """Makes the folder of a run of some metrics over stories."""

    def make(
        stories: Iterable[Story], *specs: str, table: ScoreTable | None = None, name: str = "run"
    ) -> Path:
        listed = list(stories)
        folder = tmp_path / name
        (table or evaluate(listed, specs)).save(folder)
        write_record(folder, make_record(choose_metrics(specs), len(listed)))
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
