"""What a story says twice: its longest repeated runs of words, with all their places."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from fabula.learned.comments.evidence import PlacedWord, locate_words, word_list
from fabula.scoring._review_parts import Repeated, Span

LEAST_WORDS = 4
# Texts that go round in circles are told as such without comparing everything with everything.
_MOST_COMPARED = 40
_MOST_WORDS = 200


def repetitions(text: str, *, least: int = LEAST_WORDS) -> tuple[Repeated, ...]:
    """Find runs of at least so many words that come again, what weighs most first.

    Each is as long as it can be; no place belongs to two of them, and the times it is said do not
    overlap. Runs of function words alone are left out.
    """
    placed = locate_words(text)
    words = [one.word for one in placed]
    where: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(words) - least + 1):
        where[tuple(words[at : at + least])].append(at)
    taken = bytearray(len(words))
    found = []
    for at in range(len(words) - least + 1):
        if taken[at]:
            continue
        places = where[tuple(words[at : at + least])]
        run = _run(words, at, (places, bisect_left(places, at + least)), taken)
        if run is not None:
            size, places = run
            for place in places:
                taken[place : place + size] = b"\1" * size
            if not word_list("stop").issuperset(words[at : at + size]):
                found.append(_repeated(text, placed, places, size))
    return tuple(sorted(found, key=_weight, reverse=True))


def _run(
    words: Sequence[str], at: int, later: tuple[list[int], int], taken: bytearray
) -> tuple[int, list[int]] | None:
    """Length of the longest run from a word on that comes again, and the places of all.

    `later` are the places where its first words stand, and from which of them on to look.
    """
    known, first = later
    near = known[first : first + _MOST_COMPARED]
    size = max((_shared(words, at, other, taken) for other in near), default=0)
    if size < LEAST_WORDS:
        return None
    run, places = words[at : at + size], [at]
    for other in islice(known, first, None):
        apart = other >= places[-1] + size and not any(taken[other : other + size])
        if apart and words[other : other + size] == run:
            places.append(other)
    return (size, places) if len(places) > 1 else None


def _shared(words: Sequence[str], at: int, other: int, taken: bytearray) -> int:
    most = min(other - at, len(words) - other, _MOST_WORDS)
    size = 0
    while size < most and words[at + size] == words[other + size]:
        if taken[at + size] or taken[other + size]:
            break
        size += 1
    return size


def _repeated(
    text: str, placed: Sequence[PlacedWord], places: Sequence[int], size: int
) -> Repeated:
    spans: list[Span] = [(placed[at].start, placed[at + size - 1].end) for at in places]
    return Repeated(text[slice(*spans[0])], tuple(spans))


def _weight(one: Repeated) -> int:
    return (one.count - 1) * (one.places[0][1] - one.places[0][0])
