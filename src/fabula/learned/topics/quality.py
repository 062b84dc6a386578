"""How good topics are: words that belong together, and the same topics from every seed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

from fabula.learned.topics.lda import Array, Words


def likeness(topics: Words, others: Words) -> float:
    """Give the mean Jaccard index of each topic's words and those of its best match.

    Both sides count alike, so that two topics with one match are not called stable.
    """
    table = np.array([[_jaccard(left, right) for right in others] for left in topics])
    return float((table.max(axis=0).mean() + table.max(axis=1).mean()) / 2)


def stability(runs: Sequence[Words]) -> float:
    """Give the mean likeness of all pairs of runs, from 0 to 1; NaN of a single run."""
    pairs = [likeness(*pair) for pair in combinations(runs, 2)]
    return float(np.mean(pairs)) if pairs else float("nan")


def choose_run(runs: Sequence[Words]) -> int:
    """Give the place of the run that is most like the others; of equal ones the first."""
    return int(np.argmax([sum(likeness(run, other) for other in runs) for run in runs]))


def diversity(topics: Words) -> float:
    """Give the share of the topics' words that differ: 1 where no word stands in two topics."""
    named = list(chain.from_iterable(topics))
    return len({*named}) / len(named) if named else float("nan")


def coherence(topics: Words, counts: Any, vocabulary: Sequence[str]) -> Array:
    """Give each topic's NPMI: how far its words come in one text more often than by chance.

    The mean over pairs of words of log(p(a, b) / p(a) p(b)) / −log p(a, b), where p are shares of
    the texts (Bouma, 2009; Lau, Newman and Baldwin, 2014): 1 where words come together or not at
    all, 0 by chance, −1 for a pair that never does. `counts` are those of words by text. NaN for a
    topic of fewer than two words.
    """
    places = {word: place for place, word in enumerate(vocabulary)}
    named = sorted({places[word] for topic in topics for word in topic})
    row = {place: number for number, place in enumerate(named)}
    present = (counts[:, named] > 0).astype(np.float64)
    together = np.asarray((present.T @ present).todense()) / counts.shape[0]  # (words, words)
    alone = together.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        npmi = np.log(together / np.outer(alone, alone)) / -np.log(together)
    npmi[together == 0] = -1.0
    npmi[together == 1] = 0.0  # words of every text say nothing of each other
    pairs = [
        [npmi[row[places[a]], row[places[b]]] for a, b in combinations(topic, 2)]
        for topic in topics
    ]
    return np.array([np.mean(values) if values else np.nan for values in pairs])


def _jaccard(left: Sequence[str], right: Sequence[str]) -> float:
    return len({*left} & {*right}) / max(1, len({*left} | {*right}))
