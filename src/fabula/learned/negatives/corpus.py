"""Other stories to take sentences and words from: their content words by tag and frequency.

NLTK's tagger, which the papers use, needs data that are not at hand: here a word has one tag of the
Penn Treebank, by its shape, whatever stands around it.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from fabula.core.errors import InputError
from fabula.text.inflect import match_case
from fabula.text.places import Span, find_words, put_into
from fabula.text.verbs import is_plain, plain_of_past, plain_of_third

TRIES = 10
_ARTICLE = re.compile(r"(?<![\w'’])([Aa]n?)(\s+)$")
_AN = re.compile(
    r"(?!eu|uni(?:[cfqtv]|on)|us[eu]|one\b|once\b)[aeiou]|hour|honest|hono|heir", re.IGNORECASE
)
_FUNCTION_WORDS = frozenset(
    """
    a an the this that these those my your his her its our their mine yours hers ours theirs
    i you he she it we they me him us them myself yourself himself herself itself ourselves
    themselves who whom whose which what where when why how while if as than then so and or but nor
    not no never yes none nothing nobody neither either both all any some every each everyone
    everything everybody someone something somebody anyone anything one ones another other others
    such same am is are was were be been being do does did doing done have has had having will
    would can could shall should may might must ought to of in on at by for from with without about
    into onto over under up down out off above below between among through during before after
    since until till because though although unless near here there now just only also too very
    quite rather even still again ever always once much many more most less least few several own
    let upon along across against around behind beside besides beyond toward towards within
    ai ca wo sha don didn doesn isn wasn aren weren couldn wouldn shouldn hadn hasn haven won
    mr mrs ms dr ok okay oh like
    """.split()
)
_NO_ING = frozenset(
    "thing king ring wing spring string morning evening ceiling wedding building ending being "
    "feeling meeting painting sibling sling bring sing cling swing sting ding".split()
)
_NO_LY = frozenset("family only fly reply apply supply ugly lovely friendly lonely bully".split())
_ADJECTIVE = re.compile(r"..(?:ful|ous|ive|less|able|ible|ish|ic|ical)$")
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Bag:
    """Words that are drawn as often as they were counted."""

    words: tuple[str, ...]
    totals: tuple[int, ...]  # counts summed up to and with each word

    @classmethod
    def of(cls, counts: Iterable[tuple[str, int]]) -> Bag:
        """Make a bag of words and their counts; the order of the words does not matter."""
        words, numbers = zip(*sorted(counts), strict=True)
        return cls(words, tuple(accumulate(numbers)))

    def draw(self, rng: random.Random) -> str:
        """Draw a word by its frequency."""
        return self.words[bisect_right(self.totals, rng.randrange(self.totals[-1]))]


@dataclass(frozen=True)
class Word:
    """A content word of a sentence: where it stands, how it is written, how the corpus has it."""

    span: Span
    written: str
    known: str
    tag: str


@dataclass(frozen=True)
class Corpus:
    """Stories as lists of sentences, and the content words in them: counts, tags, bags by tag."""

    stories: tuple[tuple[str, ...], ...]
    counts: Mapping[str, int]
    tags: Mapping[str, str]
    bags: Mapping[str, Bag]

    @classmethod
    def of(cls, stories: Iterable[Sequence[str]]) -> Corpus:
        """Count the words of many stories, once.

        The first word of a sentence is not counted, because its capital says nothing.
        """
        whole = tuple(tuple(story) for story in stories)
        if not whole:
            raise InputError("there are no stories to take words from", "give at least one")
        counts = Counter(word for story in whole for word in _inner_words(story))
        tags = {word: tag for word in counts if (tag := tag_word(word))}
        by_tag: dict[str, list[tuple[str, int]]] = {}
        for word, tag in tags.items():
            by_tag.setdefault(tag, []).append((word, counts[word]))
        bags = {tag: Bag.of(pairs) for tag, pairs in by_tag.items()}
        return cls(whole, {word: counts[word] for word in tags}, tags, bags)

    def another(self, sentences: Sequence[str], rng: random.Random) -> tuple[str, ...] | None:
        """Draw a story that shares no sentence with this one; None after ten tries."""
        mine = set(sentences)
        for _ in range(TRIES):
            story = rng.choice(self.stories)
            if story and mine.isdisjoint(story):
                return story
        return None

    def content_words(self, sentence: str) -> list[Word]:
        """Find the words of a sentence that the corpus has a tag for."""
        words = []
        for number, span in enumerate(find_words(sentence)):
            written = sentence[span[0] : span[1]]
            known = self._known(written, first=not number)
            if known in self.tags:
                words.append(Word(span, written, known, self.tags[known]))
        return words

    def word_like(self, word: Word, rng: random.Random) -> str | None:
        """Draw another word of the same tag by frequency; None after ten tries."""
        for _ in range(TRIES):
            other = self.bags[word.tag].draw(rng)
            if other != word.known:
                return other if word.written == word.known else match_case(word.written, other)
        return None

    def _known(self, written: str, *, first: bool) -> str:
        """Give a first word as the corpus has it more often: with or without its capital."""
        small = written[:1].lower() + written[1:]
        often, rarely = self.counts.get(small, 0), self.counts.get(written, 0)
        return small if first and often > rarely else written


def _inner_words(story: Sequence[str]) -> Iterator[str]:
    for sentence in story:
        for start, end in find_words(sentence)[1:]:
            if (word := sentence[start:end]).isalpha():
                yield word


@lru_cache(maxsize=200_000)
def tag_word(word: str) -> str:
    """Tag a word by its capital and its ending; empty for function words and what is no word."""
    if not _WORD.fullmatch(word) or len(word) < 2 or word.lower() in _FUNCTION_WORDS:
        return ""
    if word[0].isupper():
        return "NNP"
    return _verb_tag(word) or _other_tag(word)


def _verb_tag(word: str) -> str:
    if plain_of_past(word):
        return "VBD"
    if word.endswith("ing") and len(word) > 4 and word not in _NO_ING:
        return "VBG"
    if is_plain(word):
        return "VB"
    third = plain_of_third(word)
    return "VBZ" if third and is_plain(third) else ""


def _other_tag(word: str) -> str:
    if word.endswith("ly") and word not in _NO_LY:
        return "RB"
    if _ADJECTIVE.search(word) or word in _NO_LY - {"family", "fly", "reply", "supply", "bully"}:
        return "JJ"
    return "NNS" if word.endswith("s") and not word.endswith(("ss", "us", "is")) else "NN"


def write_words(sentence: str, changes: dict[Span, str]) -> str:
    """Write other words at some places; an article before them is made to fit (a, an)."""
    articles: dict[Span, str] = {}
    for (start, _), word in changes.items():
        if found := _ARTICLE.search(sentence, 0, start):
            articles[found.span(1)] = found[1][0] + ("n" if _AN.match(word) else "")
    return put_into(sentence, articles | changes)
