"""A text taken apart once for all craft checks: sentences, what is told and what is spoken, names.

Checks look at what is told: people speak as they like. A check gives a `Finding`.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from fabula.text.names import find_names
from fabula.text.sentences import sentence_spans, speech_spans
from fabula.text.stem import stem
from fabula.text.words import PlacedWord, locate_words

Span = tuple[int, int]

# Below these a habit cannot be told from chance, or English from other languages.
LEAST_WORDS = 20
_LEAST_FUNCTION_WORDS = 0.2
# Thoughts that are set off by emphasis have a person and a tense of their own.
_EMPHASISED = re.compile(r"(?<![\w*_])([*_]{1,3})(?=\S)[^*_\n]{1,1000}(?<=\S)\1(?![\w*_])")
_DOUBLE = '"“”'
_MARK = re.compile(r"[\"“”\r\n\u2028\u2029]|``|''")
_BEFORE_SPEECH = "([{—–-*_"
_WRAPPED_CHARACTERS = 100
_LINE = re.compile(r"[^\r\n\u2028\u2029]+")
_BLOCK = re.compile(r"(?:[^\r\n]|\r?\n(?![^\S\n]*\r?\n))+")


@dataclass(frozen=True)
class Finding:
    """What a check found in a text: its values, where, and the pattern in words.

    `values` are in the order of the check's aspects. `spots` are the places that it counts, in
    the order of the text; `passage` is what to quote, where there is anything to show; `said` goes
    on after "here" and holds numbers and words of the text alone.
    """

    values: tuple[float, ...]
    spots: tuple[Span, ...] = ()
    passage: Span = (0, 0)
    said: str = ""


class NothingToCheck(Exception):
    """Raised by a check that has nothing to go by in a text; says why in a few words."""


@dataclass(frozen=True)
class Sentence:
    """A sentence: its number, its place, its words, and those of them that are told."""

    number: int
    start: int
    end: int
    words: tuple[PlacedWord, ...]
    told: tuple[PlacedWord, ...]

    @property
    def begins_told(self) -> bool:
        """Whether its first word is told rather than spoken."""
        return bool(self.told) and self.told[0] is self.words[0]


@dataclass(frozen=True)
class Prose:
    """A text and its parts."""

    text: str

    @cached_property
    def words(self) -> tuple[PlacedWord, ...]:
        """All words with their places."""
        return tuple(locate_words(self.text))

    @cached_property
    def speech(self) -> tuple[Span, ...]:
        """What stands in quotation marks, in order."""
        return _find_speech(self.text)

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Sentences that hold a word."""
        emphasised = [match.span() for match in _EMPHASISED.finditer(self.text)]
        untold = _Cover([*self.speech, *emphasised])
        starts = [word.start for word in self.words]
        sentences: list[Sentence] = []
        for start, end in sentence_spans(self.text):
            first, last = bisect_right(starts, start - 1), bisect_right(starts, end - 1)
            words = self.words[first:last]
            if words:
                told = tuple(word for word in words if not untold.holds(word.start))
                sentences.append(Sentence(len(sentences), start, end, words, told))
        return tuple(sentences)

    @cached_property
    def told(self) -> tuple[PlacedWord, ...]:
        """Words that are neither spoken nor set off as a thought."""
        return tuple(word for sentence in self.sentences for word in sentence.told)

    @cached_property
    def paragraphs(self) -> tuple[Span, ...]:
        """Lines that hold a word, or blocks where lines are wrapped, as `text.features` has it."""
        lines = _spans_with_words(_LINE, self.text)
        longest = max((end - start for start, end in lines), default=0)
        if len(lines) > 1 and longest <= _WRAPPED_CHARACTERS:
            blocks = _spans_with_words(_BLOCK, self.text)
            return blocks if len(blocks) > 1 else lines
        return lines

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names in small letters, the most frequent first."""
        return tuple(dict.fromkeys(name.lower() for name in find_names(self.text)))

    def need_words(self, *, english: bool = True) -> None:
        """Refuse a text that is too short for a habit, or not in English where that matters."""
        if len(self.words) < LEAST_WORDS:
            raise NothingToCheck(f"fewer than {LEAST_WORDS} words are too few to show a habit")
        if english and self._english < _LEAST_FUNCTION_WORDS:
            raise NothingToCheck("this check reads English, and hardly a word is common English")

    def need_told(self) -> Sequence[PlacedWord]:
        """Give the words that are told; refuse a text with too few."""
        self.need_words()
        if len(self.told) < LEAST_WORDS:
            raise NothingToCheck(f"fewer than {LEAST_WORDS} words are told rather than spoken")
        return self.told

    def sentence_at(self, place: int) -> Sentence:
        """Give the sentence that holds a place of one of its words."""
        return self.sentences[max(0, bisect_right(self._starts, place) - 1)]

    @cached_property
    def _english(self) -> float:
        """Share of the words that are English function words."""
        known = word_list("function")
        return sum(word.word in known for word in self.words) / max(1, len(self.words))

    @cached_property
    def _starts(self) -> list[int]:
        return [sentence.start for sentence in self.sentences]


def _find_speech(text: str) -> tuple[Span, ...]:
    """Find speech between double marks by the way they look; that between others as `sentences`.

    One mark too many must not turn the rest of a story inside out: a mark that opens while a speech
    is open ends that one, and a paragraph ends any.
    """
    spans, opened = [], -1
    for match in _MARK.finditer(text):
        mark, place = match[0], match.start()
        if mark in "\r\n\u2028\u2029" or _opens(text, place, is_open=opened >= 0):
            if opened >= 0:
                spans.append((opened, place))
            opened = -1 if mark.isspace() else place
        elif opened >= 0:
            spans.append((opened, match.end()))
            opened = -1
    if opened >= 0:
        spans.append((opened, len(text)))
    others = [span for span in speech_spans(text) if text[span[0]] not in _DOUBLE]
    return tuple(sorted([*spans, *others]))


def _opens(text: str, place: int, *, is_open: bool) -> bool:
    """Whether a double quotation mark opens a speech; one that may do either does what is due."""
    mark, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if mark in "“”`'":
        return mark in "“`"
    if mark != '"':
        return False
    may_open = (not before or before in _BEFORE_SPEECH or before.isspace()) and after.isalnum()
    may_close = bool(before) and not before.isspace()
    return not is_open if may_open == may_close else may_open


class _Cover:
    """Spans, asked whether one of them holds a place."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(end, self._ends[-1])
            else:
                self._starts.append(start)
                self._ends.append(end)

    def holds(self, place: int) -> bool:
        at = bisect_right(self._starts, place) - 1
        return at >= 0 and place < self._ends[at]


