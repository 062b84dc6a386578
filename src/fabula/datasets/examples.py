"""The example stories: written for this project, and what the demo runs on."""

from __future__ import annotations

from pathlib import Path

from fabula.core.dataset import Dataset, DatasetCard
from fabula.datasets.tables.stories import StoryFile

CARD = DatasetCard(
    title="Example stories",
    about="14 prompts, each answered by four writers: `human` is good, `loop` repeats itself, "
    "`scatter` is incoherent and `stray` tells another story. The references are second human "
    "stories on the same prompts.",
    licence="Apache-2.0",
    source="written for Fabula",
    counts={"stories": 56, "items": 14, "systems": 4},
)
FILE = Path(__file__).parent / "_files" / "examples.jsonl"


def load(path: Path | None = None) -> Dataset:
    """Load the stories; there are no ratings."""
    return Dataset("examples", CARD, tuple(StoryFile(path or FILE)))
