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
# Words that may differ within what is told as nearly the same.
_GAPS = (1, 2)
# Words that must be alike beyond them.
_LEAST_ALIKE = 2


@dataclass(frozen=True)
class Repetition:
    """Words that come again: as they are first written, and all their places.

    `share` is how much of the text's words its places hold together; where it is not `exact`, the
    places differ from one another by a word or two.
    """

    text: str
    places: tuple[Span, ...]
    share: float = 0.0
    exact: bool = True

    @property
    def count(self) -> int:
        """How often they are said."""
        return len(self.places)


@dataclass(frozen=True)
class _Run:
    """Words from one place to another that come again: the first and last word of each time."""

    places: tuple[Span, ...]
    exact: bool = True

    @property
    def words(self) -> int:
        return sum(last - first for first, last in self.places)


def find_repetitions(text: str, *, stop_words: Collection[str]) -> tuple[Repetition, ...]:
    """Find runs of at least four words that come again, what weighs most first.

    What goes round in a circle is told once, as the round and how often it is gone. No place
    belongs to two of them, and the times it is said do not overlap. A run goes on over a word or
    two that differ, where it is alike beyond them. Runs of stop words alone are left out.
    """
    placed = locate_words(text)
    words = [word.word for word in placed]
    stop = frozenset(stop_words)
    runs = [run for run in _find_runs(words) if not stop.issuperset(words[slice(*run.places[0])])]
    found = []
    for run in runs:
        spans = [(placed[first].start, placed[last - 1].end) for first, last in run.places]
        share = run.words / len(words)
        found.append(Repetition(text[slice(*spans[0])], tuple(spans), share, run.exact))
    return tuple(sorted(found, key=_weight, reverse=True))


def _find_runs(words: Sequence[str]) -> list[_Run]:
    """Find runs in the order of their first places; a word belongs to one of them at most."""
    where: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for at in range(len(words) - LEAST_WORDS + 1):
        where[tuple(words[at : at + LEAST_WORDS])].append(at)
    taken = bytearray(len(words))
    runs = []
    for at in range(len(words) - LEAST_WORDS + 1):
        if taken[at]:
            continue
        known = where[tuple(words[at : at + LEAST_WORDS])]
        later = (known, bisect_left(known, at + 1))
        if size := _choose_size(words, at, later, taken):
            places = _find_places(words, (at, size), later, taken)
            if len(places) > 1:
                spans = [(place, place + size) for place in places]
                grown = _grow(words, spans, taken)
                for first, last in grown:
                    taken[first:last] = b"\1" * (last - first)
                said = {tuple(words[first:last]) for first, last in grown}
                runs.append(_Run(tuple(grown), exact=len(said) == 1))
    return runs


def _choose_size(
    words: Sequence[str], at: int, later: tuple[list[int], int], taken: bytearray
) -> int:
    """Choose how many words from a place on are the run: those that weigh most by all their times.

    `later` are the places where its first words stand, and from which of them on to look.
    """
    known, first = later
    near = islice(known, first, first + _MOST_COMPARED)
    sizes = [_shared_words(words, at, other, taken) for other in near]
    long = [size for size in sizes if size >= LEAST_WORDS]
    best = max(long, key=lambda size: (size * sum(own >= size for own in long), size), default=0)
    return _shortest_round(words[at : at + best]) if best else 0


def _shortest_round(run: Sequence[str]) -> int:
    """Length of the shortest round that a run goes at least twice: its own, if it goes none."""
    for size in range(1, len(run) // 2 + 1):
        if all(run[at] == run[at - size] for at in range(size, len(run))):
            return size
    return len(run)


def _find_places(
    words: Sequence[str], run: Span, later: tuple[list[int], int], taken: bytearray
) -> list[int]:
    """Give the places of a run, one after the other: of a round also those that follow at once."""
    at, size = run
    said, (known, first) = words[at : at + size], later
    places = [at]
    for other in islice(known, first, None):
        _follow_round(words, said, places, until=other, taken=taken)
        if other >= places[-1] + size and _stands(words, said, other, taken):
            places.append(other)
    _follow_round(words, said, places, until=len(words), taken=taken)
    return places


def _follow_round(
    words: Sequence[str], said: Sequence[str], places: list[int], *, until: int, taken: bytearray
) -> None:
    """Add the places at which a run follows itself without a word between."""
    while (after := places[-1] + len(said)) < until and _stands(words, said, after, taken):
        places.append(after)


def _stands(words: Sequence[str], said: Sequence[str], at: int, taken: bytearray) -> bool:
    end = at + len(said)
    return words[at:end] == said and not any(taken[at:end])


def _shared_words(words: Sequence[str], at: int, other: int, taken: bytearray) -> int:
    most = min(other - at, len(words) - other, _MOST_WORDS)
    size = 0
    while size < most and words[at + size] == words[other + size]:
        if taken[at + size] or taken[other + size]:
            break
        size += 1
    return size


def _grow(words: Sequence[str], places: Sequence[Span], taken: bytearray) -> list[Span]:
    """Let a run go on over a word or two that differ, on either side, where all its times do.

    "He opened the red door" and "he opened the blue door" are one finding that is nearly the same.
    """
    grown = list(places)
    for side in (1, -1):
        while step := next(
            filter(None, (_reach(words, grown, gap, side, taken) for gap in _GAPS)), 0
        ):
            grown = [
                (first, last + step) if side > 0 else (first - step, last) for first, last in grown
            ]
    return grown


def _reach(
    words: Sequence[str], places: Sequence[Span], gap: int, side: int, taken: bytearray
) -> int:
    """Give by how many words all times go on alike beyond a gap; 0 if hardly any."""
    edges = [last if side > 0 else first - 1 for first, last in places]
    # Up to where each may go: the text's ends, and the neighbour's words.
    ends = [first for first, _ in places[1:]] if side > 0 else [last for _, last in places[:-1]]
    ends = [*ends, len(words)] if side > 0 else [0, *ends]
    room = min(
        end - edge if side > 0 else edge + 1 - end for edge, end in zip(edges, ends, strict=True)
    )
    size = gap
    while size < min(room, _MOST_WORDS):
        heard = {words[edge + side * size] for edge in edges}
        if len(heard) > 1 or any(taken[edge + side * size] for edge in edges):
            break
        size += 1
    between = any(taken[edge + side * at] for edge in edges for at in range(min(gap, room)))
    return size if size >= gap + _LEAST_ALIKE and not between else 0


def _weight(run: Repetition) -> int:
    """Characters that are said again."""
    return sum(end - start for start, end in run.places[1:])
