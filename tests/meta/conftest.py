"""Tables of two systems, made of their values item by item."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable

Versus = Callable[..., ScoreTable]


@pytest.fixture
def versus() -> Versus:
    """Makes a table of the systems `a` and `b` with one value per item and system."""

    def make(a: Sequence[float], b: Sequence[float], scorer: str = "toy") -> ScoreTable:
        stories, scores = [], []
        for system, values in (("a", a), ("b", b)):
            for item, value in enumerate(values):
                story = Story(f"{system}{item}", "Once.", system=system, item=str(item))
                stories.append(story)
                scores.append(Score(story.id, scorer, value=value))
        return ScoreTable(stories, scores)

    return make
