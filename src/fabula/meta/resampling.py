"""The one bootstrap: units are drawn again, and percentiles of what comes out are an interval.

Efron and Tibshirani (1993), An Introduction to the Bootstrap, chapters 6 and 13. A unit is what is
taken to be independent: an item, or a story where there are no items. What belongs to a unit (the
stories of an item, the pairs of a prompt) is drawn together. To draw units with replacement is to
count each so many times; so most figures of all draws at once are products of matrices.

Of very many units, groups of them are drawn: units are put together by lot, as many into each
group. A mean's variance over draws of such groups is the same but for the number of groups (10,000
give its standard deviation to some 0.7 %, as closely as 10,000 units would), and a draw costs no
more for a million units than for ten thousand.

There is one rule for draws in which a figure is undefined (NaN): they are left out, and where more
than half of the draws are undefined there is no interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fabula.meta.arrays import Counts, Places, Values
from fabula.meta.coefficients import Coefficient, correlate

# How often every unit counts, draw by draw, gives a value per draw; NaN is undefined.
WeightedStatistic = Callable[[Values], Values]  # (draws, units) -> (draws,)

# Cells of a matrix of draws that is held at once: 32 MB of floats.
_CELLS = 4_000_000
# Of fewer units an interval would say nothing of others.
FEWEST_UNITS = 5
# Of more units, so many groups are drawn instead: up to there units by themselves cost no more.
MOST_UNITS, GROUPS = 15_000, 10_000


@dataclass(frozen=True)
class Estimate:
    """A figure with the ends of its interval; NaN where it, or they, are undefined.

    `n` says how many values it rests on. `undefined` says how many were left out because they were
    undefined: parts of a mean, or draws of the bootstrap.
    """

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    undefined: int = 0

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.low, self.high

    def plain(self) -> dict[str, float | None]:
        """Give the figure and its interval for JSON; what is undefined is None."""
        ends = {"value": self.value, "low": self.low, "high": self.high}
        return {name: end if math.isfinite(end) else None for name, end in ends.items()}

    def columns(self, name: str) -> dict[str, float | None]:
        """Give the figure and its ends as columns of a record; what is undefined is None."""
        value, low, high = self.plain().values()
        return {name: value, f"{name}_low": low, f"{name}_high": high}


NO_ESTIMATE = Estimate()


@dataclass(frozen=True)
class Estimates:
    """Estimates of an array of figures, field by field; `estimates[i, j]` gives one of them."""

    value: Values
    low: Values
    high: Values
    n: Counts
    undefined: Counts

    def __getitem__(self, place: int | tuple[int, ...]) -> Estimate:
        return Estimate(
            float(self.value[place]),
            float(self.low[place]),
            float(self.high[place]),
            int(self.n[place]),
            int(self.undefined[place]),
        )


def percentile_interval(draws: Values, alpha: float = 0.05) -> tuple[Values, Values]:
    """Give the ends of the middle 1 - alpha of the draws, which are the first axis."""
    missing = np.isnan(draws)
    undefined = missing.mean(0) > 0.5
    if not draws.size:
        return np.empty(undefined.shape), np.empty(undefined.shape)
    quantile = np.nanquantile if missing.any() else np.quantile
    filled = np.where(undefined, 0.0, draws)
    low, high = quantile(filled, [alpha / 2, 1 - alpha / 2], axis=0)
    return np.where(undefined, np.nan, low), np.where(undefined, np.nan, high)


def estimate(value: float, draws: Values, *, n: int = 0, alpha: float = 0.05) -> Estimate:
    """Give a figure its interval, by the same figure in every draw."""
    if not len(draws):
        return Estimate(value, n=n)
    low, high = percentile_interval(draws, alpha)
    return Estimate(value, float(low), float(high), n, int(np.isnan(draws).sum()))


def draw_blocks(units: int, resamples: int, seed: int) -> Iterator[Places]:
    """Draw as many units as there are, with replacement; a bounded number of draws at a time."""
    rng = np.random.default_rng(seed)
    most = max(1, _CELLS // max(1, units))
    for start in range(0, resamples, most):
        yield rng.integers(units, size=(min(most, resamples - start), units))  # (rows, units)


def group_units(units: int, seed: int) -> Places:
    """Give the number of each unit's group: its own, or of very many units one drawn by lot."""
    if units <= MOST_UNITS:
        return np.arange(units)
    return np.random.default_rng(seed).permutation(units) % GROUPS


def draw_units(units: int, rng: np.random.Generator) -> Places:
    """Make one such draw, for where draws of several kinds take turns."""
    return rng.integers(units, size=units)


