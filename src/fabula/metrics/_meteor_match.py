"""Which words of two texts METEOR matches, and how it aligns them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from fabula.core.score import Missing, Status

EXACT, STEM, SYNONYM = range(3)
MOST_PAIRS = 2_000_000

Synsets = Callable[[str], frozenset[int]]
Stem = Callable[[str], str]


class Match(NamedTuple):
    """A word of the text, the word of the reference it stands for, and by which matcher."""

    text: int
    reference: int
    kind: int


class Matcher:
    """Finds words of a reference that match, in turn, exactly, by stem and by synonym."""

    def __init__(self, reference: Sequence[str], stem: Stem, synsets: Synsets) -> None:
        self._stem, self._synsets = stem, synsets
        self._places: dict[str, list[int]] = {}
        for place, word in enumerate(reference):
            self._places.setdefault(word, []).append(place)
        self._by_stem: dict[str, list[str]] = {}
        self._by_synset: dict[int, list[str]] = {}
        for word in self._places:
            self._by_stem.setdefault(stem(word), []).append(word)
            for synset in synsets(word):
                self._by_synset.setdefault(synset, []).append(word)

    def places(self, word: str) -> dict[int, int]:
        """Places in the reference that a word matches, each with the best matcher."""
        kinds: dict[str, int] = dict.fromkeys(self._by_stem.get(self._stem(word), ()), STEM)
        for synset in self._synsets(word):
            kinds |= dict.fromkeys(self._by_synset.get(synset, ()), SYNONYM)
        if word in self._places:
            kinds[word] = EXACT
        return {place: kind for other, kind in kinds.items() for place in self._places[other]}


def align(text: Sequence[str], reference: Sequence[str], matcher: Matcher) -> list[Match]:
    """Align each word of the text with at most one of the reference, in few chunks.

    From left to right: go on with the chunk at hand; else begin the longest chunk, an exact match
    before others and the nearest place first. (The Java tool searches with a beam of 40.)
    """
    places = {word: matcher.places(word) for word in set(text)}
    _refuse_long(text, places)
    found: list[Match] = []
    used = [False] * len(reference)
    following = -1
    for here, word in enumerate(text):
        options = places[word]
        if following not in options or used[following]:
            following = _best_start(here, text, places, used)
        if following < 0:
            continue
        found.append(Match(here, following, options[following]))
        used[following] = True
        following = following + 1 if following + 1 < len(reference) else -1
    return found


def _best_start(
    here: int, text: Sequence[str], places: Mapping[str, dict[int, int]], used: list[bool]
) -> int:
    """Place to begin a chunk at; -1 where every match is taken."""
    best, place = (2, 0, 0), -1
    for start, kind in places[text[here]].items():
        if used[start] or (kind != EXACT, 0, 0) > best:
            continue
        merit = (int(kind != EXACT), -_reach(here, start, text, places, used), abs(start - here))
        if merit < best:
            best, place = merit, start
    return place


def _reach(
    here: int,
    start: int,
    text: Sequence[str],
    places: Mapping[str, dict[int, int]],
    used: list[bool],
) -> int:
    """How many words from here on match the reference from a place on."""
    length, most = 1, min(len(text) - here, len(used) - start)
    while (
        length < most and not used[start + length] and start + length in places[text[here + length]]
    ):
        length += 1
    return length


def count_chunks(matches: Sequence[Match]) -> int:
    """Number of runs that are contiguous in both texts."""
    joins = sum(
        (after.text, after.reference) == (before.text + 1, before.reference + 1)
        for before, after in pairwise(matches)
    )
    return len(matches) - joins


def _refuse_long(text: Sequence[str], places: Mapping[str, dict[int, int]]) -> None:
    pairs = sum(len(places[word]) for word in text)
    if pairs > MOST_PAIRS:
        note = f"{pairs:,} pairs of words that match are more than the limit of {MOST_PAIRS:,}"
        raise Missing(Status.TOO_LONG, note)
