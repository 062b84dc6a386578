"""Evidence: the span of a story that a comment on one of its aspects rests on.

Every rule is simple and can be said in a few words, so that a writer may see why a span was
taken. Where nothing fits, there is no evidence but a reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from fabula.core.errors import UnknownName, closest
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.comments._cut import cut_to
from fabula.learned.comments._lexicon import stem_list, stem_of, word_list
from fabula.learned.comments.places import PlacedWord, placed_words
from fabula.text.names import find_names
from fabula.text.quotes import speeches
from fabula.text.sentences import sentence_spans

Surprise = Callable[[str], float]

_TONES = {
    "scene": "place and senses",
    "heartwarming": "warmth",
    "sad": "sorrow",
    "horror": "dread",
    "funny": "jest",
}
# So many words of a list must be found in the story before one line stands for them.
_LEAST_FOUND = 2
_SHOWN = 4
# A smoothing of density, lest a line of one word be the densest.
_FEW = 6


@dataclass(frozen=True)
class Evidence:
    """A quote with its places, and what it is in words; or the reason why there is none.

    `how` goes on after "this is"; `words` are those of the list that the quote was found by.
    """

    aspect: str
    start: int = 0
    end: int = 0
    quote: str = ""
    how: str = ""
    words: tuple[str, ...] = ()
    reason: str = ""

    @property
    def found(self) -> bool:
        """Whether there is a quote."""
        return bool(self.quote)


@dataclass(frozen=True)
class Sentence:
    """A sentence, its number, its place and its words."""

    number: int
    start: int
    end: int
    words: tuple[PlacedWord, ...]


@dataclass(frozen=True)
class Telling:
    """A story's text in sentences; made once for all aspects."""

    text: str

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Sentences that hold something to read."""
        return tuple(
            Sentence(number, start, end, tuple(placed_words(self.text, start, end)))
            for number, (start, end) in enumerate(sentence_spans(self.text))
        )

    def evidence(
        self,
        aspect: str,
        one: Sentence,
        how: str,
        *,
        hits: tuple[PlacedWord, ...] = (),
        focus: int = 0,
    ) -> Evidence:
        """Give a sentence as evidence, cut to what can be quoted: round its hits or a word."""
        places = [one.words.index(hit) for hit in hits] or [focus]
        start, end = cut_to(self.text, (one.start, one.end), one.words, places)
        words = tuple(dict.fromkeys(hit.word for hit in hits))[:_SHOWN]
        return Evidence(aspect, start, end, self.text[start:end], how, words)


def find_evidence(
    text: str | Telling, aspect: str, *, surprise: Surprise | None = None
) -> Evidence:
    """Find the span that a comment on an aspect may rest on.

    `surprise` says how surprising a sentence is; without it novelty goes by the words that a story
    uses but once.
    """
    telling = text if isinstance(text, Telling) else Telling(text)
    if aspect not in ASPECTS:
        raise UnknownName(f"no aspect is called {aspect!r}", closest(aspect, ASPECTS))
    if not telling.sentences:
        return Evidence(aspect, reason="the story has no text")
    if aspect in _TONES:
        return _toned(telling, aspect)
    if aspect == "novelty":
        return _novel(telling, surprise)
    return _RULES[aspect](telling)


def _opening(telling: Telling) -> Evidence:
    return telling.evidence("opening", telling.sentences[0], "the first words of the story")


def _ending(telling: Telling) -> Evidence:
    if len(telling.sentences) == 1:
        return Evidence("ending", reason="the one sentence of the story is its opening")
    last = telling.sentences[-1]
    how = "the last words of the story"
    return telling.evidence("ending", last, how, focus=len(last.words) - 1)


def _middle(telling: Telling) -> Evidence:
    """Take the turn that is nearest to the middle, else the longest sentence around it."""
    inner = telling.sentences[1:-1]
    if not inner:
        return Evidence("middle", reason="the story is too short to have a middle")
    centre = telling.sentences[len(telling.sentences) // 2].number
    turns = [(one, hit) for one in inner for hit in _turns(one)]
    if turns:
        one, hit = min(turns, key=lambda turn: abs(turn[0].number - centre))
        return telling.evidence("middle", one, f"the turn at “{hit.word}”")
    quarter = len(inner) // 4
    longest = max(inner[quarter : len(inner) - quarter], key=lambda one: len(one.words))
    return telling.evidence("middle", longest, "the longest sentence of the middle")


def _turns(one: Sentence) -> list[PlacedWord]:
    """Give the first two words of a sentence that are a turn; in “All but one” there is none."""
    first = one.words[:2]
    return [
        hit
        for place, hit in enumerate(first)
        if hit.word in word_list("turns") and not (place and hit.word == "but")
    ]


def _character(telling: Telling) -> Evidence:
    """Take the line with most of who is named most, and of speech."""
    names = find_names(telling.text)
    name = names[0].lower() if names else ""
    people = word_list("pronouns")

    def standing(one: Sentence) -> tuple[bool, bool, float]:
        said = bool(speeches(telling.text[one.start : one.end]))
        persons = sum(word.word in people for word in one.words)
        return any(_is(word, name) for word in one.words), said, persons / (len(one.words) + _FEW)

    best = max(telling.sentences, key=standing)
    named, said, persons = standing(best)
    if named:
        times = sum(_is(word, name) for one in telling.sentences for word in one.words)
        how = f"a line with {names[0]}, named {'once' if times == 1 else f'{times} times'}"
        return telling.evidence("character", best, how, focus=_first(best, name))
    if not (said or persons):
        return Evidence("character", reason="nobody is named, speaks or is spoken of")
    return telling.evidence("character", best, "a line of speech" if said else "a line on a person")


def _first(one: Sentence, name: str) -> int:
    return next(number for number, word in enumerate(one.words) if _is(word, name))


def _is(word: PlacedWord, name: str) -> bool:
    return bool(name) and word.word.partition("'")[0] == name


def _toned(telling: Telling, aspect: str) -> Evidence:
    """Take the line that is densest in words of a list of ours."""
    known, what = stem_list(aspect), _TONES[aspect]
    hits = {
        one.number: tuple(word for word in one.words if stem_of(word.word) in known)
        for one in telling.sentences
    }
    total = sum(map(len, hits.values()))
    if total < _LEAST_FOUND:
        return Evidence(aspect, reason=f"hardly a word of {what} was found")
    best = max(telling.sentences, key=lambda one: len(hits[one.number]) / (len(one.words) + _FEW))
    found = hits[best.number]
    return telling.evidence(aspect, best, f"the line densest in words of {what}", hits=found)


def _novel(telling: Telling, surprise: Surprise | None) -> Evidence:
    if surprise is not None:
        best = max(telling.sentences, key=lambda one: surprise(telling.text[one.start : one.end]))
        return telling.evidence("novelty", best, "the line that a language model expects least")
    stop = word_list("stop")
    counts = Counter(word.word for one in telling.sentences for word in one.words)

    def lone(one: Sentence) -> tuple[PlacedWord, ...]:
        return tuple(w for w in one.words if counts[w.word] == 1 and w.word not in stop)

    best = max(telling.sentences, key=lambda one: len(lone(one)) / (len(one.words) + _FEW))
    if len(telling.sentences) == 1 or len(lone(best)) < _LEAST_FOUND:
        return Evidence("novelty", reason="no line stands out by its words")
    return telling.evidence("novelty", best, "the line richest in words used once", hits=lone(best))


_RULES: dict[str, Callable[[Telling], Evidence]] = {
    "opening": _opening,
    "middle": _middle,
    "ending": _ending,
    "character": _character,
}
