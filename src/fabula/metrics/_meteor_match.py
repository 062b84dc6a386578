"""Which words of two texts METEOR matches, and how it aligns them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

from fabula.core.score import Missing, Status

EXACT, STEM, SYNONYM = range(3)
MOST_PAIRS = 2_000_000

_NONE: list[str] = []

Related = Callable[[str], set[str]]
Stem = Callable[[str], str]


# A word of the text, the word of the reference it stands for, and by which matcher.
Match = tuple[int, int, int]


class Matcher:
    """A reference, ready to be matched with many texts: exactly, by stem and by synonym."""

    def __init__(self, reference: Sequence[str], stem: Stem, related: Related) -> None:
        self.reference = reference
        self._stem, self._related = stem, related
        self.places: dict[str, list[int]] = {}
        for place, word in enumerate(reference):
            self.places.setdefault(word, []).append(place)
        self._vocabulary = set(self.places)
        self._by_stem: dict[str, list[str]] = {}
        for word in self.places:
            related(word)
            self._by_stem.setdefault(stem(word), []).append(word)
        self._others: dict[str, dict[str, int]] = {}

    def others(self, word: str) -> dict[str, int]:
        """Other words of the reference that a word matches, each by its best matcher."""
        found = self._others.get(word)
        if found is None:
            stems = self._by_stem.get(self._stem(word), _NONE)
            senses = self._related(word) & self._vocabulary
            found = dict.fromkeys(stems, STEM) if stems else {}
            if senses:
                found |= dict.fromkeys(senses, SYNONYM)
            if found:
                found.pop(word, None)
            self._others[word] = found
        return found


def align(text: Sequence[str], matcher: Matcher) -> list[Match]:
    """Align each word of the text with at most one of the reference, in few chunks.

    From left to right: go on with the chunk at hand; else begin where most words ahead are the
    same, an exact match before others and the nearest place first. (The Java tool searches with
    a beam of 40.)
    """
    _refuse_long(text, matcher)
    reference = [*matcher.reference, ""]
    free = {word: places.copy() for word, places in matcher.places.items()}
    used = bytearray(len(reference))
    used[-1] = True
    found: list[Match] = []
    following = -1
    for here, word in enumerate(text):
        other, kind = reference[following], EXACT
        if used[following] or other != word:
            if starts := free.get(word):
                following, other = _best_start(here, starts, text, reference), word
            elif others := matcher.others(word):
                if used[following] or other not in others:
                    starts = sorted([place for one in others for place in free[one]])
                    following = _best_start(here, starts, text, reference)
                    other = reference[following]
                kind = others.get(other, EXACT)
            else:
                following = -1
            if following < 0:
                continue
        found.append((here, following, kind))
        used[following] = True
        free[other].remove(following)
        following += 1
    return found


def _best_start(here: int, starts: list[int], text: Sequence[str], reference: Sequence[str]) -> int:
    """Place to begin a chunk at; -1 where every match is taken."""
    if len(starts) < 2:
        return starts[0] if starts else -1
    ahead, reach = starts, 0
    # Longer and longer chunks, until none goes on; the reference ends in an empty word.
    while ahead:
        starts, reach = ahead, reach + 1
        if here + reach == len(text):
            break
        word = text[here + reach]
        ahead = [start for start in starts if reference[start + reach] == word]
    after = bisect_left(starts, here)
    if after == len(starts):
        return starts[-1]
    if after and here - starts[after - 1] <= starts[after] - here:
        return starts[after - 1]
    return starts[after]


def count_chunks(matches: Sequence[Match]) -> int:
    """Number of runs that are contiguous in both texts."""
    joins = sum(
        after == before + 1 and other_after == other + 1
        for (before, other, _), (after, other_after, _) in pairwise(matches)
    )
    return len(matches) - joins


def _refuse_long(text: Sequence[str], matcher: Matcher) -> None:
    if len(text) * len(matcher.reference) <= MOST_PAIRS:
        return
    pairs = sum(len(matcher.places.get(word, ())) for word in text)
    if pairs > MOST_PAIRS:
        note = f"{pairs:,} pairs of equal words are more than the limit of {MOST_PAIRS:,}"
        raise Missing(Status.TOO_LONG, note)
