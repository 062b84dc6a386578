"""Large runs put side by side: stories matched item by item, and none of them held.

What a story is matched by (its id, item, prompt or reference) is known here by a number of 64 bits,
made by DuckDB; of a million stories two that differ share one in three runs of a hundred million.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.card import Direction
from fabula.core.errors import InputError, UnknownName, closest
from fabula.meta.compare import PairSource, SystemPairs, refuse_few
from fabula.scoring.lazy_run import Array, LazyRun, is_read_lazily, open_lazily
from fabula.scoring.pairing import (
    ItemPage,
    ItemPair,
    PairedRuns,
    RunFacts,
    choose_systems,
    name_runs,
    name_systems,
    order_differences,
    pair_runs,
    say_matched,
    share_scorers,
    unmatched,
)

_KEYS = ("id", "item", "prompt", "reference")


@contextmanager
def open_pairs(folders: Sequence[Path]) -> Iterator[PairedRuns | LargePairs]:
    """Put runs side by side, in memory or, where one of them is large, where they lie."""
    if not any(map(is_read_lazily, folders)):
        yield pair_runs(folders)
        return
    with ExitStack() as opened:
        names = name_runs(folders)
        yield pair_large({n: opened.enter_context(open_lazily(f)) for n, f in names.items()})


@dataclass(frozen=True)
class _Side:
    """A system: its run, the places of its stories, and what each is matched by (0: nothing)."""

    run: int
    places: Array
    keys: Array


@dataclass(frozen=True)
class LargePairs:
    """Runs side by side, as `PairedRuns` has them."""

    runs: list[LazyRun]
    metrics: list[dict[str, Any]]
    systems: dict[str, str]
    scorers: set[str]
    remarks: list[str] = field(default_factory=list)
    sides: dict[str, _Side] = field(default_factory=dict)

    @property
    def folders(self) -> list[Path]:
        """Where the runs lie."""
        return [run.folder for run in self.runs]

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Scorers and aspects that can be compared, in the order of the first run."""
        return [key for key in self.runs[0].keys if key[0] in self.scorers]

    def choose_systems(self, names: Sequence[str]) -> list[str]:
        """Give the systems to compare: those named, or both where there are no more than two."""
        return choose_systems(self.systems, names)

    def select(self, scorers: Collection[str]) -> PairSource:
        """Give the scores of some scorers, to be compared."""
        wanted = self.scorers & set(scorers)
        return LargePairs(self.runs, self.metrics, self.systems, wanted, self.remarks, self.sides)

    def count_shared(self, a: str, b: str) -> int:
        """Count the items for which both systems have a story; fewer than two will not do."""
        for name in (a, b):
            if name not in self.sides:
                raise UnknownName(f"no system is called {name!r} here", closest(name, self.sides))
        shared = len(np.intersect1d(self.sides[a].keys, self.sides[b].keys))
        refuse_few(shared, (a, b), self.sides)
        return shared

    def list_pairs(
        self, a: str, b: str, directions: Mapping[str, Direction]
    ) -> Sequence[Callable[[], SystemPairs]]:
        """Give a function for every scorer and aspect that gives the pairs of two systems."""
        aligned = self._align(a, b)
        return [
            partial(self._pair, key, aligned, directions.get(key[0], "descriptive"))
            for key in self.keys
        ]

    def _pair(self, key: tuple[str, str], aligned: _Aligned, direction: Direction) -> SystemPairs:
        first, second = aligned.read(self.runs, key)
        ready = np.isfinite(first) & np.isfinite(second)
        left_out = aligned.items - int(ready.sum())
        return SystemPairs(*key, direction, first[ready], second[ready], left_out)

    def _align(self, a: str, b: str) -> _Aligned:
        """Find the stories of two systems item by item, in the order in which items came."""
        sides = self.sides[a], self.sides[b]
        for name, side in zip((a, b), sides, strict=True):
            self._refuse_second(name, side)
        shared, at_a, at_b = np.intersect1d(
            sides[0].keys, sides[1].keys, assume_unique=True, return_indices=True
        )
        # Stories come in the order of the runs, and in each by place.
        came = np.minimum(*(
            np.int64(side.run) * (1 << 40) + side.places[at]
            for side, at in zip(sides, (at_a, at_b), strict=True)
        ))  # fmt: skip
        order = np.argsort(came, kind="stable")
        items = len(sides[0].keys) + len(sides[1].keys) - len(shared)
        return _Aligned(
            (sides[0].run, sides[1].run),
            sides[0].places[at_a[order]],
            sides[1].places[at_b[order]],
            items,
        )

    def _refuse_second(self, name: str, side: _Side) -> None:
        """Refuse two stories of a system that share what they are matched by."""
        unique, counts = np.unique(side.keys, return_counts=True)
        if len(unique) < len(side.keys):
            twice = side.places[np.flatnonzero(side.keys == unique[counts > 1][0])[:2]]
            story = self.runs[side.run].read_stories(twice.tolist()[:1])[0]
            raise InputError(
                f"two stories for item {story.item!r} and system {name!r}",
                "give every story its own item and system",
            )

    def page_items(
        self, systems: tuple[str, str], key: tuple[str, str], asked: ItemPage
    ) -> tuple[int, list[ItemPair]]:
        """Count the items that two systems share, and give some of them in the order asked for."""
        aligned = self._align(*systems)
        first, second = aligned.read(self.runs, key)
        differences = asked.sign * (first - second)
        order = order_differences(differences, asked.order)
        chosen = order[asked.offset : asked.offset + asked.step]
        stories = [
            self.runs[run].read_stories(places[chosen].tolist())
            for run, places in zip(aligned.runs, (aligned.a, aligned.b), strict=True)
        ]
        pairs = [
            ItemPair(
                one.item or one.id, one, other, (float(first[n]), float(second[n])),
                float(differences[n]),
            )
            for n, one, other in zip(chosen.tolist(), *stories, strict=True)
        ]  # fmt: skip
        return len(differences), pairs


