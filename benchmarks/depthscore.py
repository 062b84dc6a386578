"""DepthScore after the shared pass, against its definition written down in NumPy.

    python benchmarks/depthscore.py [ITEMS]

Made-up clouds of 100 to 800 tokens in 384 dimensions: for every item a reference and eleven
stories that share it, as in HANNA. They are in memory on both sides, so that no model is needed.

The definition goes pair by pair: draw 10,000 directions from the seed, project both texts in 64
bits, argsort every direction, write down the ranks, take means and percentiles; then, percentile
by percentile, project the tokens that are kept and take maxima. A sparing one projects once and
takes the maxima from that; the bar is against the plain one, and both ratios are printed. What
drawing takes is said. Ours draws directions once a process; it is timed with one pair a call, where
nothing else is shared, and with the eleven pairs of an item in a call, where the reference is
worked out once. Ways take turns and times are medians over
items, so that a busy machine hits all alike. Values must agree to 1e-4: ours projects in 32 bits.

Both may use all cores, which only the definition's projection does. Without numba (the extra
`fast`) ours sorts with NumPy alone and does not meet the bar.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import numpy as np

from fabula.core.model import TokenStates
from fabula.core.story import Story
from fabula.metrics.depthscore import Depthscore
from fabula.models import thread_limit

S = TypeVar("S")
T = TypeVar("T")
Array = np.ndarray[Any, np.dtype[Any]]
WIDTH, SHARING, BAR, TOLERANCE = 384, 11, 10, 1e-4
DRAWING, DEFINITION, SPARING = "drawing", "definition", "sparing one"
SINGLE, SHARED = "one pair a call", "shared reference"


@dataclass
class MadeUp:
    """An encoder that has the states of its texts at hand."""

    clouds: dict[str, Array]
    signature: str = "made up"
    width: int = WIDTH
    layers: int = 7

    def tokens(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [("token",) * len(self.clouds[text]) for text in texts]

    def states(self, texts: Sequence[str], layers: Sequence[int]) -> Iterator[TokenStates]:
        for text, tokens in zip(texts, self.tokens(texts), strict=True):
            yield TokenStates(tokens, ((0, 5),) * len(tokens), self.clouds[text][None])

    def vectors(self, texts: Sequence[str]) -> Array:
        raise NotImplementedError


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    clouds, items = make_items(count)
    print(f"{count} × {SHARING} pairs; {thread_limit()} threads; load {os.getloadavg()[0]:.1f}")
    metric = Depthscore()
    metric.__dict__["_attempt"] = MadeUp(clouds)
    metric.read(items[0][:1])
    names = (DRAWING, DEFINITION, SPARING, SINGLE, SHARED)
    times: dict[str, list[float]] = {name: [] for name in names}
    largest = 0.0
    for some in items:
        pairs = [(clouds[story.references[0]], clouds[story.text]) for story in some]
        timed(times[DRAWING], lambda pairs: [draw() for _ in pairs], pairs)
        direct = timed(times[DEFINITION], lambda pairs: [defined(*one) for one in pairs], pairs)
        timed(times[SPARING], lambda pairs: [sparing(*one) for one in pairs], pairs)
        single = timed(times[SINGLE], lambda some: [metric.read([one])[0] for one in some], some)
        shared = timed(times[SHARED], metric.read, some)
        for value, *ours in zip(direct, single, shared, strict=True):
            largest = max(largest, *(abs(one.values[0] - value) for one in ours))
    sys.exit(0 if report(times, largest) else 1)


def report(times: dict[str, list[float]], largest: float) -> bool:
    """Print the table; say whether the bars are met."""
    middle = {name: 1000 * median(some) / SHARING for name, some in times.items()}
    for name, some in times.items():
        spread = f"({1000 * min(some) / SHARING:.0f} to {1000 * max(some) / SHARING:.0f})"
        print(f"  {name:18}{middle[name]:8.1f} ms a pair {spread}")
    for name in (SINGLE, SHARED):
        ratios = [middle[other] / middle[name] for other in (DEFINITION, SPARING)]
        print(f"{name}: {ratios[0]:.1f}× the definition, {ratios[1]:.1f}× the sparing one")
    print(f"largest difference {largest:.1g} (bar {TOLERANCE:g}); {SHARED} (bar {BAR}×)")
    return largest <= TOLERANCE and middle[DEFINITION] >= BAR * middle[SHARED]


def defined(left: Array, right: Array) -> float:
    along = draw()
    sides = [(depths(points @ along.T), points) for points in (left, right)]
    total = 0.0
    for share in np.linspace(0.3, 1, 5):
        kept = [points[deep >= np.quantile(deep, share)] for deep, points in sides]
        reach = [(points @ along.T).max(axis=0) for points in kept]
        total += (np.abs(reach[0] - reach[1]) ** 5).max()
    return float((total / 5) ** 0.2)


def sparing(left: Array, right: Array) -> float:
    along = draw()
    sides = [(depths(places), places) for places in (left @ along.T, right @ along.T)]
    total = 0.0
    for share in np.linspace(0.3, 1, 5):
        reach = [places[deep >= np.quantile(deep, share)].max(axis=0) for deep, places in sides]
        total += (np.abs(reach[0] - reach[1]) ** 5).max()
    return float((total / 5) ** 0.2)


def draw() -> Array:
    rows = np.random.default_rng(0).standard_normal((10_000, WIDTH))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


def depths(places: Array) -> Array:
    order = places.argsort(axis=0)
    ranks = np.empty(places.shape)
    for number in range(places.shape[1]):
        ranks[order[:, number], number] = np.arange(1, len(places) + 1)
    ranks /= len(places)
    found: Array = np.minimum(ranks, 1 - ranks).mean(axis=1)
    return found


def timed(seconds: list[float], way: Callable[[S], T], given: S) -> T:
    start = time.perf_counter()
    found = way(given)
    seconds.append(time.perf_counter() - start)
    return found


def make_items(count: int) -> tuple[dict[str, Array], list[list[Story]]]:
    chance = np.random.default_rng(1)
    clouds: dict[str, Array] = {}

    def text() -> str:
        points = chance.standard_normal((chance.integers(100, 800), WIDTH), dtype=np.float32)
        points += 0.7 * chance.standard_normal(WIDTH, dtype=np.float32)
        clouds[f"text {len(clouds)}"] = points / np.linalg.norm(points, axis=1, keepdims=True)
        return f"text {len(clouds) - 1}"

    references = [text() for _ in range(count)]
    return clouds, [
        [Story(str(n), text(), references=(one,)) for n in range(SHARING)] for one in references
    ]


if __name__ == "__main__":
    main()
