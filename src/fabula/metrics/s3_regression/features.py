"""The six features of S3: what a text shares with a reference, in words and in their meaning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.metrics._rouge_counts import Hits, ngram_hits
from fabula.metrics._soft_grams import Lexis, plain_words, soft_hits
from fabula.metrics._words import stop_words
from fabula.text.ngrams import ngrams

if TYPE_CHECKING:
    from fabula.core.model import Array

# A regressor fitted on features of another version is refused.
FEATURES_VERSION = 1
FEATURES = ("JS_eval_1", "JS_eval_2", "ROUGE_1_R", "ROUGE_1_R_WE", "ROUGE_2_R", "ROUGE_2_R_WE")


def s3_features(text: str, reference: str, *, lexis: Lexis, threshold: float) -> Array:
    """Give the features of a text beside one reference, in the order of their names."""
    ours, theirs = stems(text), stems(reference)
    values: dict[str, float] = {}
    for n in (1, 2):
        values[f"JS_eval_{n}"] = divergence(content_counts(text, n), content_counts(reference, n))
        values[f"ROUGE_{n}_R"] = _recall(ngram_hits(ours, theirs, n))
        soft = soft_hits(text, reference, n, lexis=lexis, threshold=threshold)
        values[f"ROUGE_{n}_R_WE"] = _recall(soft)
    return np.array([values[name] for name in FEATURES])


@lru_cache(maxsize=256)
def stems(text: str) -> tuple[str, ...]:
    r"""Snowball stems of the `\w+` words of a text."""
    return tuple(map(_stemmer(), plain_words(text)))


@lru_cache(maxsize=256)
def content_counts(text: str, n: int) -> Counter[tuple[str, ...]]:
    """Count stems that are no stop words, or pairs of stems of which one is none."""
    left_out = stop_words("english")
    content = ngrams([word not in left_out for word in plain_words(text)], n)
    grams = ngrams(stems(text), n)
    return Counter(gram for gram, some in zip(grams, content, strict=True) if any(some))


def divergence(left: Counter[tuple[str, ...]], right: Counter[tuple[str, ...]]) -> float:
    """Jensen–Shannon divergence of two distributions of counts, in nats.

    It goes from 0 to log 2. A text with nothing to count shares nothing with another one.
    """
    if not left or not right:
        return 0.0 if left == right else math.log(2)
    totals = left.total(), right.total()
    pairs = [(left[gram] / totals[0], right[gram] / totals[1]) for gram in left.keys() | right]
    return max(0.0, (_against_mean(pairs) + _against_mean((q, p) for p, q in pairs)) / 2)


def _against_mean(pairs: Iterable[tuple[float, float]]) -> float:
    return math.fsum(p * math.log(2 * p / (p + q)) for p, q in pairs if p)


def _recall(hits: Hits) -> float:
    return hits.hits / hits.reference if hits.reference else 0.0


@lru_cache(maxsize=1)
def _stemmer() -> Callable[[str], str]:
    try:
        import snowballstemmer
    except ImportError:
        raise PackageMissing("snowballstemmer", "nlp") from None
    return lru_cache(maxsize=200_000)(snowballstemmer.stemmer("english").stemWord)
