"""Stories made of planted themes, and word vectors in which each theme is a direction."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fabula.core.story import Story

THEMES = (
    "harbour sailor anchor tide lighthouse deck rigging captain",
    "oven flour butter recipe kitchen bread pastry spoon",
    "teacher exam pencil classroom homework grade lesson pupil",
    "guitar melody drummer concert rehearsal chorus singer stage",
)
WIDTH = 8


def plant_stories(each: int = 40, *, words: int = 8, seed: int = 3) -> list[Story]:
    """Make stories that speak of one theme each, and say whose world they are of."""
    draw = random.Random(seed)
    return [
        Story(
            f"{number}-{theme}",
            "The " + " and the ".join(draw.choices(THEMES[theme].split(), k=words)) + ".",
            system=f"world {theme % 2}",
        )
        for number in range(each)
        for theme in range(len(THEMES))
    ]


def plant_vectors(themes: Sequence[str] = THEMES, seed: int = 5) -> dict[str, np.ndarray]:
    """Give a vector to every word: an axis for each theme, all on one common side, and noise."""
    rng = np.random.default_rng(seed)
    common = np.full(WIDTH, 2.0)
    return {
        word: common + 3 * np.eye(WIDTH)[theme] + 0.2 * rng.normal(size=WIDTH)
        for theme, line in enumerate(themes)
        for word in line.split()
    }


def write_vectors(path: Path) -> Path:
    """Write the vectors as GloVe does."""
    lines = [
        " ".join([word, *(f"{number:.5f}" for number in row)])
        for word, row in plant_vectors().items()
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
