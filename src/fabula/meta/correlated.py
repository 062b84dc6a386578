"""What a study finds: how far one metric agrees with the gold, and what that cannot bear."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fabula.core.dataset import Dataset
from fabula.meta.grid import Layout
from fabula.meta.levels import Level
from fabula.meta.measure import Statistic

# Below so many items, systems or stories an interval is a hint at best.
FEW = {"item": 20, "system": 8, "pooled": 30}


@dataclass(frozen=True)
class Correlated:
    """How far one metric agrees with the gold on one aspect, at one level, by one coefficient.

    `low` and `high` are the ends of the bootstrap interval; `ceiling` is what a perfect metric
    could reach, given the raters' noise. `gain` is how much larger the value is than the largest
    one, sign apart, of the trivial baselines, with the interval of that difference.
    """

    metric: str
    aspect: str
    level: Level
    coefficient: Statistic | Literal["accuracy"]
    value: float
    n: int
    undefined: int
    low: float
    high: float
    ceiling: float = math.nan
    gain: float = math.nan
    gain_low: float = math.nan
    gain_high: float = math.nan
    family: str = ""
    direction: str = "descriptive"

    def row(self) -> dict[str, Any]:
        """Give a flat row in which what is missing is None."""
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in asdict(self).items()
        }


def cautions_of(dataset: Dataset, layout: Layout, found: Sequence[Correlated]) -> list[str]:
    """Say plainly what the numbers cannot bear."""
    words = []
    units: Mapping[str, str] = {"item": "items", "system": "systems", "pooled": "stories"}
    for level, few in FEW.items():
        counts = [one.n for one in found if one.level == level]
        if counts and max(counts) < few:
            words.append(
                f"n is too small at the {level} level: {max(counts)} {units[level]}. Fewer than "
                f"{few} tell little; look at the intervals, not at the values."
            )
    if layout.shape[1] < 2:
        words.append("There are no systems to tell apart, so that only the pooled level is left.")
    unknown = sorted({one.metric for one in found if one.direction == "descriptive"})
    if unknown:
        words.append(f"Metrics without a direction, whose sign is as it is: {len(unknown)}.")
    if not dataset.card.raters_known:
        words.append(
            "The raters are not known, only their ratings in the order they came: whoever is "
            "strict counts as noise, and the noise ceilings are too low. A metric may lie above."
        )
    return words
