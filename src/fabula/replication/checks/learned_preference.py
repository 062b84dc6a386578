"""Preference: how often readers that had not seen a prompt prefer the story with more votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fabula.core.errors import UserError
from fabula.core.story import Story
from fabula.learned.training.pairs import Pair, pairs_of
from fabula.replication.checks._agreement import Columns, Measured, Places, preferring
from fabula.replication.checks._finding import Finding, barred, reported, unchecked
from fabula.replication.checks._learned import Unseen, dataset, scored, trivial, unseen
from fabula.scoring.evaluate import BASELINES

_PART = "Preference (storyer), StoryER's cleaned pairs, 5 folds by prompt"
_CLAIM = "storyer prefers the story with more votes"
_LEAST = 0.68
_ALIKE = 0.15  # of the longer story's words
_PAPER = "StoryER's paper: 0.739 with an LED, 22,887 pairs of its own"
_PAPER_N = "StoryER's paper: 0.704"


@dataclass(frozen=True)
class Pairs:
    """Pairs of stories by their places, and the prompts they answer."""

    stories: tuple[Story, ...]
    better: Places
    worse: Places
    items: tuple[str, ...]

    @classmethod
    def of(cls, pairs: Sequence[Pair]) -> Pairs:
        """Lay out pairs; every story stands once."""
        stories = {one.id: one for pair in pairs for one in (pair.better, pair.worse)}
        place = {name: number for number, name in enumerate(stories)}
        sides = np.array([[place[p.better.id], place[p.worse.id]] for p in pairs], dtype=np.int64)
        items = tuple(pair.item for pair in pairs)
        return cls(tuple(stories.values()), sides[:, 0], sides[:, 1], items)

    @property
    def ids(self) -> list[str]:
        """Name the stories."""
        return [one.id for one in self.stories]

    def measure(self, columns: Columns, rows: Places | None = None) -> Measured:
        """Measure columns on all pairs, or on some."""
        chosen = np.arange(len(self.items)) if rows is None else rows
        items = [self.items[row] for row in chosen.tolist()]
        return preferring(columns, self.better[chosen], self.worse[chosen], items)


def findings(data: Path | None) -> Iterator[Finding]:
    """Compare what readers said of unseen stories with the votes."""
    try:
        pairs = Pairs.of(pairs_of(dataset("storyer", data)))
        yield from _usual(pairs, unseen("reader"))
    except UserError as error:
        yield unchecked(_PART, _CLAIM, str(error))
        return
    try:
        yield from _negatives(pairs, unseen("coherence"))
        yield _permissive(pairs)
    except UserError as error:
        yield unchecked(_PART, "other weights", str(error))


def _usual(pairs: Pairs, found: Unseen) -> Iterator[Finding]:
    columns = {
        "storyer": found.raw("preference", "preference", pairs.ids),
        "surface": found.surface("preference", "preference", pairs.ids),
        **trivial(pairs.stories),
    }
    measured = pairs.measure(columns)
    counted = f"{measured.n:,} pairs of {measured.items} prompts"
    ours = f"{measured.words('storyer')} ({measured.each_seed('storyer')}), {counted}"
    good = measured.value["storyer"] >= _LEAST
    bar = f"accuracy ≥ {_LEAST:.2f}, mean of seeds"
    yield barred(_PART, _CLAIM, wanted=bar, found=f"{ours}; {_PAPER}", good=good)
    gain = measured.gain("storyer", BASELINES)
    beside = f"{measured.plain(BASELINES)}; storyer {gain}"
    yield reported(_PART, "trivial baselines on the same pairs", beside)
    yield reported(_PART, "its surface features alone", measured.words("surface"))
    yield from _lengths(pairs, columns)


def _lengths(pairs: Pairs, columns: Columns) -> Iterator[Finding]:
    """Look at pairs that length does not tell apart, and at those where it tells the wrong way."""
    better, worse = columns["words"][pairs.better], columns["words"][pairs.worse]
    alike = np.abs(better - worse) < _ALIKE * np.maximum(better, worse)
    kinds = {
        f"pairs whose lengths differ by less than {_ALIKE:.0%}": alike,
        "pairs of which the preferred story is the shorter": better < worse,
        "pairs of which the preferred story is the longer": better > worse,
    }
    for claim, chosen in kinds.items():
        rows = np.flatnonzero(chosen)
        if not len(rows):
            yield unchecked(_PART, claim, "there are none")
            continue
        some = pairs.measure({name: columns[name] for name in ("storyer", "words")}, rows)
        found = f"storyer {some.words('storyer')}, words {some.value['words']:.3f}"
        yield reported(_PART, claim, f"{found}; {some.n} pairs of {some.items} prompts")


def _negatives(pairs: Pairs, found: Unseen) -> Iterator[Finding]:
    """Measure the variant that also learned from spoiled stories."""
    raw = found.raw("preference_n", "preference_n", pairs.ids)
    measured = pairs.measure({"storyer": raw})
    words = f"{measured.words('storyer')} ({measured.each_seed('storyer')})"
    yield reported(_PART, "storyer(negatives=True), the same pairs", f"{words}; {_PAPER_N}")
    names = found.ids("corrupted_n")
    spoiled = [name for name in names if "/negative" in name]
    whole = [name.partition("/")[0] for name in spoiled]
    item = {one.id: str(one.item) for one in pairs.stories}
    values = {"storyer": found.raw("preference_n", "corrupted_n", [*whole, *spoiled])}
    count = np.arange(len(spoiled))
    some = preferring(values, count, count + len(spoiled), [item[name] for name in whole])
    claim = "storyer(negatives=True), the less liked stories against the same spoiled"
    yield reported(
        _PART, claim, f"{some.words('storyer')}, {some.n:,} pairs of {some.items} prompts"
    )


def _permissive(pairs: Pairs) -> Finding:
    spec = "storyer(weights='permissive')"
    measured = pairs.measure({"storyer": scored(pairs.stories, spec)})
    claim = f"{spec}, which has seen none of these stories"
    return reported(_PART, claim, f"{measured.words('storyer')}, {measured.n:,} pairs")
