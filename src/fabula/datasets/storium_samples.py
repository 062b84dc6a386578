"""Three games in STORIUM's export format, written for this project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fabula.core.dataset import Dataset, DatasetCard
from fabula.datasets import storium

CARD = DatasetCard(
    title="Sample games",
    about="Three made-up games of 30 entries each in STORIUM's export format: *The Lamps of Vell* "
    "(a drowned city), *Greenhouse Nine* (a freighter on its way to Titan, not ended yet) and *The "
    "Bell of Little Marrow* (a village in 1926). They have all nine kinds of cards, challenges "
    "with stakes and outcomes, wild cards, refreshed hands, subplots and several players. "
    "`fabula studio samples` puts them into a studio.",
    licence="Apache-2.0",
    source="written for Fabula",
    counts={"stories": 84, "items": 10, "systems": 4},
)
FOLDER = Path(__file__).parent / "_files" / "games"


def load(path: Path | None = None) -> Dataset:
    """Load the entries that have a text."""
    return replace(storium.load(path or FOLDER), name="storium_samples", card=CARD)


def read_exports() -> Iterator[Any]:
    """Go through the games as they were exported."""
    return (value for _, value in storium.read_exports(FOLDER))
