"""How often human stories do as much: quantiles of every craft check, by the length of a story.

`_reference.json` holds numbers alone, written by `benchmarks/craft.py --write` from stories that
people wrote on a forum; a story of another kind may have good reasons to differ.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

# Stories are compared with others of about their length: so many words or more, up to the next.
BANDS = (75, 150, 300, 600, 1000)
LEVELS = (
    0.0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8,
    0.85, 0.88, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 1.0,
)  # fmt: skip
_ALIKE = "of this length"
_MOST_ALIKE = 2 * BANDS[-1]  # words, beyond which hardly a story is as long
_ROUND = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200)


@dataclass(frozen=True)
class Distribution:
    """Quantiles of a check's values at `LEVELS`, over `count` human stories of a band's length."""

    count: int
    quantiles: tuple[float, ...]

    def at(self, level: float) -> float:
        """Give the quantile at one of `LEVELS`."""
        return self.quantiles[LEVELS.index(level)]

    def share_below(self, value: float) -> float:
        """Share of the stories whose value is lower; of ties between two levels the lower one."""
        return _interpolate(value, self.quantiles, LEVELS)

    def share_above(self, value: float) -> float:
        """Share of the stories whose value is higher; of ties between two levels the lower one."""
        mirrored = [-quantile for quantile in reversed(self.quantiles)]
        return _interpolate(-value, mirrored, [1 - level for level in reversed(LEVELS)])


def _interpolate(value: float, quantiles: Sequence[float], levels: Sequence[float]) -> float:
    """Level below a value, on the line between two quantiles; at one of them the level before."""
    at = bisect_left(quantiles, value)
    if at == 0:
        return 0.0
    if at == len(quantiles):
        return 1.0
    low, high = quantiles[at - 1], quantiles[at]
    part = 0.0 if high == value else (value - low) / (high - low)
    return levels[at - 1] + part * (levels[at] - levels[at - 1])


@dataclass(frozen=True)
class Comparison:
    """A value beside human stories: the share of them that have as much, and in words."""

    share: float
    said: str
    stories: int


def describe_values(values: Sequence[float]) -> Distribution:
    """Make the distribution of values."""
    numbers = np.quantile(np.asarray(values, dtype=float), LEVELS, method="lower")
    return Distribution(len(values), tuple(round(float(number), 4) for number in numbers))


def band_of(words: int) -> int | None:
    """Give the band of a story by its least words; None for one too short to compare."""
    at = bisect_right(BANDS, words) - 1
    return BANDS[at] if at >= 0 else None


def compare_with_humans(
    name: str, value: float, words: int, *, low: bool = False
) -> Comparison | None:
    """Say how many human stories of about so many words have at least a check's value.

    `name` is that of a check, with its aspect if it has several: `sentence_rhythm.run`. With `low`
    it is how many have at most the value. None where there is nothing to compare with.
    """
    band = band_of(words)
    known = read_reference().get(name, {})
    if band is None or band not in known or math.isnan(value):
        return None
    distribution = known[band]
    # `share_below` is what is strictly lower: the rest has as much or more.
    beyond = distribution.share_above(value) if low else distribution.share_below(value)
    share = 1.0 - beyond
    said = describe_share(share, low=low)
    if words > _MOST_ALIKE:
        said = said.replace(_ALIKE, f"of {BANDS[-1]:,} words and more")
    return Comparison(share, said, distribution.count)


def describe_share(share: float, *, low: bool = False) -> str:
    """Write a share of human stories as people say it: 1 in 40."""
    much = "as little" if low else "as much"
    if share > 1 / _ROUND[0]:
        return f"most human stories {_ALIKE} have {much}"
    if share < 1 / _ROUND[-1]:
        return f"fewer than 1 in {_ROUND[-1]} human stories {_ALIKE} have {much}"
    # The nearest by ratio, for 1 in 8 is as far from 1 in 10 as 1 in 80 from 1 in 100.
    nearest = min(_ROUND, key=lambda many: abs(math.log(many * share)))
    return f"about 1 in {nearest} human stories {_ALIKE} has {much}"


@lru_cache(maxsize=1)
def read_reference() -> Mapping[str, Mapping[int, Distribution]]:
    """Read our table: check → band → distribution."""
    text = (files(__package__) / "_reference.json").read_text(encoding="utf-8")
    return {
        name: {
            int(band): Distribution(row["count"], tuple(row["quantiles"]))
            for band, row in bands.items()
        }
        for name, bands in json.loads(text)["checks"].items()
    }
