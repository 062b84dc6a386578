"""Coherence: agreement with people's ratings of machine stories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabula.core.errors import UserError
from fabula.learned.training.reader_recipe import Task
from fabula.learned.training.task_stories import task_stories
from fabula.meta.arrays import Values
from fabula.replication.checks._agreement import Measured, correlated
from fabula.replication.checks._finding import Finding, barred, reported, unchecked
from fabula.replication.checks._learned import (
    dataset,
    gold_of,
    items_of,
    published,
    scored,
    trivial,
    unseen,
)
from fabula.scoring.evaluate import BASELINES

_PART = "Coherence (coherence), Spearman over all stories"
_OTHER = "permissive"
_LIVE = "coherence_roc300, never learned from"
_LEAST_LIVE = 0.30
_BESIDE = ("coherence(weights='permissive')", "union", "manplts")


@dataclass(frozen=True)
class RatedSet:
    """Stories with ratings that were left out fold by fold."""

    claim: str
    task: str
    data: str
    aspect: str
    split: str = ""
    with_prompt: bool = False
    least: float | None = None
    scorers: tuple[str, ...] = ()


_SETS = (
    RatedSet("MANS, ROCStories", "mans_roc", "mans", "overall", "roc:", True, 0.40),
    RatedSet("MANS, WritingPrompts", "mans_wp", "mans", "overall", "wp:", False, 0.26),
    RatedSet("HANNA's coherence", "criteria", "hanna", "coherence"),
    RatedSet(
        "UNION's ratings", "union_ratings", "union", "reasonable", scorers=("UNION", "UNION-recon")
    ),
)


def findings(data: Path | None) -> Iterator[Finding]:
    """Correlate the weights with ratings never learned from, and folds with those learned from."""
    yield from _live(data)
    for one in _SETS:
        claim = f"{one.claim}, 5 folds by item"
        try:
            yield from _folded(one, claim, data)
        except UserError as error:
            yield unchecked(_PART, claim, str(error))


def _live(data: Path | None) -> Iterator[Finding]:
    try:
        rated = dataset("coherence", data)
        stories = list(rated.stories)
        columns = {"coherence": scored(stories, "coherence"), **trivial(stories)}
        columns |= {name: published(rated, stories, name) for name in rated.scorers}
        measured = correlated(columns, gold_of(rated, stories, "coherence"), items_of(stories))
    except UserError as error:
        yield unchecked(_PART, _LIVE, str(error))
        return
    yield _finding(_LIVE, measured, _LEAST_LIVE, tuple(rated.scorers))
    yield _beside(_LIVE, measured)
    for spec in _BESIDE:
        claim = f"{spec}, {_LIVE}"
        try:
            values = {"ours": scored(stories, spec)}
        except UserError as error:
            yield unchecked(_PART, claim, str(error))
            continue
        gold = gold_of(rated, stories, "coherence")
        found = correlated(values, gold, items_of(stories))
        yield reported(_PART, claim, f"{found.words('ours')}, {found.n} stories")


def _folded(one: RatedSet, claim: str, data: Path | None) -> Iterator[Finding]:
    rated = dataset(one.data, data)
    task = Task("ratings", (one.data,), one.task, split=one.split, with_prompt=one.with_prompt)
    stories = task_stories(rated, task)
    ids = [f"{one.data}:{story.id}" for story in stories]
    columns: dict[str, Values] = {
        "coherence": unseen("coherence").raw("coherence", one.task, ids),
        **trivial(stories),
    }
    if one.data != "union":  # whose stories the other weights keep away from
        columns[_OTHER] = unseen(_OTHER).raw("coherence", one.task, ids)
    there = [name for name in one.scorers if name in rated.scorers]
    columns |= {name: published(rated, stories, name) for name in there}
    measured = correlated(columns, gold_of(rated, stories, one.aspect), items_of(stories))
    yield _finding(claim, measured, one.least, tuple(there))
    yield _beside(claim, measured)


def _finding(
    claim: str, measured: Measured, least: float | None, scorers: tuple[str, ...]
) -> Finding:
    seeds = measured.seeds["coherence"]
    found = measured.words("coherence")
    found += f" ({measured.each_seed('coherence')})" if len(seeds) > 1 else ""
    found += f", {measured.n:,} stories of {measured.items:,} items"
    if scorers:
        found += f"; published: {measured.plain(scorers)}"
    if least is None:
        return reported(_PART, claim, found)
    good = measured.value["coherence"] >= least
    return barred(_PART, claim, wanted=f"ρ ≥ {least:.2f}", found=found, good=good)


def _beside(claim: str, measured: Measured) -> Finding:
    found = f"{measured.plain(BASELINES)}; coherence {measured.gain('coherence', BASELINES)}"
    if _OTHER in measured.value:
        found += f"; weights='{_OTHER}' {measured.words(_OTHER)}"
    return reported(_PART, f"{claim}: beside", found)
