"""Aspects that readers speak of, and how they rate them: told by readers that had not seen them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.datasets.storyer_ratings import ASPECTS
from fabula.meta.coefficients import Coefficient
from fabula.meta.resampling import estimate_correlation, estimate_mean
from fabula.replication.storyer._findings import Cell, Finding, Table
from fabula.replication.storyer._material import Material
from fabula.replication.storyer._recall import recalls
from fabula.text.words import words

Array = np.ndarray[Any, np.dtype[Any]]
TITLE = "Aspects: which are spoken of, and how they are rated"
_SET = "storyer_ratings"
_COEFFICIENTS: Sequence[Coefficient] = ("spearman", "kendall")


@dataclass(frozen=True)
class Settings:
    """Whose values are looked at, and among how many of the surest aspects one is to be."""

    weights: str = "reader"
    at: tuple[int, ...] = (1, 3, 5)


def analyse(material: Material, settings: Settings) -> Finding:
    """Give recall@k of the aspects spoken of, and rank correlations of the ratings by aspect."""
    stories = {f"{_SET}:{story.id}": story for story in material.dataset(_SET).stories}
    said = material.ratings(_SET)
    names = [name for name in stories if any((stories[name].id, one) in said for one in ASPECTS)]
    ratings = np.array(
        [[said.get((stories[name].id, one), np.nan) for one in ASPECTS] for name in names]
    )
    lengths = np.array([len(words(stories[name].text)) for name in names], dtype=float)
    items = [str(stories[name].item) for name in names]
    tables = [
        _recall_table(material, settings, names, items, ~np.isnan(ratings)),
        _rating_table(material, settings, names, items, (ratings, lengths)),
    ]
    text = (
        f"{len(names)} stories with {int((~np.isnan(ratings)).sum())} rated aspects, read by "
        "readers whose folds had not seen their prompt. With so few ratings an aspect, an "
        "interval that holds zero is the rule: no aspect's own figure is to be believed."
    )
    return Finding("confidence", TITLE, [text], tables)


def _recall_table(
    material: Material, settings: Settings, names: list[str], items: list[str], chosen: Array
) -> Table:
    unseen = material.unseen(settings.weights)
    raws = np.array([_column(unseen.raw(f"confidence.{a}", "confidence"), names) for a in ASPECTS])
    reader, prior = left_out_logs(raws.T, chosen / chosen.sum(1, keepdims=True))
    rows: list[list[Cell]] = []
    for k in settings.at:
        found, usual = (recalls(one, chosen, k) for one in (reader, prior))
        estimates = [
            estimate_mean(one, items, resamples=material.resamples)
            for one in (found, usual, found - usual)
        ]
        rows.append([f"recall@{k}", *estimates, len(names)])
    return Table(
        "confidence_recall",
        "Aspects spoken of among the surest",
        ("figure", "reader", "prior", "reader less prior", "stories"),
        rows,
        "The prior takes the aspects in order of how often they are spoken of in the other "
        "stories. The reader's slopes are fitted without the story, too.",
    )


def left_out_logs(raws: Array, shares: Array) -> tuple[Array, Array]:
    """Give log shares of aspects by reader and by prior, each fitted to all stories but its own.

    A share is its mean, moved by the line of shares on raw values where that rises.
    """
    reader, prior = np.zeros(raws.shape), np.zeros(raws.shape)
    for story in range(len(raws)):
        rest = np.arange(len(raws)) != story
        mean = np.maximum(shares[rest].mean(0), 1e-3)
        x, y = raws[rest] - raws[rest].mean(0), shares[rest] - shares[rest].mean(0)
        slope = np.maximum((x * y).sum(0) / np.maximum((x * x).sum(0), 1e-12), 0) / mean
        prior[story] = np.log(mean)
        reader[story] = prior[story] + slope * (raws[story] - raws[rest].mean(0))
    return reader, prior


def _rating_table(
    material: Material,
    settings: Settings,
    names: list[str],
    items: list[str],
    columns: tuple[Array, Array],
) -> Table:
    ratings, lengths = columns
    unseen = material.unseen(settings.weights)
    raws = np.array([_column(unseen.raw(f"aspects.{a}", "aspects"), names) for a in ASPECTS]).T

    def row(name: str, told: Array, wanted: Array, length: Array, groups: list[str]) -> list[Cell]:
        pairs = [(told, one) for one in _COEFFICIENTS] + [(length, _COEFFICIENTS[0])]
        estimates = [
            estimate_correlation(one, wanted, groups, coefficient=how, resamples=material.resamples)
            for one, how in pairs
        ]
        return [name, *estimates, estimates[0].n]

    rows = [
        row(aspect, raws[:, at], ratings[:, at], lengths, items)
        for at, aspect in enumerate(ASPECTS)
    ]
    centred = (ratings - _means(ratings)).ravel()
    told = np.where(np.isnan(ratings), np.nan, raws)
    groups = [item for item in items for _ in ASPECTS]
    wide = np.repeat(lengths, len(ASPECTS))
    rows.append(row("all, less their mean", (told - _means(told)).ravel(), centred, wide, groups))
    return Table(
        "confidence_ratings",
        "Ratings of aspects",
        ("aspect", "Spearman ρ", "Kendall τ", "ρ of the number of words", "stories"),
        rows,
        "The mean of an aspect, as a prior, has no correlation within it. The last row takes all "
        "ratings together, each less the mean of its aspect; its n counts ratings.",
    )


def _means(values: Array) -> Array:
    known = ~np.isnan(values)
    found: Array = np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
    return found


def _column(values: dict[str, float], names: list[str]) -> list[float]:
    return [values.get(name, np.nan) for name in names]
