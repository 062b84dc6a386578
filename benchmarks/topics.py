"""Topics of many short stories: NPMI, stability over seeds and time, beside LDA's.

    python benchmarks/topics.py SOURCE [--stories 50000] [--topics 50] [--seeds 3] [--all]

SOURCE is what `fabula score` takes; ROCStories is what the figures in docs/commands/topics.md are
of. A passage is a whole story. LDA is scikit-learn's, on the words that may name a topic, and is
named both by its likeliest words, as usual, and by what its passages hold, as ours is: so that it
does not lose for its names alone. NPMI is over the same stories; its interval draws the topics of
all seeds again. Stability is the mean Jaccard index of best-matched topics' ten words, over pairs
of seeds. CPU seconds are of all threads, so that a busy machine does not spoil them. With --all,
also STORIUM's own recipes (400 epochs each) and the other ways to name a topic.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from fabula.core.model import WordVectors
from fabula.datasets.tables.stories import StoryLayout, open_stories
from fabula.learned.topics.corpus import Corpus, gather_words
from fabula.learned.topics.dictionary import RECIPES
from fabula.learned.topics.finding import TopicSet, embed_passages, find_dictionary, find_lda
from fabula.learned.topics.lda import fit_lda
from fabula.learned.topics.passages import split_stories
from fabula.models import load_model, need


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source")
    parser.add_argument("--stories", type=int, default=50_000)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--vectors", default="glove_50d")
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    began = time.process_time()
    with open_stories(given.source, StoryLayout()) as file:
        stories = list(file)
    rng = np.random.default_rng(0)
    if given.stories < len(stories):
        chosen = np.sort(rng.choice(len(stories), given.stories, replace=False))
        stories = [stories[place] for place in chosen.tolist()]
    read = time.process_time()
    vectors = need(load_model(given.vectors), WordVectors)
    corpus, means, rows = embed_passages(gather_words(split_stories(stories)), vectors)
    print(
        f"{len(corpus.passages):,} stories, {corpus.left_out} left out, {len(corpus.names):,} "
        f"words; read in {read - began:.0f} CPU s, words and vectors in "
        f"{time.process_time() - read:.0f}"
    )

    def learn(recipe: str, naming: str) -> TopicSet:
        settings = replace(RECIPES[recipe], topics=given.topics)
        return find_dictionary(
            corpus, means, rows, recipe=settings, runs=given.seeds, naming=naming
        )

    print(f"{'':36}{'NPMI':>7} {'':17}{'stability':>9}{'diversity':>10}{'empty':>6}{'CPU s':>7}")
    show("dictionary, words by passages", lambda: learn("fabula", "passages"))
    models = fit_models(corpus, given.topics, given.seeds)
    for naming in ("likeliest", "passages"):
        show(f"LDA, words by {naming}", lambda n=naming: find_lda(
            corpus, given.topics, runs=given.seeds, naming=n, models=models))  # fmt: skip
    if given.all:
        for naming in ("cosine", "softmax"):
            show(f"dictionary, words by {naming}", lambda n=naming: learn("fabula", n))
        for recipe, naming in (("paper", "cosine"), ("code", "softmax")):
            for named in (naming, "passages"):
                label = f"STORIUM's {recipe}, words by {named}"
                show(label, lambda r=recipe, n=named: learn(r, n))


def fit_models(corpus: Corpus, topics: int, seeds: int) -> list[Any]:
    began = time.process_time()
    models = fit_lda(corpus.named_counts, topics, seed=0, runs=seeds)
    print(f"LDA was fitted in {(time.process_time() - began) / seeds:.0f} CPU s a seed", flush=True)
    return models


def show(label: str, find: Callable[[], TopicSet]) -> None:
    """Print a line: all seeds are counted, time is that of one."""
    began = time.process_time()
    found = find()
    seconds = (time.process_time() - began) / found.runs
    npmi = found.mean_coherence
    print(
        f"{label:36}{npmi.value:7.3f} [{npmi.low:6.3f}, {npmi.high:6.3f}]{found.stability:10.3f}"
        f"{found.diversity:10.2f}{found.empty:6}{seconds:7.1f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
