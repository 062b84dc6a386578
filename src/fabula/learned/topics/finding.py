"""Find topics from several seeds, name them, and say how coherent and how stable they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.core.model import WordVectors
from fabula.core.protocols import watch
from fabula.learned.topics.corpus import Corpus
from fabula.learned.topics.dictionary import (
    TopicModel,
    TopicRecipe,
    average_vectors,
    train_topics,
)
from fabula.learned.topics.lda import (
    TOP_WORDS,
    Array,
    Words,
    fit_lda,
    list_likeliest,
    rank_words,
)
from fabula.learned.topics.quality import choose_run, coherence, diversity, stability
from fabula.meta.resampling import Estimate, draw_counts, estimate

Naming = Literal["passages", "cosine", "softmax", "likeliest"]
NAMINGS: tuple[Naming, ...] = ("passages", "cosine", "softmax")
_DRAWS = 1000


@dataclass(frozen=True)
class TopicRun:
    """Topics from one seed, the most frequent first: words, shares, and each passage's topic."""

    words: Words
    shares: tuple[float, ...]
    assigned: Array = field(repr=False)
    model: TopicModel | None = field(default=None, repr=False)


@dataclass(frozen=True)
class TopicSet:
    """Topics of one method: those of the run that is most like the others, and how good all are.

    `coherence` is the NPMI of the run's topics, `mean_coherence` that of the topics of all runs,
    with its interval by drawing topics again; `stability` how like each other the runs' words are.
    """

    method: str
    naming: Naming
    run: TopicRun
    coherence: Array
    mean_coherence: Estimate
    stability: float
    diversity: float
    runs: int
    seconds: float  # a run

    @property
    def empty(self) -> int:
        """How many topics no passage has."""
        return sum(not share for share in self.run.shares)


def embed_passages(corpus: Corpus, vectors: WordVectors) -> tuple[Corpus, Array, Array]:
    """Give the passages that have a word with a vector, their mean vectors, and the words'."""
    rows = vectors.rows(corpus.vocabulary)
    means = average_vectors(corpus.counts, rows)
    known: Array = np.isfinite(means.sum(axis=1))
    if not known.any():
        raise InputError("no word of the stories has a vector", "name other vectors by --vectors")
    return corpus.choose(known), means[known], rows


def find_dictionary(
    corpus: Corpus,
    means: Array,
    rows: Array,
    *,
    recipe: TopicRecipe,
    runs: int = 3,
    naming: Naming = "passages",
) -> TopicSet:
    """Learn dictionaries from `runs` seeds, the recipe's first, and name their topics.

    By `passages`, a topic's words are those that its passages hold far more often than others; by
    `cosine` those whose vectors are nearest to it, as STORIUM's paper prints them; by `softmax`
    those that ask for it most, as its code does.
    """

    def fit(number: int) -> TopicRun:
        model = train_topics(means, replace(recipe, seed=recipe.seed + number))
        assigned = model.weigh(means).argmax(axis=1)
        named = _name(corpus, model, assigned, rows, naming)
        return _order_run(named, assigned, recipe.topics, model)

    if naming not in NAMINGS:
        raise SettingError(f"naming={naming!r} is none of {', '.join(NAMINGS)}", "choose one")
    return _gather("dictionary", naming, fit, runs, corpus)


def find_lda(
    corpus: Corpus,
    topics: int,
    *,
    seed: int = 0,
    runs: int = 3,
    naming: Naming = "likeliest",
    models: Sequence[Any] = (),
) -> TopicSet:
    """Fit latent Dirichlet allocation from several seeds; `passages` names as for dictionaries.

    `models` were fitted before, by `fit_lda` to the corpus's named counts.
    """
    counts, names = corpus.named_counts, corpus.names

    def fit(number: int) -> TopicRun:
        fitted = models or fit_lda(counts, topics, seed=seed + number, runs=1)
        model = fitted[number if models else 0]
        assigned = model.transform(counts).argmax(axis=1)
        named = (
            list_likeliest(model, names)
            if naming == "likeliest"
            else name_by_passages(corpus, assigned, topics)
        )
        return _order_run(named, assigned, topics)

    return _gather("lda", naming, fit, runs, corpus)


