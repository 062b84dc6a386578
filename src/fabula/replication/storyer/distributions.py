"""How scores are distributed: human stories, machines', corrupted ones, other genres."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.story import Story
from fabula.meta.resampling import estimate_mean
from fabula.replication.storyer._domains import (
    CORRUPTIONS,
    corrupted,
    drawn,
    kept_back,
    vist_references,
)
from fabula.replication.storyer._findings import Cell, Finding, Table
from fabula.replication.storyer._material import Material, Unseen
from fabula.scoring.catalogue import METRICS

Array = np.ndarray[Any, np.dtype[Any]]
TITLE = "Score distributions by domain"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_COLUMNS = ("domain", "mean", *(f"{round(100 * q)} %" for q in _QUANTILES), "above .5", "below its "
            "original", "stories", "read by")  # fmt: skip
_FOLDS, _ASSET, _KNOWN = "folds that had not seen it", "the asset", "the asset, which knows it"


@dataclass(frozen=True)
class Settings:
    """How many stories are drawn, and whose weights read them."""

    stories: int = 40  # human stories that are corrupted in every way
    others: int = 60  # of every other domain that has to be read
    reader: str = "reader"
    coherence: str = "coherence"

    def __post_init__(self) -> None:
        if min(self.stories, self.others) < 2:
            raise SettingError("stories and others must be 2 or more", "mend the study file")


@dataclass(frozen=True)
class Domain:
    """Values of stories of one kind; `originals` are those of what was corrupted, in order."""

    name: str
    values: Array
    items: Sequence[str]
    by: str
    originals: Array = field(default_factory=lambda: np.zeros(0))


def analyse(material: Material, settings: Settings) -> Finding:
    """Score every domain by preference, preference with negatives, and coherence."""
    read = _drawn_domains(material, settings)
    count = sum(map(len, read.values()))
    material.report(f"{count} stories are read by two readers")
    tables = [
        _table(material, "storyer", settings.reader, "preference", read),
        _table(material, "storyer(negatives=True)", settings.coherence, "preference_n", read),
        _table(material, "coherence", settings.coherence, "coherence", read),
    ]
    words = [
        "Liked and disliked stories of StoryER, HANNA's and MANS's are scored by readers whose "
        "folds had not seen their prompt, wherever such values are kept. Human stories that are "
        "corrupted, ROC stories and VIST references are drawn from what no reader has learned from "
        "(the encoder below them has guessed masked words of such texts). "
        "`storyer` and its variant are shares (.5: the median of StoryER's stories); coherence "
        "has no unit, and its .5 means nothing but half a deviation.",
    ]
    if lacking := [name for name in CORRUPTIONS if f"corrupted: {name}" not in read]:
        words.append(
            f"Left out: {', '.join(lacking)}, of which no story admits. MANPLTS's order needs a "
            "source of events, its contradiction the asset wordnet."
        )
    return Finding("distributions", TITLE, words, tables)


def _drawn_domains(material: Material, settings: Settings) -> dict[str, list[Story]]:
    """Give the stories that are to be read by the assets, by domain."""
    human = kept_back(material, "writingprompts", settings.stories)
    found = {"human, unseen": human}
    found |= {f"corrupted: {name}": some for name, some in corrupted(material, human).items()}
    found["ROC stories"] = kept_back(material, "rocstories", settings.others)
    found["VIST references"] = vist_references(material, settings.others)
    machines = [one for one in material.dataset("hanna").stories if one.system != "Human"]
    found["HANNA, machines"] = drawn(machines, settings.others, material.seed)
    for part in ("roc", "wp"):
        some = [one for one in material.dataset("mans").stories if str(one.item).startswith(part)]
        found[f"MANS {part}, machines"] = drawn(some, settings.others, material.seed)
    return found


def _table(
    material: Material, spec: str, weights: str, scale: str, read: Mapping[str, list[Story]]
) -> Table:
    unseen = material.unseen(weights)
    domains = [*_kept_domains(material, unseen, scale)]
    known = {one.name for one in domains}
    metric = METRICS.build(_spelled(spec, weights, scale))
    originals: dict[str, float] = {}
    for name, stories in read.items():
        if name in known:
            continue
        values = np.array([one.value for one in metric.score(stories) if one.aspect == ""])
        if not originals:
            originals = {one.id: value for one, value in zip(stories, values, strict=True)}
        before = [originals.get(one.id, math.nan) for one in stories]
        by = _KNOWN if name.startswith(("HANNA", "MANS")) else _ASSET
        domain = Domain(name, values, [str(one.item or one.id) for one in stories], by)
        if name.startswith("corrupted"):
            domain = Domain(name, values, domain.items, by, np.array(before))
        domains.append(domain)
        material.report(f"{spec}, {name}: {len(stories)} stories")
    rows = [_row(material, one) for one in domains]
    return Table(f"distribution_{scale}", spec, _COLUMNS, rows, _NOTE)


_NOTE = (
    "“Below its original”: share of corrupted stories that score lower than what they were made "
    "of. Read by the asset, which knows it: its layers have learned from ratings of these stories."
)


def _spelled(spec: str, weights: str, scale: str) -> str:
    """Name the metric with its weights, unless they are its own."""
    usual = "reader" if scale == "preference" else "coherence"
    if weights == usual:
        return spec
    negatives = ", negatives=True" if scale == "preference_n" else ""
    name = "coherence" if scale == "coherence" else "storyer"
    return f"{name}(weights={weights!r}{negatives})"


def _kept_domains(material: Material, unseen: Unseen, scale: str) -> list[Domain]:
    """Give the domains whose values by unseeing readers are kept with the weights."""
    found: list[Domain] = []
    if scale != "coherence":
        values, dataset = unseen.values(scale, scale), material.dataset("storyer")
        items = {story.id: str(story.item) for story in dataset.stories}
        sides = {
            "human, liked": {one.better for one in dataset.preferences},
            "human, disliked": {one.worse for one in dataset.preferences},
        }
        for name, ids in sides.items():
            found.append(_domain(name, {one: values[one] for one in sorted(ids)}, items))
    for name, task, machine in _RATED:
        if f"{scale}/{task}" in unseen.arrays:
            dataset = material.dataset(task_set := name.partition(" ")[0].rstrip(",").lower())
            chosen = [one for one in dataset.stories if (one.system != "Human") == machine]
            items = {f"{task_set}:{one.id}": str(one.item) for one in chosen}
            values = unseen.values(scale, task)
            found.append(_domain(name, {k: v for k, v in values.items() if k in items}, items))
    return found


_RATED = (
    ("HANNA, human", "criteria", False),
    ("HANNA, machines", "criteria", True),
    ("MANS roc, machines", "mans_roc", True),
    ("MANS wp, machines", "mans_wp", True),
)


def _domain(name: str, values: Mapping[str, float], items: Mapping[str, str]) -> Domain:
    return Domain(name, np.array(list(values.values())), [items[one] for one in values], _FOLDS)


def _row(material: Material, one: Domain) -> list[Cell]:
    known = one.values[~np.isnan(one.values)]
    above = np.where(np.isnan(one.values), np.nan, one.values > 0.5)
    below: Cell = None
    if len(one.originals):
        below = estimate_mean(
            (one.values < one.originals).astype(float), one.items, resamples=material.resamples
        )
    quantiles = np.quantile(known, _QUANTILES).tolist() if len(known) else [math.nan] * 5
    mean = estimate_mean(one.values, one.items, resamples=material.resamples)
    share = estimate_mean(above, one.items, resamples=material.resamples)
    return [one.name, mean, *quantiles, share, below, len(known), one.by]
