"""What readers talk about: topics of their comments, from which aspects are named by hand."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.learned.topics.lda import (
    TOP_WORDS,
    Array,
    Words,
    count_words,
    fit_lda,
    list_likeliest,
    list_stop_words,
)
from fabula.learned.topics.quality import choose_run, stability
from fabula.text.words import words

_LEAST_COMMENTS = 2  # that hold a word, and per topic
_MOST_SHARE = 0.5  # of the comments; a word of more of them tells no topic from another


@dataclass(frozen=True)
class Topics:
    """Topics, the most frequent first: their likeliest words and their shares of the comments.

    `scores` holds the stability of each count of topics that was tried, `chance` that of the
    chosen count once the words were shuffled between the comments: topics that are not well above
    it are noise. `left_out` counts the comments without a word that topics are made of.
    """

    count: int
    words: Words
    shares: tuple[float, ...]
    scores: Mapping[int, float]
    chance: float
    left_out: int = 0


def find_topics(
    comments: Sequence[str],
    *,
    counts: Sequence[int] = range(5, 16),
    seed: int = 0,
    runs: int = 3,
    stop_words: Collection[str] | None = None,
) -> Topics:
    """Find topics by latent Dirichlet allocation; each comment is a document.

    The count of topics is the one that is most stable (Greene, O'Callaghan and Cunningham, 2014,
    "How many topics?"): each count is fitted `runs` times from other seeds, and the topics of two
    runs are compared by `likeness`; of equal counts the lowest stands. The topics are those of the
    run that is most like the others. Stop words are scikit-learn's English ones by default.
    """
    if not counts or min(counts) < 2 or runs < 2:
        given = f"counts={list(counts)}, runs={runs}"
        raise SettingError(f"{given} give nothing to compare", "two topics and two runs at least")
    shunned = list_stop_words() if stop_words is None else stop_words
    texts, vocabulary = _known_words(comments, shunned)
    least = _LEAST_COMMENTS * max(counts)
    if len(texts) < least or len(vocabulary) < 2 * TOP_WORDS:
        raise InputError(
            f"{len(texts)} comments with {len(vocabulary)} words that return are too few for "
            f"{max(counts)} topics",
            f"give at least {least} comments with {2 * TOP_WORDS} such words, or lower counts",
        )
    table = count_words(texts, vocabulary)
    tried = {count: fit_lda(table, count, seed=seed, runs=runs) for count in sorted(set(counts))}
    scores = {count: _compare_runs(models, vocabulary) for count, models in tried.items()}
    best = max(scores, key=lambda count: scores[count])
    noise = fit_lda(count_words(_shuffle(texts, seed), vocabulary), best, seed=seed, runs=runs)
    topic_words, shares = _choose_run(tried[best], table, vocabulary)
    chance = _compare_runs(noise, vocabulary)
    return Topics(best, topic_words, shares, scores, chance, len(comments) - len(texts))


def _known_words(
    comments: Sequence[str], stop_words: Collection[str]
) -> tuple[list[list[str]], list[str]]:
    """Give the words of comments that return, by comment and in all; no comment is empty."""
    stopped = frozenset(stop_words)
    texts = [[word for word in words(text) if _is_telling(word, stopped)] for text in comments]
    seen = Counter(word for text in texts for word in set(text))
    known = {word for word, count in seen.items() if 2 <= count <= _MOST_SHARE * len(texts)}
    returning = [[word for word in text if word in known] for text in texts]
    return [text for text in returning if text], sorted(known)


def _shuffle(texts: Sequence[Sequence[str]], seed: int) -> list[list[str]]:
    """Deal all words out again: comments keep their lengths, words their counts."""
    pool = [word for text in texts for word in text]
    random.Random(seed).shuffle(pool)
    rest = iter(pool)
    return [list(islice(rest, len(text))) for text in texts]


def _is_telling(word: str, stop_words: frozenset[str]) -> bool:
    """Whether a word may say what a comment is about: no contraction, number or letter."""
    return len(word) > 1 and word.isalpha() and word not in stop_words


def _compare_runs(models: Sequence[Any], vocabulary: Sequence[str]) -> float:
    return stability([list_likeliest(model, vocabulary) for model in models])


def _choose_run(
    models: Sequence[Any], table: Any, vocabulary: Sequence[str]
) -> tuple[Words, tuple[float, ...]]:
    """Give words and shares of the topics of the run that is most like the others."""
    topics = [list_likeliest(model, vocabulary) for model in models]
    chosen = choose_run(topics)
    shares: Array = models[chosen].transform(table).mean(axis=0)
    order = np.argsort(-shares, kind="stable").tolist()
    return tuple(topics[chosen][n] for n in order), tuple(float(shares[n]) for n in order)
