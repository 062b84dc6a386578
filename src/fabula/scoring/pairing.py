"""Runs put side by side: their systems named apart, their stories matched item by item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError, UnknownName, closest
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.datasets.tables.several import tell_apart
from fabula.meta.compare import PairSource, TablePairs
from fabula.scoring.folder import read_run

Array = np.ndarray[Any, np.dtype[Any]]

# What stories may be matched by, in this order: the name of it, and where it is found.
_KEYS: Mapping[str, Callable[[Story], str | None]] = {
    "id": lambda story: story.id,
    "item": lambda story: story.item,
    "prompt": lambda story: story.prompt,
    "reference": lambda story: "\n".join(story.references),
}


@dataclass(frozen=True)
class PairedRuns:
    """Scores of one or several runs as one table, in which stories for one task share an item.

    `systems` are the names of the systems in the table, in the order of the runs, each with the
    name that its own run gives it; `remarks` say what was matched, and what was left out and why.
    """

    table: ScoreTable
    metrics: list[dict[str, Any]]
    systems: dict[str, str]
    remarks: list[str] = field(default_factory=list)
    folders: Sequence[Path] = ()

    def choose_systems(self, names: Sequence[str]) -> list[str]:
        """Give the systems to compare: those named, or both where there are no more than two."""
        return choose_systems(self.systems, names)

    @property
    def keys(self) -> list[tuple[str, str]]:
        """Scorers and aspects, in the order they came."""
        return list(dict.fromkeys((score.scorer, score.aspect) for score in self.table))

    def select(self, scorers: Collection[str]) -> PairSource:
        """Give the scores of some scorers, to be compared."""
        wanted = [score for score in self.table if score.scorer in scorers]
        return TablePairs(ScoreTable(self.table.stories, wanted))

    def page_items(
        self, systems: tuple[str, str], key: tuple[str, str], asked: ItemPage
    ) -> tuple[int, list[ItemPair]]:
        """Count the items that two systems share, and give some of them in the order asked for."""
        pairs = pair_items(self.table, systems, *key, sign=asked.sign)
        order = order_differences(np.array([pair.difference for pair in pairs]), asked.order)
        chosen = order[asked.offset : asked.offset + asked.step]
        return len(pairs), [pairs[place] for place in chosen]


def choose_systems(systems: Mapping[str, str], names: Sequence[str]) -> list[str]:
    """Give the systems to compare: those named, or both where there are no more than two.

    `systems` are the names of all, each with the name that its own run gives it.
    """
    if not names:
        if len(systems) == 2:
            return list(systems)
        known = ", ".join(sorted(name or "nameless" for name in systems))
        raise InputError(
            f"{_count(len(systems), 'system')} to compare: {known}",
            "name two of them after the run, or give another run",
        )
    chosen: dict[str, None] = {}
    for name in names:
        # Runs may each have a system of that name.
        own = [system for system, known in systems.items() if name in (system, known)]
        if not own:
            raise UnknownName(f"no system is called {name!r} here", closest(name, systems))
        chosen.update(dict.fromkeys([name] if name in own else own))
    if len(chosen) == len(names) == 1:
        raise InputError(f"{names[0]!r} is one system", "name two of them, or two runs")
    return list(chosen) if len(chosen) > 1 else list(names)


@dataclass(frozen=True)
class ItemPage:
    """Which items to show: in which order, from where, how many; lower is better by `sign` −1.

    First come those where the first system is furthest ahead, or the second, or where they are
    close, or as they come; those that lack a value come last.
    """

    order: str = "first"
    offset: int = 0
    step: int = 20
    sign: float = 1.0


ORDERS: Mapping[str, Callable[[Array], Array]] = {
    "first": lambda differences: -differences,
    "second": lambda differences: differences,
    "close": np.abs,
    "item": lambda differences: np.zeros(len(differences)),
}


def order_differences(differences: Array, order: str) -> Array:
    """Give the places of differences in an order; what is missing comes last, or stays."""
    return np.argsort(ORDERS[order](differences), kind="stable")


@dataclass(frozen=True)
class ItemPair:
    """Two systems' stories for one item and what a scorer says of them.

    `difference` is turned so that positive favours the first; NaN where a value is missing.
    """

    item: str
    first: Story
    second: Story
    values: tuple[float, float]
    difference: float


def pair_items(
    table: ScoreTable, systems: tuple[str, str], scorer: str, aspect: str, *, sign: float = 1.0
) -> list[ItemPair]:
    """Give the items that two systems share, with their values; lower is better by `sign` −1."""
    own: list[dict[str, Story]] = [{}, {}]
    for story in table.stories:
        for side, system in enumerate(systems):
            if (story.system or "") == system and story.item is not None:
                own[side].setdefault(story.item, story)
    values = {
        score.story: score.value
        for score in table
        if score.scorer == scorer and score.aspect == aspect and score.ok
    }
    pairs = []
    for item, first in own[0].items():
        if (second := own[1].get(item)) is not None:
            both = values.get(first.id, math.nan), values.get(second.id, math.nan)
            pairs.append(ItemPair(item, first, second, both, sign * (both[0] - both[1])))
    return pairs


@dataclass(frozen=True)
class RunFacts:
    """What runs are told apart and matched by, whether they are held in memory or not."""

    name: str
    systems: list[str]
    scorers: list[str]
    metrics: dict[str, dict[str, Any]]
    identities: dict[str, str]

    @classmethod
    def of(
        cls, name: str, record: dict[str, Any], systems: list[str], scorers: list[str]
    ) -> RunFacts:
        """Gather them from a run's record."""
        specs = [entry["spec"] for entry in record["metrics"]]
        identities = dict(zip(specs, record["question"]["metrics"], strict=True))
        metrics = dict(zip(specs, record["metrics"], strict=True))
        return cls(name, systems, scorers, metrics, identities)


