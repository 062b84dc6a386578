"""Means with percentile bootstrap intervals: items are resampled, else stories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.meta.resampling import count_blocks

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Sample:
    """What one system got: stories × columns, and the unit (item or story) of each story."""

    units: Sequence[str]
    values: Array


@dataclass(frozen=True)
class Estimates:
    """Mean and interval of every column; NaN where there is none."""

    mean: Array
    low: Array
    high: Array


def mean_intervals(
    samples: Sequence[Sample], *, seed: int, resamples: int = 1000, level: float = 0.95
) -> list[Estimates]:
    """Give the means of each sample and their intervals (Efron's percentile bootstrap).

    Samples over the same units share their resamples. Below two units with a value there is a
    mean, but no interval: one item says nothing about others.
    """
    alike: dict[frozenset[str], list[int]] = {}
    for place, sample in enumerate(samples):
        alike.setdefault(frozenset(sample.units), []).append(place)
    found: dict[int, Estimates] = {}
    for units, places in alike.items():
        totals = [_totals(samples[place], sorted(units)) for place in places]
        bounds = _bounds(totals, seed=seed, resamples=resamples, level=level)
        for place, total, (low, high) in zip(places, totals, bounds, strict=True):
            found[place] = _estimates(total, low, high)
    return [found[place] for place in range(len(samples))]


@dataclass(frozen=True)
class _Totals:
    """Sums and counts of what is there, units × columns; sums are of distances to `centre`."""

    centre: Array
    sums: Array
    counts: Array


def _totals(sample: Sample, units: Sequence[str]) -> _Totals:
    rank = {unit: place for place, unit in enumerate(units)}
    rows = np.array([rank[unit] for unit in sample.units], dtype=np.intp)
    there = np.isfinite(sample.values)  # (S, K)
    # Distances to the least value: constant data stay constant to the last bit, and rounding
    # takes no interval below what there is.
    least = np.where(there, sample.values, math.inf).min(axis=0, initial=math.inf)
    centre = np.where(np.isfinite(least), least, 0.0)
    distances = np.where(there, sample.values - centre, 0.0)
    sums, counts = np.zeros((2, len(units), there.shape[1]))
    np.add.at(sums, rows, distances)
    np.add.at(counts, rows, there)
    return _Totals(centre, sums, counts)


def _bounds(
    totals: Sequence[_Totals], *, seed: int, resamples: int, level: float
) -> list[tuple[Array, Array]]:
    """Bounds of the distances of resampled means to the centres, for each of the samples."""
    sums = np.hstack([total.sums for total in totals])  # (U, K · samples)
    counts = np.hstack([total.counts for total in totals])
    drawn = count_blocks(len(sums), resamples, seed)
    blocks = [_ratio(block @ sums, block @ counts) for block in drawn]
    means = np.vstack(blocks)  # (R, K · samples)
    means[:, np.isnan(means).all(axis=0)] = 0.0
    tail = 50 * (1 - level)
    low, high = np.nanpercentile(means, [tail, 100 - tail], axis=0)
    width = totals[0].sums.shape[1]
    cuts = range(0, len(totals) * width, width) if width else [0] * len(totals)
    return [(low[cut : cut + width], high[cut : cut + width]) for cut in cuts]


def _estimates(total: _Totals, low: Array, high: Array) -> Estimates:
    enough = (total.counts > 0).sum(axis=0) > 1
    mean = total.centre + _ratio(total.sums.sum(axis=0), total.counts.sum(axis=0))
    low = np.where(enough, total.centre + low, math.nan)
    return Estimates(mean, low, np.where(enough, total.centre + high, math.nan))


def _ratio(sums: Array, counts: Array) -> Array:
    found = np.full(sums.shape, math.nan)
    np.divide(sums, counts, out=found, where=counts > 0)
    return found