def count_blocks(units: int, resamples: int, seed: int) -> Iterator[Values]:
    """Say of the same draws how often each unit came, a block at a time.  (rows, units)"""
    for drawn in draw_blocks(units, resamples, seed):
        rows = len(drawn)
        drawn += units * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * units)
        yield counts.reshape(rows, units).astype(np.float64)


def draw_counts(units: int, resamples: int, seed: int) -> Values:
    """Say how often each unit is drawn in every draw.  (resamples, units)"""
    return np.concatenate(list(count_blocks(units, resamples, seed)))


def number_units(names: Sequence[Hashable]) -> Places:
    """Number the unit of every row, in the order in which units come."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def sum_units(values: Values, units: Places, count: int | None = None) -> tuple[Values, Values]:
    """Add up what is there, and count it, unit by unit: (rows, …) to sums and sizes (units, …)."""
    there = ~np.isnan(values)
    count = int(units.max(initial=-1)) + 1 if count is None else count
    sums, sizes = np.zeros((2, count, *values.shape[1:]))
    np.add.at(sums, units, np.where(there, values, 0.0))
    np.add.at(sizes, units, there.astype(np.float64))
    return sums, sizes


def mean_draws(counts: Values, sums: Values, sizes: Values) -> Values:
    """Give the mean of every draw of units: (draws, units) and (units, …) to (draws, …).

    Units without a value are left out of the mean; NaN where a draw holds no other.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        means: Values = (counts @ sums) / (counts @ sizes)
    return means


def resample_means(sums: Values, sizes: Values, resamples: int, seed: int) -> Values:
    """Give the mean of every draw of units, a bounded number of draws at a time: (draws, …)."""
    blocks = count_blocks(len(sizes), resamples, seed)
    return np.concatenate([mean_draws(counts, sums, sizes) for counts in blocks])


def estimate_mean(
    values: Values, units: Sequence[Hashable], *, resamples: int, seed: int = 0
) -> Estimate:
    """Estimate a mean of rows; missing ones are left out, those of one unit are drawn together.

    Of fewer than five units no interval is given: it would say nothing of others.
    """
    there = ~np.isnan(values)
    known = values[there]
    if not len(known):
        return Estimate()
    sums, sizes = sum_units(
        known, number_units([unit for unit, ok in zip(units, there, strict=True) if ok])
    )
    value = float(known.mean())
    if len(sizes) < FEWEST_UNITS:
        return Estimate(value, n=len(known))
    return estimate(value, resample_means(sums, sizes, resamples, seed), n=len(known))


