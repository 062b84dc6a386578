"""A grounder that sees what a test says, and pictures that are but names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fabula.core.model import Picture, Region
from fabula.learned.grounding.grounder import Sight


@dataclass
class ToldGrounder:
    """Sees in a picture, by its name, regions that are like nouns: name → noun → similarities.

    A noun that no picture speaks of is not known.
    """

    told: Mapping[str, Mapping[str, Sequence[float]]]
    signature: str = "told"
    absence: str = ""
    notes: tuple[str, ...] = ()
    looks: list[tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)

    def look(self, pictures: Sequence[Picture], nouns: Sequence[str]) -> list[Sight]:
        self.looks.append((tuple(picture.name for picture in pictures), tuple(nouns)))
        return [self._look_at(picture, nouns) for picture in pictures]

    def _look_at(self, picture: Picture, nouns: Sequence[str]) -> Sight:
        rows = self.told[picture.name]
        count = max((len(row) for row in rows.values()), default=0)
        table = np.full((count, len(nouns)), math.nan)
        for column, noun in enumerate(nouns):
            if noun in rows:
                table[:, column] = rows[noun]
        regions = tuple(Region((float(place), 0.0, 1.0, 1.0)) for place in range(count))
        return Sight(picture, regions, table, self.notes)


def name_picture(name: str) -> Picture:
    """A picture of one grey pixel."""
    return Picture(name, 1, 1, f"digest of {name}", np.full((1, 1, 3), 128, np.uint8))
