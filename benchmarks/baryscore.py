"""The eight numbers of BaryScore, against POT as the original uses it.

    python benchmarks/baryscore.py [PAIRS]

Texts of about 400 tokens, made of the example stories, with MiniLM's last five layers in memory;
one thread. The original's way: free_support_barycenter from zeros for both texts, emd2, and
sinkhorn2 with at most 10,000 rounds for seven strengths, of which it does not converge at 0.001
(it underflows at once, and that costs it no time). Ours are converged to the tolerance printed, at
every strength. "Apart" finds both barycentres for every pair; "shared" is eleven stories beside
one reference, whose barycentre we find once and the original every time. W must agree to 1e-9, SD
down to r = 0.01 as far as POT converges. Needs the asset minilm and the package POT.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any, TypeVar

import numpy as np
import ot

from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.metrics._sinkhorn import TOLERANCE
from fabula.metrics.baryscore import STRENGTHS, Baryscore
from fabula.models import load_model
from fabula.models.reading.state_cache import StateCache, VectorCache

T = TypeVar("T")
BAR = 5.0
WORDS = 310
SHARED = 11


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    warnings.simplefilter("ignore")
    metric = Baryscore(compat=True)
    encoder = replace(load_model(metric.model), cache=StateCache(VectorCache(disk=0, memory=2**31)))
    metric.__dict__["_attempt"] = encoder
    texts = make_texts(max(2 * count, count + SHARED))
    apart = [Story(str(n), texts[2 * n], references=(texts[2 * n + 1],)) for n in range(count)]
    shared = [Story(str(n), texts[n], references=(texts[-1],)) for n in range(SHARED)]
    metric.read([*apart, *shared])  # the pass that all metrics share
    ratios = [compare(metric, encoder, "apart", apart, portion=1)]
    ratios.append(compare(metric, encoder, "shared", shared, portion=SHARED))
    print(f"converged to {TOLERANCE:.0e} of the mass at every strength, {STRENGTHS[-1]} too")
    sys.exit(0 if min(ratios) >= BAR else 1)


def compare(
    metric: Baryscore, encoder: Any, name: str, stories: list[Story], *, portion: int
) -> float:
    """Ratio of the times a pair, which is printed with the values' largest differences."""
    ours, theirs, found, others = [], [], [], []
    for start in range(0, len(stories), portion):
        some = stories[start : start + portion]
        seconds, part = timed(lambda some=some: metric.read(some))
        ours.append(seconds / len(some))
        found += [one.values for one in part]
        for story in some:
            clouds = [layers(encoder, text) for text in (story.text, story.references[0])]
            seconds, values = timed(lambda clouds=clouds: original(*clouds))
            theirs.append(seconds)
            others.append(values)
    tokens = [layers(encoder, story.text).shape[1] for story in stories]
    gaps = np.abs(np.array(found) - np.array(others)).max(axis=0)
    ratio = median(theirs) / median(ours)
    print(f"{name}: {len(stories)} pairs of {min(tokens)} to {max(tokens)} tokens")
    print(f"  original {1000 * median(theirs):8.1f} ms a pair, ours {1000 * median(ours):8.1f} ms")
    print(f"  largest difference: W {gaps[0]:.0e}, SD to 0.01 {gaps[1:-1].max():.0e}")
    print(f"  {ratio:.1f}× (bar {BAR:g})")
    return ratio


def layers(encoder: Any, text: str) -> np.ndarray:
    """States of length one at the last five layers."""
    [found] = encoder.states([text], range(encoder.layers - 5, encoder.layers))
    states = found.states.astype(np.float64)
    return states / np.linalg.norm(states, axis=2, keepdims=True)


def original(left: np.ndarray, right: np.ndarray) -> list[float]:
    """Give the eight numbers as the original does, step by step."""
    centres, weights = [], []
    for clouds in (left, right):
        size = clouds.shape[1]
        uniform = np.full(size, 1 / size)
        centres.append(
            ot.lp.free_support_barycenter(
                list(clouds), [uniform] * len(clouds), np.zeros(clouds.shape[1:]), numItermax=1000
            )
        )
        weights.append(uniform)
    costs = ot.dist(*centres)
    entropic = [ot.sinkhorn2(*weights, costs, r, numItermax=10_000) for r in STRENGTHS]
    return [float(ot.emd2(*weights, costs)), *map(float, entropic)]


def timed(way: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = way()
    return time.process_time() - start, found


def make_texts(count: int) -> list[str]:
    """Join example stories of neighbouring items until they are long enough."""
    texts = [story.text for story in load_dataset("examples").stories]
    joined = [f"{texts[n % len(texts)]} {texts[(n * 5 + 3) % len(texts)]}" for n in range(count)]
    return [" ".join(text.split()[:WORDS]) for text in joined]


if __name__ == "__main__":
    main()
