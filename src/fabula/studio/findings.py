"""What opinions of suggestions amount to: machines side by side, qualities, and their course.

Pure functions on `Opinions`. Suggestions of one game are not independent of each other: they share
a story, a person, mostly a machine. So intervals come from drawing whole games again, and tests
from trading whole games between machines; below five games there is no interval. Seeds are fixed:
the same studio shows the same figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import combinations
from typing import get_args

import numpy as np

from fabula.core.errors import InputError
from fabula.meta.arrays import Values
from fabula.meta.coefficients import pearson
from fabula.meta.distributions import t_tail
from fabula.meta.resampling import (
    FEWEST_UNITS,
    Estimate,
    Sample,
    estimate,
    estimate_means,
    number_units,
    resample_means,
    sum_units,
)
from fabula.meta.significance.sign_flips import benjamini_hochberg, holm, swap_ps
from fabula.studio.edit_kinds import Period, find_start
from fabula.studio.quality import Opinions

LEVEL = 0.05
_SEED = 0
_RESAMPLES = 1000
_FEWEST_TRADES, _MOST_TRADES = 2000, 8000


@dataclass(frozen=True)
class QualityCell:
    """Mean and standard deviation of `n` suggestions out of `games` games; NaN below one and below
    two values. `low` and `high` are the mean's 95 % interval; NaN below five games."""

    n: int
    mean: float
    deviation: float
    low: float = math.nan
    high: float = math.nan
    games: int = 0


@dataclass(frozen=True)
class MachineComparison:
    """How much higher the mean of one machine is than another's in a quality, with its interval.

    `p` is that of trading games between the machines, `adjusted` is Holm's over all comparisons
    that were made; `better` is who wins where that is at most .05.
    """

    quality: str
    first: str
    second: str
    difference: Estimate
    p: float
    adjusted: float
    better: str | None


@dataclass(frozen=True)
class Correlation:
    """Pearson's r of two qualities over the `n` suggestions that have both; p against none, and q,
    the share of false findings if this and all surer pairs are believed (Benjamini–Hochberg)."""

    left: str
    right: str
    r: float
    p: float
    n: int
    q: float


@dataclass(frozen=True)
class PeriodCell:
    """A quality of a machine in a period, which begins on `start`."""

    start: date
    machine: str
    cell: QualityCell


def describe_machines(opinions: Opinions) -> dict[str, dict[str, QualityCell]]:
    """Give number, mean, standard deviation and interval of every quality, machine by machine."""
    names = sorted(set(opinions.machines))
    cells = _describe([opinions.of(name) for name in names])
    return dict(zip(names, cells, strict=True))


def describe_qualities(opinions: Opinions) -> dict[str, QualityCell]:
    """Give the same over all machines together."""
    return _describe([opinions])[0]


def _describe(parts: Sequence[Opinions]) -> list[dict[str, QualityCell]]:
    counted = [place for place, part in enumerate(parts) if len(set(part.games)) >= FEWEST_UNITS]
    samples = [Sample(parts[place].games, parts[place].values) for place in counted]
    estimated = estimate_means(samples, seed=_SEED, resamples=_RESAMPLES) if samples else []
    intervals = dict(zip(counted, estimated, strict=True))
    described = []
    for place, part in enumerate(parts):
        cells = {}
        for column, label in enumerate(part.labels):
            ends = math.nan, math.nan
            values = part.values[:, column]
            there = ~np.isnan(values)
            games = len({game for game, ok in zip(part.games, there, strict=True) if ok})
            if place in intervals and games >= FEWEST_UNITS:
                ends = intervals[place][column].interval
            cells[label] = _make_cell(values[there], ends, games)
        described.append(cells)
    return described


def _make_cell(known: Values, ends: tuple[float, float], games: int) -> QualityCell:
    mean = float(known.mean()) if len(known) else math.nan
    deviation = float(known.std(ddof=1)) if len(known) > 1 else math.nan
    return QualityCell(len(known), mean, deviation, *ends, games)


