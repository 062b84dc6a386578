"""Evidence: the span of a story that a comment on one of its aspects rests on.

Every rule is simple and can be said in a few words, so that a writer may see why a span was
taken. Where nothing fits, there is no evidence but a reason. Word lists are plain files of ours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files

from fabula.core.errors import UnknownName, closest
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.text.layout import find_title
from fabula.text.names import find_names
from fabula.text.sentences import sentence_spans, speeches
from fabula.text.stem import stem
from fabula.text.words import PlacedWord, locate_words

Span = tuple[int, int]

_TONES = {
    "scene": "place and senses",
    "heartwarming": "warmth",
    "sad": "sorrow",
    "horror": "dread",
    "funny": "jest",
}
# A sentence that is longer is cut to what can be quoted.
MOST_WORDS = 18
MOST_CHARACTERS = 200
_LEAST_WORDS = 7
_PAUSES = ",;:—–"
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
class StorySentences:
    """A story's text in sentences, without its title; made once for all aspects."""

    text: str

    @cached_property
    def begin(self) -> int:
        """Where the story begins, below its title."""
        title = find_title(self.text)
        return title[1] if title else 0

    @cached_property
    def sentences(self) -> tuple[Sentence, ...]:
        """Sentences that hold something to read."""
        below = [
            (max(start, self.begin), end)
            for start, end in sentence_spans(self.text)
            if end > self.begin
        ]
        # What is left of a line that began with the title has its blanks still.
        spans = [(end - len(self.text[start:end].lstrip()), end) for start, end in below]
        return tuple(
            Sentence(number, start, end, tuple(locate_words(self.text, start, end)))
            for number, (start, end) in enumerate(span for span in spans if span[0] < span[1])
        )

    def evidence(
        self,
        aspect: str,
        sentence: Sentence,
        how: str,
        *,
        hits: tuple[PlacedWord, ...] = (),
        focus: int = 0,
    ) -> Evidence:
        """Give a sentence as evidence, cut to what can be quoted: round its hits or a word."""
        places = [sentence.words.index(hit) for hit in hits] or [focus]
        start, end = _cut_quote(self.text, (sentence.start, sentence.end), sentence.words, places)
        words = tuple(dict.fromkeys(hit.word for hit in hits))[:_SHOWN]
        return Evidence(aspect, start, end, self.text[start:end], how, words)


def cut_span(text: str, span: Span, spots: Sequence[Span]) -> Span:
    """Cut a passage to what can be quoted: the part of it with most of the spots."""
    words = locate_words(text, *span)
    places = [
        number
        for number, word in enumerate(words)
        if any(start < word.end and word.start < end for start, end in spots)
    ]
    return _cut_quote(text, span, words, places or [0])


def find_cuts(text: str, span: Span) -> tuple[bool, bool]:
    """Say whether a sentence goes on before a span, and after it."""
    spans = sentence_spans(text)
    start, end = (
        next((s for s in spans if s[0] <= at < s[1]), None) for at in (span[0], span[1] - 1)
    )
    return bool(start and start[0] < span[0]), bool(end and span[1] < end[1])


def find_evidence(text: str | StorySentences, aspect: str) -> Evidence:
    """Find the span that a comment on an aspect may rest on."""
    story = text if isinstance(text, StorySentences) else StorySentences(text)
    if aspect not in ASPECTS:
        raise UnknownName(f"no aspect is called {aspect!r}", closest(aspect, ASPECTS))
    if not story.sentences:
        return Evidence(aspect, reason="the story has no text")
    if aspect in _TONES:
        return _find_tone(story, aspect)
    return _RULES[aspect](story)


def _find_opening(story: StorySentences) -> Evidence:
    return story.evidence("opening", story.sentences[0], "the first words of the story")


def _find_ending(story: StorySentences) -> Evidence:
    if len(story.sentences) == 1:
        return Evidence("ending", reason="the one sentence of the story is its opening")
    last = story.sentences[-1]
    how = "the last words of the story"
    return story.evidence("ending", last, how, focus=len(last.words) - 1)