def estimate_ratios(
    sums: Values, sizes: Values, *, resamples: int, seed: int = 0
) -> list[Estimate]:
    """Estimate every column's sum over its size: (units, columns); ratios of nothing are undefined.

    Of columns that fewer than five units have anything of, no interval is given.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = sums.sum(axis=0) / sizes.sum(axis=0)
    counts = sizes.sum(axis=0).astype(np.int64)
    if not len(sums):
        return [Estimate() for _ in ratios]
    low, high = percentile_interval(resample_means(sums, sizes, resamples, seed))
    few = (sizes > 0).sum(axis=0) < FEWEST_UNITS
    low[few] = high[few] = math.nan
    columns = zip(ratios.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
    return [Estimate(*column) for column in columns]


def estimate_rows(
    figure: Callable[[Places], float],
    units: Sequence[Hashable],
    *,
    resamples: int,
    seed: int = 0,
) -> Estimate:
    """Estimate any figure of rows, given by their places; rows of one unit are drawn together."""
    value, count = figure(np.arange(len(units))), len(units)
    if len(set(units)) < FEWEST_UNITS:
        return Estimate(value, n=count)
    return estimate(value, resample_rows(figure, units, resamples, seed), n=count)


def estimate_correlation(
    x: Values,
    y: Values,
    units: Sequence[Hashable],
    *,
    coefficient: Coefficient = "spearman",
    resamples: int,
    seed: int = 0,
) -> Estimate:
    """Estimate the correlation of two columns over the rows where both are known."""
    there = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[there], y[there]
    known = [unit for unit, ok in zip(units, there, strict=True) if ok]

    def figure(rows: Places) -> float:
        return float(correlate(x[rows], y[rows], coefficient))

    return estimate_rows(figure, known, resamples=resamples, seed=seed)


def resample_rows(
    figure: Callable[[Places], float], units: Sequence[Hashable], resamples: int, seed: int = 0
) -> Values:
    """Give a figure of rows in every draw of their units, one draw after the other.  (draws,)"""
    numbers = number_units(units)
    rows = [np.flatnonzero(numbers == unit) for unit in range(numbers.max(initial=-1) + 1)]
    if not rows:
        return np.empty(0)
    drawn = (draw for block in draw_blocks(len(rows), resamples, seed) for draw in block)
    return np.array([figure(np.concatenate([rows[unit] for unit in draw])) for draw in drawn])


def always_undefined(weights: Values) -> Values:
    """Be undefined, whatever the weights."""
    return np.full(len(weights), np.nan)


def value_of(statistic: WeightedStatistic, units: int) -> float:
    """Give the value of a statistic where every unit counts once."""
    return float(statistic(np.ones((1, units)))[0])


def resample_weighted(
    statistics: Mapping[str, WeightedStatistic], units: int, *, resamples: int, seed: int
) -> dict[str, Values]:
    """Give the values of several statistics over the same draws."""
    draws: dict[str, list[Values]] = {name: [] for name in statistics}
    for weights in count_blocks(units, resamples, seed):
        for name, statistic in statistics.items():
            draws[name].append(statistic(weights))
    return {name: np.concatenate(values) for name, values in draws.items()}


def bootstrap_mean(
    differences: Values, *, resamples: int = 10_000, seed: int = 0, alpha: float = 0.05
) -> Estimate:
    """Estimate the mean of differences, each of which is a unit.

    With few items it is too short: of twenty normal differences it covers some 93 in 100, not 95.
    """
    if len(differences) > MOST_UNITS:
        sums, sizes = sum_units(differences, group_units(len(differences), seed))
        means = resample_means(sums, sizes, resamples, seed)
    else:
        blocks = draw_blocks(len(differences), resamples, seed)
        means = np.concatenate([differences[drawn].mean(axis=1) for drawn in blocks])
    return estimate(float(differences.mean()), means, n=len(differences), alpha=alpha)


@dataclass(frozen=True)
class Sample:
    """What one system got: stories × columns, and the unit (item or story) of each story."""

    units: Sequence[str]
    values: Values


def estimate_means(
    samples: Sequence[Sample], *, seed: int, resamples: int = 1000, level: float = 0.95
) -> list[Estimates]:
    """Estimate the mean of every column of each sample; `n` counts stories, NaN is no value.

    Samples over the same units share their draws. Below two units with a value there is a mean,
    but no interval: one item says nothing about others.
    """
    alike: dict[frozenset[str], list[int]] = {}
    for place, sample in enumerate(samples):
        alike.setdefault(frozenset(sample.units), []).append(place)
    by_place: dict[int, Estimates] = {}
    for units, places in alike.items():
        together = _estimate_together(
            [samples[place] for place in places], sorted(units), seed, resamples, level
        )
        by_place.update(zip(places, together, strict=True))
    return [by_place[place] for place in range(len(samples))]


def _estimate_together(
    samples: Sequence[Sample], units: Sequence[str], seed: int, resamples: int, level: float
) -> list[Estimates]:
    """Estimate samples over the same units, side by side as columns of one matrix."""
    groups = group_units(len(units), seed)
    rank = dict(zip(units, groups.tolist(), strict=True))
    count = int(groups.max(initial=-1)) + 1
    centres, totals = [], []
    for sample in samples:
        values = np.where(np.isfinite(sample.values), sample.values, np.nan)  # (S, K)
        # Distances to the least value: constant data stay constant to the last bit, and rounding
        # takes no interval below what there is.
        centre = np.fmin.reduce(values, axis=0, initial=np.inf)
        centre = np.where(np.isfinite(centre), centre, 0.0)
        rows = np.array([rank[unit] for unit in sample.units], dtype=np.int64)
        centres.append(centre)
        totals.append(sum_units(values - centre, rows, count))
    sums, sizes = (np.hstack(side) for side in zip(*totals, strict=True))  # (U, K · samples)
    blocks = [mean_draws(drawn, sums, sizes) for drawn in count_blocks(count, resamples, seed)]
    draws = np.vstack(blocks)  # (R, K · samples)
    low, high = percentile_interval(draws, 1 - level)
    enough = (sizes > 0).sum(axis=0) > 1
    centre = np.concatenate(centres)
    with np.errstate(invalid="ignore"):
        means = sums.sum(axis=0) / sizes.sum(axis=0)
    columns = (
        centre + means,
        np.where(enough, centre + low, np.nan),
        np.where(enough, centre + high, np.nan),
        sizes.sum(axis=0).astype(np.int64),
        np.isnan(draws).sum(axis=0),
    )
    cuts = np.cumsum([len(part) for part in centres])[:-1]
    return [
        Estimates(*fields)
        for fields in zip(*(np.split(column, cuts) for column in columns), strict=True)
    ]