def compare_machines(opinions: Opinions) -> list[MachineComparison]:
    """Compare every two machines in every quality, those that differ most surely first.

    Pairs of which one has no value in a quality are left out.
    """
    names = sorted(set(opinions.machines))
    games = number_units(opinions.games)
    count = int(games.max(initial=-1)) + 1
    totals = {
        name: sum_units(opinions.of(name).values, games[np.array(opinions.machines) == name], count)
        for name in names
    }
    # Holm's correction asks for small p, which few trades cannot give.
    tests = len(opinions.labels) * len(names) * (len(names) - 1) // 2
    trades = min(_MOST_TRADES, max(_FEWEST_TRADES, 40 * tests))
    rows: list[tuple[str, str, str, Estimate, float]] = []
    for first, second in combinations(names, 2):
        both = zip(totals[first], totals[second], strict=True)
        sums, sizes = (np.stack(side, axis=1) for side in both)  # (games, 2, qualities)
        known = (sizes.sum(axis=(1, 2)) > 0).nonzero()[0]  # games of either
        ps = swap_ps(sums[known], sizes[known], resamples=trades, seed=_SEED)
        differences = _estimate_differences(sums[known], sizes[known])
        rows += [
            (label, first, second, difference, float(p))
            for label, difference, p in zip(opinions.labels, differences, ps, strict=True)
            if not math.isnan(difference.value)
        ]
    adjusted = holm(np.array([row[-1] for row in rows]))
    compared = [
        MachineComparison(*row, float(sure), _name_better(*row[1:4], float(sure)))
        for row, sure in zip(rows, adjusted, strict=True)
    ]
    return sorted(compared, key=lambda each: (each.adjusted, each.p, each.quality))


def _estimate_differences(sums: Values, sizes: Values) -> list[Estimate]:
    """Estimate first mean less second in every column: (games, 2, columns)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means = sums.sum(axis=0) / sizes.sum(axis=0)  # (2, columns)
    values, counts = means[0] - means[1], sizes.sum(axis=(0, 1))
    # Either has to be there in enough games for draws to say something of other games.
    enough = ((sizes > 0).sum(axis=0) >= FEWEST_UNITS).all(axis=0)
    if not enough.any():
        return [Estimate(float(v), n=int(n)) for v, n in zip(values, counts, strict=True)]
    flat = (len(sums), -1)
    drawn = resample_means(sums.reshape(flat), sizes.reshape(flat), _RESAMPLES, _SEED)
    first, second = np.split(drawn, 2, axis=1)
    draws = first - second  # (draws, columns)
    return [
        estimate(float(value), draws[:, place], n=int(n))
        if ok
        else Estimate(float(value), n=int(n))
        for place, (value, n, ok) in enumerate(zip(values, counts, enough, strict=True))
    ]


def _name_better(first: str, second: str, difference: Estimate, adjusted: float) -> str | None:
    if not adjusted <= LEVEL:
        return None
    return first if difference.value > 0 else second


def correlate_qualities(opinions: Opinions) -> list[Correlation]:
    """Correlate each quality with each, over the suggestions that have both.

    r and p are scipy's `pearsonr`, which takes suggestions for independent.
    """
    found = []
    for left, right in combinations(range(len(opinions.labels)), 2):
        both = opinions.values[:, (left, right)]
        both = both[~np.isnan(both).any(axis=1)]
        r = float(pearson(both[:, 0], both[:, 1])) if len(both) > 1 else math.nan
        names = opinions.labels[left], opinions.labels[right]
        found.append((*names, r, _find_p(r, len(both)), len(both)))
    qs = benjamini_hochberg(np.array([p for *_, p, _ in found]))
    return [Correlation(*pair, float(q)) for pair, q in zip(found, qs, strict=True)]


def _find_p(r: float, n: int) -> float:
    """Two-sided p of Pearson's r by Student's t with n - 2 degrees of freedom."""
    if n < 3 or math.isnan(r):
        return math.nan
    if abs(r) == 1:
        return 0.0
    t = np.float64(abs(r) * math.sqrt((n - 2) / (1 - r * r)))
    return 2 * float(t_tail(t, n - 2))


def follow_quality(opinions: Opinions, label: str, by: Period = "week") -> list[PeriodCell]:
    """Follow a quality over time: by period (of UTC; weeks begin on Monday) and machine.

    Periods in which a machine has no value of it are left out.
    """
    if by not in get_args(Period):
        raise InputError(f"by: there is no period {by!r}", f"take {', '.join(get_args(Period))}")
    if label not in opinions.labels:
        raise InputError(
            f"quality: there is no quality {label!r}", f"take {', '.join(opinions.labels)}"
        )
    column = opinions.labels.index(label)
    one = replace(opinions, labels=(label,), values=opinions.values[:, [column]])
    rows: dict[tuple[date, str], list[int]] = {}
    for place, (moment, machine) in enumerate(zip(one.moments, one.machines, strict=True)):
        if not math.isnan(one.values[place, 0]):
            rows.setdefault((find_start(moment, by), machine), []).append(place)
    parts = [one.where(_flag(places, len(one.machines))) for places in rows.values()]
    cells: list[Mapping[str, QualityCell]] = list(_describe(parts))
    followed = [PeriodCell(*key, each[label]) for key, each in zip(rows, cells, strict=True)]
    return sorted(followed, key=lambda each: (each.start, each.machine))


def _flag(places: Sequence[int], count: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    flags = np.zeros(count, dtype=bool)
    flags[list(places)] = True
    return flags