def _find_middle(story: StorySentences) -> Evidence:
    """Take the turn that is nearest to the middle, else the longest sentence around it."""
    inner = story.sentences[1:-1]
    if not inner:
        return Evidence("middle", reason="the story is too short to have a middle")
    centre = story.sentences[len(story.sentences) // 2].number
    turns = [(sentence, hit) for sentence in inner for hit in _find_turns(sentence)]
    if turns:
        sentence, hit = min(turns, key=lambda turn: abs(turn[0].number - centre))
        return story.evidence("middle", sentence, f"the turn at “{hit.word}”")
    quarter = len(inner) // 4
    longest = max(inner[quarter : len(inner) - quarter], key=lambda sentence: len(sentence.words))
    return story.evidence("middle", longest, "the longest sentence of the middle")


def _find_turns(sentence: Sentence) -> list[PlacedWord]:
    """Give the first two words of a sentence that are a turn; in “All but one” there is none."""
    first = sentence.words[:2]
    return [
        hit
        for place, hit in enumerate(first)
        if hit.word in word_list("turns") and not (place and hit.word == "but")
    ]


def _find_character(story: StorySentences) -> Evidence:
    """Take the line with most of who is named most, and of speech."""
    names = find_names(story.text[story.begin :])
    name = names[0].lower() if names else ""
    people = word_list("pronouns")

    def rank_line(sentence: Sentence) -> tuple[bool, bool, float]:
        said = bool(speeches(story.text[sentence.start : sentence.end]))
        persons = sum(word.word in people for word in sentence.words)
        return (
            any(_is_name(word, name) for word in sentence.words),
            said,
            persons / (len(sentence.words) + _FEW),
        )

    best = max(story.sentences, key=rank_line)
    named, said, persons = rank_line(best)
    if named:
        times = sum(_is_name(word, name) for sentence in story.sentences for word in sentence.words)
        how = f"a line with {names[0]}, named {'once' if times == 1 else f'{times} times'}"
        focus = next(number for number, word in enumerate(best.words) if _is_name(word, name))
        return story.evidence("character", best, how, focus=focus)
    if not (said or persons):
        return Evidence("character", reason="nobody is named, speaks or is spoken of")
    return story.evidence("character", best, "a line of speech" if said else "a line on a person")


def _is_name(word: PlacedWord, name: str) -> bool:
    return bool(name) and word.word.partition("'")[0] == name


def _find_tone(story: StorySentences, aspect: str) -> Evidence:
    """Take the line that is densest in words of a list of ours."""
    known, what = stem_list(aspect), _TONES[aspect]
    hits = {
        sentence.number: tuple(word for word in sentence.words if stem_word(word.word) in known)
        for sentence in story.sentences
    }
    total = sum(map(len, hits.values()))
    if total < _LEAST_FOUND:
        return Evidence(aspect, reason=f"hardly a word of {what} was found")
    best = max(
        story.sentences,
        key=lambda sentence: len(hits[sentence.number]) / (len(sentence.words) + _FEW),
    )
    how = f"the line densest in words of {what}"
    return story.evidence(aspect, best, how, hits=hits[best.number])


def _find_novelty(story: StorySentences) -> Evidence:
    """Take the line that is densest in words that the story uses but once."""
    stop = word_list("stop")
    counts = Counter(word.word for sentence in story.sentences for word in sentence.words)

    def words_used_once(sentence: Sentence) -> tuple[PlacedWord, ...]:
        return tuple(w for w in sentence.words if counts[w.word] == 1 and w.word not in stop)

    best = max(
        story.sentences,
        key=lambda sentence: len(words_used_once(sentence)) / (len(sentence.words) + _FEW),
    )
    if len(story.sentences) == 1 or len(words_used_once(best)) < _LEAST_FOUND:
        return Evidence("novelty", reason="no line stands out by its words")
    return story.evidence(
        "novelty", best, "the line richest in words used once", hits=words_used_once(best)
    )


_RULES: dict[str, Callable[[StorySentences], Evidence]] = {
    "opening": _find_opening,
    "middle": _find_middle,
    "ending": _find_ending,
    "character": _find_character,
    "novelty": _find_novelty,
}


def _cut_quote(text: str, span: Span, words: Sequence[PlacedWord], focus: Sequence[int]) -> Span:
    """Give the part of a sentence that holds most of the words in focus, by their numbers."""
    if len(words) <= MOST_WORDS:
        return _cut_characters(text, span, from_end=bool(focus) and focus[0] > 0)
    # The window with most words in focus; the first of the best.
    starts = range(len(words) - MOST_WORDS + 1)
    first = max(starts, key=lambda at: sum(at <= place < at + MOST_WORDS for place in focus))
    last = first + MOST_WORDS - 1
    start = span[0] if first == 0 else words[first].start
    if last == len(words) - 1:
        return _cut_characters(text, (start, span[1]), from_end=True)
    last = _find_pause(text, words, (max(focus[0], first), last))
    return _cut_characters(text, (start, words[last].end), from_end=False)


def _find_pause(text: str, words: Sequence[PlacedWord], reach: Span) -> int:
    """Number of the last word before a pause, if enough words stand before it; else the last.

    Function words at an end that is no pause are left out.
    """
    least, last = reach
    for number in range(last, max(last - MOST_WORDS + _LEAST_WORDS, least) - 1, -1):
        between = text[words[number].end : words[number + 1].start]
        if any(pause in between for pause in _PAUSES):
            return number
    while last > least and words[last].word in word_list("stop"):
        last -= 1
    return last


def _cut_characters(text: str, span: Span, *, from_end: bool) -> Span:
    """Keep to so many characters, where a language does not part its words."""
    start, end = span
    if end - start > MOST_CHARACTERS:
        start, end = (end - MOST_CHARACTERS, end) if from_end else (start, start + MOST_CHARACTERS)
    quote = text[start:end]
    start += len(quote) - len(quote.lstrip())
    return start, start + len(quote.strip())


@lru_cache(maxsize=16)
def word_list(name: str) -> frozenset[str]:
    """Read a list; lines that begin with # are remarks."""
    text = (files(__package__) / "_words" / f"{name}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(" ".join(lines).split())


@lru_cache(maxsize=16)
def stem_list(name: str) -> frozenset[str]:
    """Read a list as stems, so that one form of a word stands for the others."""
    return frozenset(map(stem_word, word_list(name)))


@lru_cache(maxsize=20_000)
def stem_word(word: str) -> str:
    """Stem a lower-case word as Porter did."""
    return stem(word, "nltk") if word.isascii() else word