def find_longest_run(keys: Sequence[object]) -> Span:
    """Give the first of the longest runs of equal keys; None is equal to nothing."""
    best, start = (0, 0), 0
    for at in range(1, len(keys) + 1):
        if at == len(keys) or keys[at] is None or keys[at] != keys[start]:
            if at - start > best[1] - best[0] and keys[start] is not None:
                best = (start, at)
            start = at
    return best


def put_number(count: int) -> str:
    """Write a number that begins a sentence or stands in it: in letters up to twelve."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def put_times(count: int) -> str:
    """Write how often: once, twice, three times."""
    return {1: "once", 2: "twice"}.get(count, f"{put_number(count)} times")


_NUMBERS = "no one two three four five six seven eight nine ten eleven twelve".split()


_I = re.compile(r"\bi\b")  # words are compared in small letters; this one is never shown so


def list_words(words: Sequence[str], most: int = 4) -> str:
    """Write the first different words in quotation marks: “a”, “b” and “c”."""
    shown = [f"“{_I.sub('I', word)}”" for word in dict.fromkeys(words)][:most]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def _spans_with_words(pattern: re.Pattern[str], text: str) -> tuple[Span, ...]:
    matches = pattern.finditer(text)
    return tuple(match.span() for match in matches if any(map(str.isalnum, match[0])))


@lru_cache(maxsize=1)
def _lists() -> dict[str, frozenset[str]]:
    text = (files(__package__) / "_lists.toml").read_text(encoding="utf-8")
    return {name: frozenset(words.split()) for name, words in tomllib.loads(text).items()}


def word_list(name: str) -> frozenset[str]:
    """Give one of our word lists."""
    return _lists()[name]


@lru_cache(maxsize=20_000)
def stem_of(word: str) -> str:
    """Stem a lower-case word as Porter did, its possessive ending left out."""
    word = word.removesuffix("'s")
    return stem(word, "nltk") if word.isascii() else word


@lru_cache(maxsize=8)
def take_apart(text: str) -> Prose:
    """Give a text's parts, made once for all checks that ask for them one after the other."""
    return Prose(text)