@dataclass(frozen=True)
class _Run:
    facts: RunFacts
    table: ScoreTable


def pair_runs(folders: Sequence[Path]) -> PairedRuns:
    """Read runs and put them side by side; one alone stays as it is if its stories have items."""
    runs = [_read(name, folder) for name, folder in name_runs(folders).items()]
    facts = [run.facts for run in runs]
    names = name_systems(facts)
    systems = {label: own for labels in names for own, label in labels.items()}
    scorers, remarks = share_scorers(facts)
    metrics = [entry for spec, entry in facts[0].metrics.items() if spec in scorers]
    alone = runs[0].table if len(runs) == 1 else None
    if alone and any(story.item for story in alone.stories):
        return PairedRuns(alone, metrics, systems, folders=folders)
    stories: dict[str, list[Story]] = {label: [] for label in systems}
    for run, labels in zip(runs, names, strict=True):
        for story in run.table.stories:
            stories[labels[story.system or ""]].append(story)
    by = _find_key(stories)
    if not by and alone:
        return PairedRuns(alone, metrics, systems, folders=folders)
    if not by:
        raise unmatched()
    tables = [
        _match_run(run, labels, _KEYS[by], scorers) for run, labels in zip(runs, names, strict=True)
    ]
    remarks.insert(0, _say_matched(by, stories))
    return PairedRuns(sum(tables[1:], tables[0]), metrics, systems, remarks, folders)


def _read(name: str, folder: Path) -> _Run:
    record, table = read_run(folder), ScoreTable.load(folder)
    return _Run(RunFacts.of(name, record, _list_systems(table), table.scorers), table)


def unmatched() -> InputError:
    """Give the error for runs whose stories have nothing in common."""
    return InputError(
        "the runs' stories cannot be matched by id, item, prompt or reference",
        "give stories for one task the same id or item, and score them again",
    )


def _match_run(
    run: _Run, labels: dict[str, str], key: Callable[[Story], str | None], scorers: set[str]
) -> ScoreTable:
    """Give a run under its new names, with what stories are matched by as the item."""
    stories = {
        story.id: replace(
            story,
            id=f"{run.facts.name}/{story.id}",
            system=labels[story.system or ""],
            item=key(story),
        )
        for story in run.table.stories
        if key(story)
    }
    scores = [
        replace(score, story=stories[score.story].id)
        for score in run.table
        if score.story in stories and score.scorer in scorers
    ]
    return ScoreTable(stories.values(), scores)


