"""MoverScore after the shared pass, against pyemd as the original uses it.

    python benchmarks/moverscore.py [PAIRS]

Stories and references of 300 to 600 tokens, made of the example stories, with MiniLM's states in
memory; one thread. The original's way: one matrix of the Euclidean distances between all tokens of
both texts, those without weight included, and pyemd's emd_with_flow over all of it. The values must
agree to 1e-6. Needs the asset minilm and the packages POT and pyemd.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import string
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median
from typing import Any, TypeVar

import numpy as np
from pyemd import emd_with_flow

from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.metrics._words import stop_words
from fabula.metrics.moverscore import Moverscore
from fabula.models import load_model
from fabula.models.reading.state_cache import StateCache, VectorCache

T = TypeVar("T")
BAR = 3.5
STOP = stop_words("english")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 12
    metric = Moverscore(compat=True)
    cache = VectorCache(disk=0, memory=2**30)
    encoder = replace(load_model(metric.model), cache=StateCache(cache))
    metric.__dict__["_attempt"] = encoder
    stories = make_stories(count)
    metric.read(stories)  # the pass that all metrics share
    ours, theirs, gaps, tokens = [], [], [], []
    for story in stories:
        seconds, [found] = timed(lambda story=story: metric.read([story]))
        ours.append(seconds)
        sides = [told(encoder, metric.layer, text) for text in (story.text, story.references[0])]
        seconds, value = timed(lambda sides=sides: original(*sides))
        theirs.append(seconds)
        gaps.append(abs(found.values[0] - value))
        tokens += [len(one[0]) for one in sides]
    ratio = median(theirs) / median(ours)
    print(f"{count} pairs of {min(tokens)} to {max(tokens)} tokens; seconds of processor time")
    for name, times in (("pyemd's way", theirs), ("ours", ours)):
        spread = f"{1000 * min(times):.1f} to {1000 * max(times):.1f}"
        print(f"  {name:12}{1000 * median(times):9.1f} ms a pair (median; {spread})")
    print(f"largest difference {max(gaps):.0e} (bar 1e-6)")
    print(f"{ratio:.1f}× (bar {BAR:g})")
    sys.exit(0 if ratio >= BAR and max(gaps) <= 1e-6 else 1)


def told(encoder: Any, layer: int, text: str) -> tuple[list[str], np.ndarray]:
    """Tokens and states of a text."""
    [found] = encoder.states([text], [layer])
    return list(found.tokens), found.states[0].astype(np.float64)


def original(left: tuple[list[str], np.ndarray], right: tuple[list[str], np.ndarray]) -> float:
    """Give the score as moverscore_v2 does, step by step."""
    weights, states = [], []
    for tokens, found in (left, right):
        out = [w in STOP or "##" in w or w in set(string.punctuation) for w in tokens]
        weights.append(np.where(out, 0.0, 1.0))
        states.append(np.where(np.array(out)[:, None], 0.0, found))
    raw = np.concatenate(states)
    raw = raw / (np.linalg.norm(raw, axis=1, keepdims=True) + 1e-30)
    squares = np.square(raw).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2 * raw @ raw.T, 0))
    first, second = np.zeros(len(raw)), np.zeros(len(raw))
    first[: len(weights[0])] = weights[0] / weights[0].sum()
    second[len(weights[0]) :] = weights[1] / weights[1].sum()
    _, flow = emd_with_flow(first, second, distances)
    return 1 / (1 + float(np.sum(np.array(flow) * distances)))


def timed(way: Callable[[], T]) -> tuple[float, T]:
    start = time.process_time()
    found = way()
    return time.process_time() - start, found


def make_stories(count: int) -> list[Story]:
    """Join example stories; their texts alone are shorter than 300 tokens."""
    texts = [story.text for story in load_dataset("examples").stories]
    joined = [f"{texts[n % len(texts)]} {texts[(n * 5 + 3) % len(texts)]}" for n in range(count)]
    cut = [" ".join(text.split()[: 240 + 20 * (n % 8)]) for n, text in enumerate(joined)]
    return [Story(str(n), cut[n], references=(cut[n - 1],)) for n in range(count)]


if __name__ == "__main__":
    main()
