"""The words of passages that may tell a topic, and how often each comes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.core.protocols import watch
from fabula.core.story import count_text
from fabula.learned.topics.lda import TOP_WORDS, Array, count_words, list_stop_words
from fabula.learned.topics.passages import Passage
from fabula.models import path_of
from fabula.text.names import find_capitalised
from fabula.text.wordnet import WordNet
from fabula.text.words import words

# Links, and what stands for a name in some releases: [MALE].
_NO_WORDS = re.compile(r"https?://\S+|www\.\S+|\[[A-Z_]+\d*\]")
_SMALL = re.compile(r"(?<![\w'’])[a-z]+\b")
_LARGE = re.compile(r"(?<![\w'’])[A-Z][a-z]+\b")
# Of a word that only begins sentences: so many, and none with a small letter, make it a name.
_BEGUN = 3


@dataclass(frozen=True)
class WordRules:
    """Which words tell topics.

    Small letters alone count, no stop words, and words of `least_letters` or more, which WordNet's
    lemma stands for. Names are left out, told by their capitals over all texts. Words that come
    fewer than `least_count` times, or in fewer than `least_stories` stories, do not name a topic; 0
    is a number that fits how much there is.
    """

    least_letters: int = 3
    least_count: int = 0
    least_stories: int = 0
    names: bool = False
    lemmas: bool = True
    stop_words: frozenset[str] = frozenset()  # beside the English ones

    def count_for(self, passages: int) -> int:
        """Give the count that words need to name a topic: 30, fewer in less than 15,000 texts."""
        return self.least_count or max(3, min(30, passages // 500))

    def stories_for(self, stories: int) -> int:
        """Give the stories that must hold such a word: 6, fewer of less than 600."""
        return self.least_stories or max(1, min(6, stories // 100))


@dataclass(frozen=True)
class Corpus:
    """Passages with words, and the counts of these: (passages, words), sparse.

    `named` are the words that are frequent enough to name a topic; `left_out` counts the passages
    without a word that tells a topic.
    """

    passages: Sequence[Passage]
    vocabulary: Sequence[str]
    counts: Any = field(repr=False)
    named: Array = field(repr=False)
    left_out: int = 0

    @property
    def names(self) -> list[str]:
        """The words that may name a topic."""
        return [self.vocabulary[place] for place in np.flatnonzero(self.named).tolist()]

    @property
    def named_counts(self) -> Any:
        """Counts of the words that may name a topic: (passages, words)."""
        return self.counts[:, np.flatnonzero(self.named)]

    def choose(self, kept: Array) -> Corpus:
        """Give the corpus of the passages that are kept."""
        passages = [self.passages[place] for place in np.flatnonzero(kept).tolist()]
        lost = len(self.passages) - len(passages)
        return Corpus(
            passages, self.vocabulary, self.counts[kept], self.named, self.left_out + lost
        )


def gather_words(passages: Sequence[Passage], rules: WordRules | None = None) -> Corpus:
    """Find the telling words of passages; too few of them are refused."""
    rules = rules or WordRules()
    watch.get().tell("reading words")
    texts = [_NO_WORDS.sub(" ", passage.text) for passage in passages]
    shunned = list_stop_words() | rules.stop_words
    names = frozenset() if rules.names else find_common_names(texts)
    choose = _word_chooser(rules, frozenset(shunned), names)
    told = [[word for word in map(choose, words(text)) if word] for text in texts]
    vocabulary = sorted({word for text in told for word in text})
    named = _find_frequent(passages, told, rules)
    if len(named) < 2 * TOP_WORDS:
        raise InputError(
            f"{count_text(len(named), 'word')} frequent enough to name a topic in "
            f"{count_text(len(passages), 'passage')}",
            f"{2 * TOP_WORDS} are needed: give more stories, or lower the least count (--least)",
        )
    counts = count_words(told, vocabulary)
    corpus = Corpus(passages, vocabulary, counts, np.array([w in named for w in vocabulary]))
    return corpus.choose(np.array([bool(text) for text in told]))


def _word_chooser(
    rules: WordRules, stop_words: frozenset[str], names: frozenset[str]
) -> Callable[[str], str]:
    """Make what gives a word's lemma, or nothing where it tells no topic."""
    lemma = open_lemmas() if rules.lemmas else str

    @cache
    def choose(word: str) -> str:
        if not word.isalpha() or word in stop_words or word in names:
            return ""
        form = lemma(word)
        return form if len(form) >= rules.least_letters and form not in stop_words else ""

    return choose


def open_lemmas() -> Callable[[str], str]:
    """Give WordNet's lemma of a word; without WordNet an `AssetError` says how to get it."""
    return WordNet(path_of("wordnet") / "corpora" / "wordnet").lemma


def find_common_names(texts: Iterable[str]) -> frozenset[str]:
    """Find names over all texts, in small letters: within sentences they have a capital more often
    than not, or they begin several and never come without it.

    Texts in small letters alone say nothing of it, but names known from others are found in them.
    """
    within: Counter[str] = Counter()
    large: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for text in texts:
        if not text.islower():
            within.update({name.lower() for name in find_capitalised(text)})
            large.update(map(str.lower, _LARGE.findall(text)))
            small.update(set(_SMALL.findall(text)))
    named = {word for word, count in within.items() if count > small[word]}
    begun = {word for word, count in large.items() if count >= _BEGUN and not small[word]}
    return frozenset(named | begun)


def _find_frequent(
    passages: Sequence[Passage], told: Sequence[Sequence[str]], rules: WordRules
) -> set[str]:
    counts = Counter(word for text in told for word in text)
    least_count = rules.count_for(len(passages))
    least_stories = rules.stories_for(len({passage.story for passage in passages}))
    holders: dict[str, set[str]] = {}
    for passage, text in zip(passages, told, strict=True):
        for word in text:
            if counts[word] >= least_count:
                holders.setdefault(word, set()).add(passage.story)
    return {word for word, stories in holders.items() if len(stories) >= least_stories}