def _find_key(stories: dict[str, list[Story]]) -> str:
    """Find what the first system's stories can be matched by with those of every other."""
    first, *others = stories.values()
    for name, key in _KEYS.items():
        indexes = [_index(own, key) for own in (first, *others)]
        if any(index is None for index in indexes):
            continue
        head, *rest = [index for index in indexes if index is not None]
        if not rest or any(len(head.keys() & index.keys()) < 2 for index in rest):
            continue
        # Numbers of rows are ids too: where what they match is another task, they are no match.
        if name == "id" and any(_contradict(head, index) for index in rest):
            continue
        return name
    return ""


def _index(stories: Iterable[Story], key: Callable[[Story], str | None]) -> dict[str, Story] | None:
    """Give stories by what they may be matched by; nothing where two share it."""
    index: dict[str, Story] = {}
    for story in stories:
        if (value := key(story)) and index.setdefault(value, story) is not story:
            return None
    return index


def _contradict(one: dict[str, Story], other: dict[str, Story]) -> bool:
    """Whether stories that are matched name different items or answer different prompts."""
    pairs = [(story, other[value]) for value, story in one.items() if value in other]
    return any(
        bool(story.item and match.item and story.item != match.item)
        or bool(story.prompt and match.prompt and story.prompt != match.prompt)
        for story, match in pairs
    )


def _say_matched(by: str, stories: dict[str, list[Story]]) -> str:
    """Say what was matched by what, and how many were not."""
    values = [{_KEYS[by](story) for story in own} - {None, ""} for own in stories.values()]
    shared = len(set.intersection(*values))
    return say_matched(by, shared, {name: len(own) for name, own in stories.items()})


def say_matched(by: str, shared: int, counts: Mapping[str, int]) -> str:
    """Say by what stories are matched, how many items all systems have, and how many were not."""
    rest = [
        f"{count - shared:,} of {name or 'the nameless one'}"
        for name, count in counts.items()
        if count > shared
    ]
    lost = f"; not matched: {', '.join(rest)}" if rest else ""
    return f"stories are matched by {by}: {_count(shared, 'item')} of all systems{lost}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _list_systems(table: ScoreTable) -> list[str]:
    return list(dict.fromkeys(story.system or "" for story in table.stories))


def name_runs(folders: Sequence[Path]) -> dict[str, Path]:
    """Give the folders of runs by names that tell them apart; one given twice is refused."""
    paths = [folder.resolve() for folder in folders]
    if len(set(paths)) < len(paths):
        raise InputError("a run is given twice", "give every run once")
    names = tell_apart([path.parts for path in paths])
    return dict(zip(names, folders, strict=True))


def share_scorers(runs: Sequence[RunFacts]) -> tuple[set[str], list[str]]:
    """Scorers that every run has, in the same version and settings; and words for the others."""
    scorers = [dict.fromkeys(run.scorers) for run in runs]
    everywhere = set(scorers[0]).intersection(*scorers[1:])
    other = {spec for spec in everywhere if len({run.identities.get(spec) for run in runs}) > 1}
    somewhere = dict.fromkeys(name for own in scorers for name in own if name not in everywhere)
    remarks = []
    if somewhere:
        remarks.append(f"left out, for not every run has it: {', '.join(somewhere)}")
    for spec in sorted(other):
        signatures = dict.fromkeys(
            run.metrics[spec]["signature"] for run in runs if spec in run.metrics
        )
        remarks.append(f"left out, for the runs differ in it: {' and '.join(signatures)}")
    if everywhere == other and len(runs) > 1:
        raise InputError(
            "; ".join(["the runs share no metric", *remarks]),
            "add one to both: fabula score FILE -m METRIC -o RUN",
        )
    return everywhere - other, remarks


def name_systems(runs: Sequence[RunFacts]) -> list[dict[str, str]]:
    """Name every run's systems: those called alike, or not at all, after their runs."""
    if len(runs) == 1:
        return [{system: system for system in runs[0].systems}]
    counts = Counter(system for run in runs for system in run.systems)
    taken = {run.name for run in runs}
    names = []
    for run in runs:
        own = run.systems
        apart = {name for name in own if name and counts[name] == 1 and name not in taken}
        rest = {name: f"{run.name}/{name}" if name and len(own) > 1 else run.name for name in own}
        names.append({name: name if name in apart else rest[name] for name in own})
    return names
