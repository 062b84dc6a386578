"""Texts as bags of content words, and what it costs to carry one bag to the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.score import Missing, Status
from fabula.metrics._distances import distances
from fabula.metrics._transport import exact_cost
from fabula.text.words import words

if TYPE_CHECKING:
    from fabula.core.model import Array

# Pairs of words between which mass can be moved within seconds.
MOST_PAIRS = 4_000_000
# Shares that differ by less are equal but for rounding.
_TINY = 1e-12


@dataclass(frozen=True)
class Bag:
    """How much of a text each of its known words is, and the share of its words that are known."""

    shares: dict[str, float]
    coverage: float


@lru_cache(maxsize=256)
def content_words(text: str, left_out: frozenset[str]) -> tuple[str, ...]:
    """Lower-case words but for those left out; of `sailor's` the sailor stays."""
    whole = (word for word in words(text) if word not in left_out)
    parts = (part for word in whole for part in word.split("'"))
    return tuple(part for part in parts if part not in left_out)


def make_bag(content: tuple[str, ...], known: dict[str, Array]) -> Bag:
    """Bag of the words that have a vector."""
    counts = Counter(word for word in content if word in known)
    total = counts.total()
    shares = {word: count / total for word, count in counts.items()}
    return Bag(shares, total / len(content) if content else 0.0)


def carrying_cost(left: Bag, right: Bag, known: dict[str, Array]) -> float:
    """Least sum of mass × distance that makes one bag the other.

    What both have of a word stays where it is: distances obey the triangle inequality, so that
    moving it gains nothing.
    """
    surplus = {word: one for word, one in _surplus(left, right).items() if one > _TINY}
    lack = {word: one for word, one in _surplus(right, left).items() if one > _TINY}
    if not surplus or not lack:
        return 0.0
    if (pairs := len(surplus) * len(lack)) > MOST_PAIRS:
        note = f"{len(surplus):,} × {len(lack):,} words that differ ({pairs:,} pairs)"
        raise Missing(Status.TOO_LONG, f"{note}: over the limit of {MOST_PAIRS:,}")
    weights = [np.array(list(side.values())) for side in (surplus, lack)]
    points = [np.array([known[word] for word in side]) for side in (surplus, lack)]
    moved = float(weights[0].sum())
    return moved * exact_cost(weights[0], weights[1], distances(points[0], points[1]))


def _surplus(one: Bag, other: Bag) -> dict[str, float]:
    return {word: share - other.shares.get(word, 0.0) for word, share in one.shares.items()}