def _gather(
    method: str, naming: Naming, fit: Callable[[int], TopicRun], runs: int, corpus: Corpus
) -> TopicSet:
    began, fitted = time.perf_counter(), []
    for number in range(runs):
        watch.get().tell(f"{method} {number + 1} of {runs}")
        fitted.append(fit(number))
    seconds = (time.perf_counter() - began) / runs
    words = [run.words for run in fitted]
    counts, names = corpus.named_counts, corpus.names
    each = [coherence(topics, counts, names) for topics in words]
    chosen = choose_run(words)
    return TopicSet(
        method, naming, fitted[chosen], each[chosen], _average(each), stability(words),
        diversity(words[chosen]), runs, seconds,
    )  # fmt: skip


def _average(each: Sequence[Array]) -> Estimate:
    """Give the mean over all topics that have words, and its interval by drawing topics again."""
    values = np.concatenate(each)
    there = values[np.isfinite(values)]
    if not len(there):
        return Estimate()
    draws = draw_counts(len(there), _DRAWS, seed=0) @ there / len(there)
    return estimate(float(there.mean()), draws, n=len(there))


def _name(corpus: Corpus, model: TopicModel, assigned: Array, rows: Array, naming: Naming) -> Words:
    if naming == "passages":
        return name_by_passages(corpus, assigned, len(model.dictionary))
    named = rows[corpus.named]
    unknown: Array = ~np.isfinite(named.sum(axis=1))
    asked = model.query(np.where(unknown[:, None], 0.0, named))  # (words, width)
    if naming == "cosine":
        # A direction is compared with words, not with what the layers make of them.
        asked = np.where(unknown[:, None], 0.0, named) - model.centre
        asked = asked / np.maximum(np.linalg.norm(asked, axis=1, keepdims=True), 1e-9)
    weights = model.dictionary @ asked.T  # (topics, words)
    weights[:, unknown] = -np.inf
    return rank_words(weights, corpus.names)


def name_by_passages(corpus: Corpus, assigned: Array, topics: int) -> Words:
    """Name topics by what their passages hold: p(w | t) log(p(w | t) / p(w)), highest first.

    p are shares of passages: the words by which a topic's passages are told from all others
    (a topic's part of the mutual information of words and topics). Without passages, no words.
    """
    holds = (corpus.named_counts > 0).astype(np.float64)  # (passages, words)
    members = _one_hot(assigned, topics)  # (topics, passages)
    sizes = np.maximum(np.asarray(members.sum(axis=1)), 1.0)
    in_topic = np.asarray((members @ holds).todense()) / sizes  # (topics, words)
    overall = np.asarray(holds.sum(axis=0)) / holds.shape[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.where(in_topic > 0, in_topic * np.log(in_topic / overall), 0.0)
    ranked = rank_words(gain, corpus.names)
    above = np.minimum((gain > 0).sum(axis=1), TOP_WORDS).tolist()
    return tuple(words[:count] for words, count in zip(ranked, above, strict=True))


def _one_hot(assigned: Array, topics: int) -> Any:
    from scipy.sparse import csr_matrix

    ones = np.ones(len(assigned))
    return csr_matrix((ones, (assigned, np.arange(len(assigned)))), (topics, len(assigned)))


def _order_run(
    words: Words, assigned: Array, topics: int, model: TopicModel | None = None
) -> TopicRun:
    """Put the most frequent topic first."""
    shares = np.bincount(assigned, minlength=topics) / len(assigned)
    order = np.argsort(-shares, kind="stable")
    places = np.empty(topics, dtype=np.int64)
    places[order] = np.arange(topics)
    return TopicRun(
        tuple(words[place] for place in order),
        tuple(shares[order].tolist()),
        places[assigned],
        model.reorder(order) if model else None,
    )
