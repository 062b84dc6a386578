"""What a text says twice: its longest repeated runs of words, with all their places."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from fabula.text.words import locate_words

Span = tuple[int, int]

LEAST_WORDS = 4
# Texts that go round in circles are told as such without comparing everything with everything.
_MOST_COMPARED = 40
_MOST_WORDS = 200


@dataclass(frozen=True)
class Repetition:
    """Words that come again: as they are first written, and all their places."""

    text: str
    places: tuple[Span, ...]

    @property
    def count(self) -> int:
        """How often they are said."""
        return len(self.places)


def find_repetitions(text: str, *, stop_words: Collection[str]) -> tuple[Repetition, ...]:
    """Find runs of at least four words that come again, what weighs most first.

    Each is as long as it can be; no place belongs to two of them, and the times it is said do not
    overlap. Runs of stop words alone are left out.
    """
    placed = locate_words(text)
    words = [word.word for word in placed]
    stop = frozenset(stop_words)
    where: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(words) - LEAST_WORDS + 1):
        where[tuple(words[at : at + LEAST_WORDS])].append(at)
    taken = bytearray(len(words))
    runs = []
    for at in range(len(words) - LEAST_WORDS + 1):
        if taken[at]:
            continue
        places = where[tuple(words[at : at + LEAST_WORDS])]
        run = _longest_run(words, at, (places, bisect_left(places, at + LEAST_WORDS)), taken)
        if run is not None:
            size, places = run
            for place in places:
                taken[place : place + size] = b"\1" * size
            if not stop.issuperset(words[at : at + size]):
                spans = [(placed[place].start, placed[place + size - 1].end) for place in places]
                runs.append(Repetition(text[slice(*spans[0])], tuple(spans)))
    return tuple(sorted(runs, key=_weight, reverse=True))


def _longest_run(
    words: Sequence[str], at: int, later: tuple[list[int], int], taken: bytearray
) -> tuple[int, list[int]] | None:
    """Length of the longest run from a word on that comes again, and the places of all.

    `later` are the places where its first words stand, and from which of them on to look.
    """
    known, first = later
    near = known[first : first + _MOST_COMPARED]
    size = max((_shared_words(words, at, other, taken) for other in near), default=0)
    if size < LEAST_WORDS:
        return None
    run, places = words[at : at + size], [at]
    for other in islice(known, first, None):
        apart = other >= places[-1] + size and not any(taken[other : other + size])
        if apart and words[other : other + size] == run:
            places.append(other)
    return (size, places) if len(places) > 1 else None


def _shared_words(words: Sequence[str], at: int, other: int, taken: bytearray) -> int:
    most = min(other - at, len(words) - other, _MOST_WORDS)
    size = 0
    while size < most and words[at + size] == words[other + size]:
        if taken[at + size] or taken[other + size]:
            break
        size += 1
    return size


def _weight(run: Repetition) -> int:
    """Characters that are said again."""
    start, end = run.places[0]
    return (run.count - 1) * (end - start)