@dataclass(frozen=True)
class _Aligned:
    """Places of two systems' stories, item by item; `items` are those that either has."""

    runs: tuple[int, int]
    a: Array
    b: Array
    items: int

    def read(self, runs: Sequence[LazyRun], key: tuple[str, str]) -> tuple[Array, Array]:
        """Read the values of a scorer and aspect on either side."""
        first, second = (
            runs[run].values(runs[run].keys.index(key))[places]
            if key in runs[run].keys
            else np.full(len(places), math.nan)
            for run, places in zip(self.runs, (self.a, self.b), strict=True)
        )
        return first, second


def pair_large(opened: Mapping[str, LazyRun]) -> LargePairs:
    """Put open runs side by side by the same rules as runs that are held in memory."""
    runs = list(opened.values())
    facts = [
        RunFacts.of(name, run.record, run.systems, list(dict.fromkeys(key[0] for key in run.keys)))
        for name, run in opened.items()
    ]
    names = name_systems(facts)
    systems = {label: own for labels in names for own, label in labels.items()}
    scorers, remarks = share_scorers(facts)
    metrics = [entry for spec, entry in facts[0].metrics.items() if spec in scorers]
    if len(runs) == 1 and runs[0].items:
        sides = _make_sides(runs, names, "item", nameless=True)
        return LargePairs(runs, metrics, systems, scorers, [], sides)
    for by in _KEYS:
        sides = _make_sides(runs, names, by)
        if _can_match(runs, sides, by):
            shared = _count_everywhere(sides)
            counts = {name: len(side.places) for name, side in sides.items()}
            remarks.insert(0, say_matched(by, shared, counts))
            known = {name: _leave_out(side) for name, side in sides.items()}
            return LargePairs(runs, metrics, systems, scorers, remarks, known)
    if len(runs) > 1:
        raise unmatched()
    sides = _make_sides(runs, names, "item", nameless=True)
    return LargePairs(runs, metrics, systems, scorers, [], sides)


def _make_sides(
    runs: Sequence[LazyRun], names: Sequence[Mapping[str, str]], by: str, *, nameless: bool = False
) -> dict[str, _Side]:
    """Give every system with what its stories are matched by.

    Where `nameless`, stories without an item share one, as in a table.
    """
    sides = {}
    for number, (run, labels) in enumerate(zip(runs, names, strict=True)):
        keys = run.hash_field(by)
        if nameless:
            keys = np.where(keys == 0, 1, keys)
        for system, places in run.places().items():
            sides[labels[system]] = _Side(number, places, keys[places])
    return sides


def _leave_out(side: _Side) -> _Side:
    """Leave out the stories that have nothing to be matched by."""
    there = side.keys != 0
    return _Side(side.run, side.places[there], side.keys[there])


def _can_match(runs: Sequence[LazyRun], sides: Mapping[str, _Side], by: str) -> bool:
    """Whether stories can be matched by something, by the rules of `pair_runs`."""
    first, *others = map(_leave_out, sides.values())
    if any(len(np.unique(side.keys)) < len(side.keys) for side in (first, *others)) or not others:
        return False
    for side in others:
        shared, here, there = np.intersect1d(
            first.keys, side.keys, assume_unique=True, return_indices=True
        )
        if len(shared) < 2:
            return False
        if by == "id" and _contradict(runs, (first, here), (side, there)):
            return False
    return True


def _contradict(
    runs: Sequence[LazyRun], one: tuple[_Side, Array], other: tuple[_Side, Array]
) -> bool:
    """Whether stories that are matched name different items or answer different prompts."""
    for by in ("item", "prompt"):
        first, second = (
            runs[side.run].hash_field(by)[side.places[at]] for side, at in (one, other)
        )
        if ((first != second) & (first != 0) & (second != 0)).any():
            return True
    return False


def _count_everywhere(sides: Mapping[str, _Side]) -> int:
    shared, *others = (_leave_out(side).keys for side in sides.values())
    for keys in others:
        shared = np.intersect1d(shared, keys)
    return len(shared)
