"""Chance that is the same in every process: generators of seeds, and draws by weight."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)
Seed = int | str | random.Random


def generator(seed: Seed) -> random.Random:
    """Make a generator of a number or a text (`f"{seed}:{story.id}"`); give back one given."""
    return seed if isinstance(seed, random.Random) else random.Random(seed)


def draw_order(rng: random.Random, weights: Mapping[Key, float]) -> list[Key]:
    """Draw all keys of weight above 0 without replacement, each in proportion to its weight."""
    left = {key: weight for key, weight in weights.items() if weight > 0}
    order = []
    while left:
        (key,) = rng.choices(list(left), list(left.values()))
        order.append(key)
        del left[key]
    return order


@dataclass(frozen=True)
class Bag:
    """Words that are drawn as often as they were counted."""

    words: tuple[str, ...]
    totals: tuple[int, ...]  # counts summed up to and with each word

    @classmethod
    def of(cls, counts: Iterable[tuple[str, int]]) -> Bag:
        """Make a bag of words and their counts; the order of the words does not matter."""
        words, numbers = zip(*sorted(counts), strict=True)
        return cls(words, tuple(accumulate(numbers)))

    def draw(self, rng: random.Random) -> str:
        """Draw a word by its frequency."""
        return self.words[bisect_right(self.totals, rng.randrange(self.totals[-1]))]
