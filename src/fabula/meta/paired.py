"""Two systems side by side: their values on the items that both have, scorer by scorer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.core.card import Direction
from fabula.core.errors import InputError, UnknownName, closest
from fabula.core.score import Score
from fabula.core.table import ScoreTable

Values = np.ndarray[Any, np.dtype[np.float64]]

# A descriptive metric knows no better way: its difference stays as it is.
_SIGNS: Mapping[Direction, float] = {"higher": 1.0, "lower": -1.0, "descriptive": 1.0}


@dataclass(frozen=True)
class Pairs:
    """Values of two systems on the items where both have one, by one scorer on one aspect.

    Items of either system that lack a value of the other's or of their own are left out.
    """

    scorer: str
    aspect: str
    direction: Direction
    a: Values  # (items,)
    b: Values  # (items,)
    left_out: int

    @property
    def differences(self) -> Values:
        """Differences item by item; positive ones favour A, or say that it is the higher one."""
        return _SIGNS[self.direction] * (self.a - self.b)


def paired(
    table: ScoreTable, a: str, b: str, *, directions: Mapping[str, Direction]
) -> Iterator[Pairs]:
    """Give the pairs of two systems for every scorer and aspect of a table, in its order.

    A scorer without a direction is taken for descriptive, which claims least.
    """
    stories = [story for story in table.stories if (story.system or "") in (a, b)]
    for (scorer, aspect), scores in _by_opinion(table, {story.id for story in stories}).items():
        _, systems, values = ScoreTable(stories, scores).pivot(scorer, aspect)
        of_a, of_b = values[:, systems.index(a)], values[:, systems.index(b)]
        ready = np.isfinite(of_a) & np.isfinite(of_b)
        yield Pairs(
            scorer,
            aspect,
            directions.get(scorer, "descriptive"),
            of_a[ready],
            of_b[ready],
            int((~ready).sum()),
        )


def count_shared_items(table: ScoreTable, a: str, b: str) -> int:
    """Count the items for which both systems have a story; fewer than two will not do."""
    items: dict[str, set[str]] = {}
    for story in table.stories:
        items.setdefault(story.system or "", set()).add(story.item or "")
    for name in (a, b):
        if name not in items:
            raise UnknownName(f"no system is called {name!r} here", closest(name, items))
    shared = len(items[a] & items[b])
    if shared < 2:
        raise InputError(
            f"{a!r} and {b!r} share {_counted(shared)}, and it takes at least 2 to compare them",
            f"give stories for one task the same item; systems known: {', '.join(sorted(items))}",
        )
    return shared


def _counted(items: int) -> str:
    return f"{items} item" if items == 1 else f"{items} items"


def _by_opinion(table: ScoreTable, wanted: set[str]) -> dict[tuple[str, str], list[Score]]:
    """Part the scores of some stories by scorer and aspect, in one pass."""
    found: dict[tuple[str, str], list[Score]] = {}
    for score in table:
        if score.story in wanted:
            found.setdefault((score.scorer, score.aspect), []).append(score)
    return found
