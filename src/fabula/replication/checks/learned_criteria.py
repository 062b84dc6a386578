"""HANNA's six criteria, by readers that had not seen a story's prompt, beside published metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UserError
from fabula.datasets.hanna import METRICS
from fabula.learned.reader.config import CRITERIA
from fabula.meta.arrays import Values
from fabula.replication.checks._agreement import Columns, Gain, Measured, correlated
from fabula.replication.checks._finding import Finding, barred, reported, unchecked
from fabula.replication.checks._learned import (
    dataset,
    gold_of,
    items_of,
    published,
    trivial,
    unseen,
)
from fabula.scoring.evaluate import BASELINES

_PART = "HANNA's criteria (criteria), 5 folds by prompt, Spearman over all stories"
_WEIGHTS = ("permissive", "reader")
_BARRED = ("engagement", "complexity")
_LENGTH = ("words",)


def findings(data: Path | None) -> Iterator[Finding]:
    """Correlate with the raters' means, criterion by criterion."""
    try:
        hanna = dataset("hanna", data)
        if not len(hanna.scores):
            raise InputError("hanna has no scores here", "fabula data show hanna names the file")
        rivals = _rivals(hanna)
    except UserError as error:
        yield unchecked(_PART, "criteria", str(error))
        return
    for weights in _WEIGHTS:
        try:
            ours = _ours(hanna, weights)
        except UserError as error:
            yield unchecked(_PART, f"criteria(weights={weights!r})", str(error))
            continue
        for name in CRITERIA:
            columns = {"ours": ours[name], **rivals}
            yield from _criterion(hanna, name, columns, weights=weights)


def _ours(hanna: Dataset, weights: str) -> dict[str, Values]:
    found, ids = unseen(weights), [f"hanna:{one.id}" for one in hanna.stories]
    return {name: found.raw(f"criteria.{name}", "criteria", ids) for name in CRITERIA}


def _rivals(hanna: Dataset) -> dict[str, Values]:
    """Score the baselines, and lay out the published metrics."""
    stories = list(hanna.stories)
    return {
        **trivial(stories),
        **{name: published(hanna, stories, name) for name in METRICS},
    }


def _criterion(hanna: Dataset, name: str, columns: Columns, *, weights: str) -> Iterator[Finding]:
    stories = list(hanna.stories)
    gold, items = gold_of(hanna, stories, name), items_of(stories)
    measured = correlated(columns, gold, items)
    beyond = correlated({"ours": columns["ours"]}, gold, items, given=columns["words"])
    claim = f"criteria(weights={weights!r}), {name}"
    found = f"{measured.words('ours')} ({measured.each_seed('ours')}), {measured.n:,} stories"
    yield reported(_PART, claim, found)
    length, rival = measured.gain("ours", _LENGTH), measured.gain("ours", list(METRICS))
    given = f"given words {beyond.words('ours')}"
    yield _gained(f"{claim}, beyond length", f"{length}; {given}", length, name)
    yield _gained(f"{claim}, beyond the best of {len(METRICS)} published", str(rival), rival, name)
    yield from _beside(measured, hanna, columns, gold=gold, claim=claim)


def _gained(claim: str, found: str, gain: Gain, name: str) -> Finding:
    if name not in _BARRED:
        return reported(_PART, claim, found)
    wanted = "a gain with its interval above 0"
    return barred(_PART, claim, wanted=wanted, found=found, good=gain.is_sure)


def _beside(
    measured: Measured, hanna: Dataset, columns: Columns, *, gold: Values, claim: str
) -> Iterator[Finding]:
    """Give the trivial baselines, and all figures again without the stories people wrote.

    Metrics that read a reference compare those with themselves.
    """
    found = f"{measured.plain(BASELINES)}; gain {measured.gain('ours', BASELINES)}"
    yield reported(_PART, f"{claim}, trivial baselines", found)
    told = set(hanna.card.reference_systems)
    chosen = np.array([one.system not in told for one in hanna.stories])
    items = [item for item, there in zip(items_of(hanna.stories), chosen, strict=True) if there]
    some = {name: np.atleast_2d(one)[:, chosen] for name, one in columns.items()}
    machine = correlated(some, gold[chosen], items)
    gains = (machine.gain("ours", rivals) for rivals in (BASELINES, list(METRICS)))
    found = f"{machine.words('ours')}, {machine.n} stories; {'; '.join(map(str, gains))}"
    yield reported(_PART, f"{claim}, machine stories alone", found)
