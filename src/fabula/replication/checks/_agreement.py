"""How learned metrics agree with people, beside rivals: one figure a column, by the same draws."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fabula.meta.arrays import Values, round_digits
from fabula.meta.gains import gains_over
from fabula.meta.grid import Column, Grid, Layout
from fabula.meta.measure import Measuring, Statistic, measure
from fabula.meta.resampling import (
    Estimate,
    draw_counts,
    estimate,
    mean_draws,
    number_units,
    sum_units,
)

RESAMPLES = 1000
Places = np.ndarray[Any, np.dtype[np.int64]]
Columns = Mapping[str, Values]  # (stories,), or (seeds, stories)


@dataclass(frozen=True)
class Gain:
    """How far a column lies above the best of its rivals."""

    rival: str
    value: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether the whole interval lies above zero."""
        return self.low > 0

    def __str__(self) -> str:
        return f"{self.value:+.3f} [{self.low:+.3f}, {self.high:+.3f}] over {self.rival}"


@dataclass(frozen=True)
class Measured:
    """A figure of every column, the mean of its seeds, and the same in every draw of items."""

    value: Mapping[str, float]
    draws: Mapping[str, Values]
    seeds: Mapping[str, tuple[float, ...]]
    n: int
    items: int
    chance: float = 0.0

    def words(self, name: str) -> str:
        """Give a figure with its interval."""
        found = self.estimate(name)
        return f"{found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"

    def estimate(self, name: str) -> Estimate:
        """Give a figure with its interval of 95 %."""
        return estimate(self.value[name], self.draws[name], n=self.n)

    def each_seed(self, name: str) -> str:
        """Give the figures of the seeds."""
        return f"seeds {', '.join(f'{one:.3f}' for one in self.seeds[name])}"

    def plain(self, names: Collection[str]) -> str:
        """Give figures without intervals."""
        return ", ".join(f"{name} {self.value[name]:.3f}" for name in names)

    def best(self, names: Collection[str]) -> str:
        """Name the column farthest from chance, whatever its sign."""
        known = [name for name in names if not np.isnan(self.value[name])]
        return max(known, key=lambda name: abs(self.value[name] - self.chance))

    def gain(self, name: str, rivals: Collection[str]) -> Gain:
        """Compare a column with the best of its rivals, each taken the way round that suits it."""
        rival = self.best(rivals)
        value = np.array([[self.value[one]] for one in (name, rival)])
        draws = np.stack([self.draws[one] for one in (name, rival)], axis=1)[:, :, None]
        found = gains_over(value - self.chance, draws - self.chance, np.array([False, True]))
        return Gain(rival, *(float(one[0, 0]) for one in found))


def correlated(
    columns: Columns,
    gold: Values,
    items: Sequence[str],
    *,
    given: Values | None = None,
    statistic: Statistic = "spearman",
) -> Measured:
    """Correlate columns with the gold over all stories, or beyond what another column explains.

    The bootstrap draws items, for their stories are not independent.
    """
    layout = _laid_out(items)
    grid = _grid(columns, layout)
    golden = _grid({"gold": round_digits(gold)}, layout)
    control = None if given is None else _grid({"given": given}, layout)
    how = Measuring(resamples=RESAMPLES, control=control)
    found, draws = measure(grid, golden, level="pooled", statistic=statistic, how=how)
    there = int(found.n.min())
    return _measured(columns, found.value[:, 0], draws[:, :, 0], there, len(layout.items))


def preferring(columns: Columns, better: Places, worse: Places, items: Sequence[str]) -> Measured:
    """Give how often columns prefer the better story of a pair; a tie counts half."""
    rows = np.concatenate([np.atleast_2d(one) for one in columns.values()])
    gaps = rows[:, better] - rows[:, worse]
    won = (gaps > 0) + (gaps == 0) / 2
    return shares(dict(zip(columns, _parted(columns, won), strict=True)), items)


def shares(columns: Columns, items: Sequence[str], chance: float = 0.5) -> Measured:
    """Give the mean of every column of wins, with draws of items."""
    won = np.concatenate([np.atleast_2d(one) for one in columns.values()]).astype(np.float64)
    sums, sizes = sum_units(won.T, number_units(items))  # (items, columns)
    draws = mean_draws(draw_counts(len(sums), RESAMPLES, 0), sums, sizes)
    return _measured(columns, won.mean(axis=1), draws, len(items), len(sums), chance)


def _measured(
    columns: Columns, value: Values, draws: Values, n: int, items: int, chance: float = 0.0
) -> Measured:
    """Average the rows of every column: its seeds."""
    values = dict(zip(columns, _parted(columns, value), strict=True))
    drawn = dict(zip(columns, _parted(columns, draws.T), strict=True))
    return Measured(
        {name: float(one.mean()) for name, one in values.items()},
        {name: one.mean(axis=0) for name, one in drawn.items()},
        {name: tuple(one.tolist()) for name, one in values.items()},
        n,
        items,
        chance,
    )


def _parted(columns: Columns, rows: Values) -> list[Values]:
    ends = np.cumsum([len(np.atleast_2d(one)) for one in columns.values()])[:-1]
    return np.split(rows, ends)


def _laid_out(items: Sequence[str]) -> Layout:
    """Lay stories out by item, those of one item side by side."""
    numbers: dict[str, int] = {}
    sizes: dict[str, int] = {}
    places = {}
    for story, item in enumerate(items):
        sizes[item] = sizes.get(item, 0) + 1
        places[str(story)] = (numbers.setdefault(item, len(numbers)), sizes[item] - 1)
    slots = tuple(map(str, range(max(sizes.values(), default=0))))
    return Layout(tuple(numbers), slots, places)


def _grid(columns: Columns, layout: Layout) -> Grid:
    rows = np.concatenate([np.atleast_2d(one) for one in columns.values()])
    names = [
        Column(name, str(seed))
        for name, one in columns.items()
        for seed in range(len(np.atleast_2d(one)))
    ]
    values = np.full((len(rows), *layout.shape), np.nan)
    at = np.array(list(layout.places.values()), dtype=np.int64).reshape(-1, 2)
    values[:, at[:, 0], at[:, 1]] = rows
    return Grid(layout, tuple(names), values)
