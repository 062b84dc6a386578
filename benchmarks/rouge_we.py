"""ROUGE-WE by block products, against the original's way: every n-gram with every other in a loop.

    python benchmarks/rouge_we.py [PAIRS]

Made-up stories of 150 to 400 words, each with a reference as long. The loop computes the cosine of
one pair of n-grams after the other, as SummEval's code does; that it knows each sum of vectors
beforehand is in its favour. Hits must be the same. Exits with 1 below the bar. Needs the asset
glove_50d.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from statistics import median

import numpy as np

from fabula.core.model import WordVectors
from fabula.metrics._soft_grams import Lexis, plain_words, soft_hits
from fabula.models import load_model, need

BAR = 50
N, THRESHOLD = 3, 0.95
WORDS = (
    "the a and of to in was she he it said then they with her his had that old door night sea ship "
    "house light went came saw knew again river boy girl hand voice never home winter king queen "
    "dragon forest walked ran slept woke gold silver storm captain letter candle street window"
).split()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    vectors = need(load_model("embedded('glove_50d')"), WordVectors)
    pairs = make_pairs(count)
    lexis = Lexis.of([text for pair in pairs for text in pair], vectors)
    soft_hits(*pairs[0], N, lexis=lexis, threshold=THRESHOLD)
    ours, theirs, different = [], [], 0
    for text, reference in pairs:
        start = time.perf_counter()
        fast = soft_hits(text, reference, N, lexis=lexis, threshold=THRESHOLD).hits
        middle = time.perf_counter()
        slow = loop_hits(text, reference, lexis)
        ours.append(middle - start)
        theirs.append(time.perf_counter() - middle)
        different += fast != slow
    ratio = median(theirs) / median(ours)
    print(f"{count} pairs; load {os.getloadavg()[0]:.1f}")
    for name, times in (("block products", ours), ("loops", theirs)):
        print(f"  {name:16}{1000 * median(times):10.2f} ms a pair (median)")
    print(f"pairs with other hits: {different} (bar 0)")
    print(f"against the loops: {ratio:.0f}× (bar {BAR})")
    sys.exit(different > 0 or ratio < BAR)


def loop_hits(text: str, reference: str, lexis: Lexis) -> int:
    left = grams(reference)
    sums = {gram: total(gram, lexis) for gram in left}
    hits = 0
    for gram, count in grams(text).items():
        own, best, nearest = total(gram, lexis), None, 0.0
        for other in left:
            near = 1.0 if other == gram else min(cosine(own, sums[other]), 1 - 1e-9)
            if near > nearest:
                best, nearest = other, near
        if best is not None and nearest >= THRESHOLD:
            taken = min(count, left[best])
            hits, left[best] = hits + taken, left[best] - taken
            if not left[best]:
                del left[best]
    return hits


def grams(text: str) -> Counter[tuple[str, ...]]:
    words = plain_words(text)
    return Counter(zip(*(words[start:] for start in range(N)), strict=False))


def total(gram: tuple[str, ...], lexis: Lexis) -> np.ndarray:
    return np.sum([lexis.rows[lexis.places[word]] for word in gram], axis=0)


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))


def make_pairs(count: int) -> list[tuple[str, str]]:
    chance = random.Random(0)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]

    def text() -> str:
        return " ".join(chance.choices(WORDS, weights, k=chance.randint(150, 400)))

    return [(text(), text()) for _ in range(count)]


if __name__ == "__main__":
    main()
