"""StoryER's ten aspects, by readers that had not seen a story's prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import UserError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.reader.config import read_config
from fabula.learned.reader.scales import Scale
from fabula.meta.arrays import Values
from fabula.models import path_of
from fabula.replication.checks._agreement import correlated, shares
from fabula.replication.checks._finding import Finding, reported, unchecked
from fabula.replication.checks._learned import Unseen, dataset, gold_of, items_of, unseen

_PART = "StoryER's aspects (aspects), 100 rated stories, 5 folds by prompt"
_WEIGHTS = "reader"
_FEW = 10  # stories with a rating, below which a coefficient says nothing
_FIRST = (1, 3, 5)


def findings(data: Path | None) -> Iterator[Finding]:
    """Correlate ratings aspect by aspect, and count the aspects that raters spoke of."""
    try:
        rated, found = dataset("storyer_ratings", data), unseen(_WEIGHTS)
        scales = read_config(path_of(_WEIGHTS)).scales
        ids = [f"storyer_ratings:{one.id}" for one in rated.stories]
        yield from (_rating(rated, found, ids, name, scales) for name in ASPECTS)
        yield _mean_rating(rated, found, ids)
        yield from _recall(rated, _confidences(found, ids, scales))
    except UserError as error:
        yield unchecked(_PART, "ratings and confidence of aspects", str(error))


def _rating(
    rated: Dataset, found: Unseen, ids: list[str], name: str, scales: Mapping[str, Scale]
) -> Finding:
    stories = list(rated.stories)
    gold = gold_of(rated, stories, name)
    raw = found.raw(f"aspects.{name}", "aspects", ids)
    told = np.flatnonzero(~np.isnan(gold))
    claim = f"rating of {name}"
    if len(told) < _FEW:
        words = f"{len(told)} stories are rated: too few"
        return reported(_PART, claim, words)
    items = [items_of(stories)[place] for place in told.tolist()]
    columns = {"ours": raw[:, told]}
    rho = correlated(columns, gold[told], items)
    tau = correlated(columns, gold[told], items, statistic="kendall")
    words = f"ρ {rho.words('ours')}, τ {tau.words('ours')}, {len(told)} stories"
    if not scales[f"aspects.{name}"].slope:
        words += "; what is given is the raters' mean, the same for every story"
    return reported(_PART, claim, words)


def _mean_rating(rated: Dataset, found: Unseen, ids: list[str]) -> Finding:
    stories = list(rated.stories)
    gold = np.nanmean(np.stack([gold_of(rated, stories, name) for name in ASPECTS]), axis=0)
    raw = {name: found.raw(f"aspects.{name}", "aspects", ids) for name in ASPECTS}
    ours = np.mean(list(raw.values()), axis=0)
    measured = correlated({"ours": ours}, gold, items_of(stories))
    words = f"ρ {measured.words('ours')} ({measured.each_seed('ours')}), {measured.n} stories"
    return reported(_PART, "mean of a story's ratings", words)


def _confidences(found: Unseen, ids: list[str], scales: Mapping[str, Scale]) -> Values:
    """Values before the softmax, which keeps their order: (seeds, stories, aspects)."""
    columns = []
    for name in ASPECTS:
        scale = scales[f"confidence.{name}"]
        raw = found.raw(f"confidence.{name}", "confidence", ids)
        columns.append(np.vectorize(lambda one, scale=scale: scale.value(one))(raw))
    return np.stack(columns, axis=-1)


def _recall(rated: Dataset, ours: Values) -> Iterator[Finding]:
    stories = list(rated.stories)
    counts = _counts(rated)
    told = counts.sum(axis=1) > 0
    items = [item for item, there in zip(items_of(stories), told, strict=True) if there]
    prior = np.broadcast_to(counts.sum(axis=0), counts.shape)
    for first in _FIRST:
        columns = {
            "ours": np.stack([_found(one, counts, first)[told] for one in ours]),
            "prior": _found(prior, counts, first)[told],
        }
        measured = shares(columns, items, chance=0.0)
        words = f"{measured.words('ours')} ({measured.each_seed('ours')}), by the raters' overall "
        words += f"shares {measured.words('prior')}; {measured.n} stories"
        yield reported(_PART, f"confidence, recall@{first}", words)


def _counts(rated: Dataset) -> Values:
    """How often raters spoke of an aspect of a story: (stories, aspects)."""
    rows = {one.id: number for number, one in enumerate(rated.stories)}
    columns = {name: number for number, name in enumerate(ASPECTS)}
    found = np.zeros((len(rows), len(columns)))
    for score in rated.ratings:
        if score.ok and score.aspect in columns:
            found[rows[score.story], columns[score.aspect]] += 1
    return found


def _found(values: Values, counts: Values, first: int) -> Values:
    """Share of a story's aspects that are among the first so many by value."""
    best = np.argsort(-values, axis=1, kind="stable")[:, :first]
    there = np.take_along_axis(counts > 0, best, axis=1).sum(axis=1)
    return np.asarray(there / np.maximum((counts > 0).sum(axis=1), 1), dtype=np.float64)
