"""BERTScore after the shared pass, against the bert-score package pair by pair.

    python benchmarks/bertscore.py [PAIRS]

Made-up stories of 50 to 300 words, each with a reference as long. The pass that all metrics with
this encoder share is timed by itself; its states are then in memory, and BERTScore is matching
alone. The package encodes both texts of every pair, one pair a call, as a loop over stories would
do, with the same model, layer and threads. Ours goes first, for the threads of the package spin on
after each call; times are medians over portions, because on a busy machine a few waits outweigh all
matching. Values must agree to 1e-4. Needs the asset minilm and the package bert-score.
"""

from __future__ import annotations

import os
import random
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import TypeVar

os.environ["HF_HUB_OFFLINE"] = "1"

import torch
from bert_score import BERTScorer

from fabula.core.story import Story
from fabula.metrics.bertscore import Bertscore
from fabula.models import load_model, path_of
from fabula.models.reading.state_cache import StateCache, VectorCache

T = TypeVar("T")
LAYER, PORTION = 5, 10
MEMORY = 2**30
SYLLABLES = "ba den fo gar hil ka lo men nor pi ran so tel u vor wen".split()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    warnings.simplefilter("ignore")
    stories = make_stories(count)
    print(f"{count} pairs; {torch.get_num_threads()} threads; load {os.getloadavg()[0]:.1f}")
    metric = Bertscore(layer=LAYER)
    keep_in_memory(metric)
    taken, _ = timed(lambda: metric.read(stories))
    print(f"  {'shared pass':16}{1000 * taken / count:10.2f} ms a pair")
    compare(metric, stories)


def compare(metric: Bertscore, stories: list[Story]) -> None:
    portions = [stories[start : start + PORTION] for start in range(0, len(stories), PORTION)]
    ours, found = timed_portions(portions, metric.read)
    scorer = BERTScorer(model_type=str(path_of("minilm")), num_layers=LAYER, device="cpu")
    score_pair(scorer, stories[0])
    theirs, package = timed_portions(
        portions, lambda some: [score_pair(scorer, story) for story in some]
    )
    largest = max(
        abs(a - b)
        for one, values in zip(found, package, strict=True)
        for a, b in zip(one.values, values, strict=True)
    )
    for name, times in (("after the pass", ours), ("bert-score", theirs)):
        spread = f"{1000 * min(times):.2f} to {1000 * max(times):.2f}"
        print(f"  {name:16}{1000 * median(times):10.2f} ms a pair (median; {spread})")
    print(f"largest difference {largest:.1g} (bar 1e-4)")
    print(f"against the package: {median(theirs) / median(ours):.0f}× (bar 100)")


def timed_portions(
    portions: list[list[Story]], way: Callable[[list[Story]], list[T]]
) -> tuple[list[float], list[T]]:
    """Seconds a pair, portion by portion, and what came out."""
    seconds, found = [], []
    for some in portions:
        taken, part = timed(lambda some=some: way(some))
        seconds.append(taken / len(some))
        found += part
    return seconds, found


def score_pair(scorer: BERTScorer, story: Story) -> list[float]:
    found = scorer.score([story.text], [story.references[0]])
    return [float(one[0]) for one in found]


def keep_in_memory(metric: Bertscore) -> None:
    """Give the metric an encoder whose states stay in memory and are of this run alone."""
    encoder = load_model(metric.model)
    cache = VectorCache(disk=0, memory=MEMORY)
    metric.__dict__["_attempt"] = replace(encoder, cache=StateCache(cache))


def timed(way: Callable[[], T]) -> tuple[float, T]:
    start = time.perf_counter()
    found = way()
    return time.perf_counter() - start, found


def make_stories(count: int) -> list[Story]:
    chance = random.Random(0)
    common = "the a and she he it was to of in on with said not her his went came saw old".split()
    pool = common * 15 + ["".join(chance.choices(SYLLABLES, k=2)) for _ in range(300)]

    def text() -> str:
        return " ".join(chance.choices(pool, k=chance.randint(50, 300))) + "."

    return [Story(str(n), text(), references=(text(),)) for n in range(count)]


if __name__ == "__main__":
    main()
