"""Topics as distributions of words: latent Dirichlet allocation (Blei, Ng and Jordan, 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fabula.core.errors import PackageMissing

Array = np.ndarray[Any, np.dtype[Any]]
Words = tuple[tuple[str, ...], ...]

TOP_WORDS = 10
ROUNDS = 20  # of variational inference
# Of more texts each round would take minutes: topics are changed after every so many of them.
_MANY, _BATCH, _ROUNDS_OF_MANY = 20_000, 2048, 10


def fit_lda(counts: Any, topics: int, *, seed: int, runs: int) -> list[Any]:
    """Fit so many models to counts of words, (texts, words), each from a seed of its own.

    By batch variational inference; of very many texts by the online one (Hoffman, Blei and Bach,
    2010).
    """
    make = import_sklearn("decomposition").LatentDirichletAllocation
    online = counts.shape[0] > _MANY
    how = {"learning_method": "online" if online else "batch", "batch_size": _BATCH}
    how["max_iter"] = _ROUNDS_OF_MANY if online else ROUNDS
    seeds = np.random.SeedSequence([seed, topics]).generate_state(runs)
    return [
        make(n_components=topics, random_state=int(run_seed), **how).fit(counts)
        for run_seed in seeds
    ]


def list_likeliest(model: Any, vocabulary: Sequence[str], most: int = TOP_WORDS) -> Words:
    """Give the likeliest words of each topic."""
    return rank_words(model.components_, vocabulary, most)


def rank_words(weights: Array, vocabulary: Sequence[str], most: int = TOP_WORDS) -> Words:
    """Give the words of each topic that weigh most, (topics, words); of equal ones the first."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    return tuple(tuple(vocabulary[place] for place in topic) for topic in order)


def count_words(texts: Sequence[Sequence[str]], vocabulary: Sequence[str]) -> Any:
    """Count the words of a vocabulary in each text, as a sparse matrix: (texts, words)."""
    vectorizer = import_sklearn("feature_extraction.text").CountVectorizer
    return vectorizer(analyzer=list, vocabulary=vocabulary).fit_transform(texts)


def list_stop_words() -> frozenset[str]:
    """Give the English words that tell no topic, as scikit-learn has them."""
    stop: frozenset[str] = import_sklearn("feature_extraction.text").ENGLISH_STOP_WORDS
    return stop


def import_sklearn(module: str) -> Any:
    """Import a module of scikit-learn, or name the extra that brings it."""
    from importlib import import_module

    try:
        return import_module(f"sklearn.{module}")
    except ImportError:
        raise PackageMissing("scikit-learn", "train") from None
