"""What checks of learned metrics share: stories with their gold, and columns beside rivals.

Every column has one figure, by the same draws of items.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import UserError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.learned.training.stories import read_dataset
from fabula.meta.arrays import Places, Values, round_digits
from fabula.meta.bootstrap import gains_over
from fabula.meta.grid import Grid, GridColumn, Layout
from fabula.meta.measure import Measuring, Statistic, measure
from fabula.meta.resampling import (
    Estimate,
    draw_counts,
    estimate,
    mean_draws,
    number_units,
    sum_units,
)
from fabula.scoring.evaluate import BASELINES, evaluate

RESAMPLES = 1000
Columns = Mapping[str, Values]  # (stories,), or (seeds, stories)


@dataclass(frozen=True)
class Gain:
    """How far a column lies above the best of its rivals."""

    rival: str
    estimate: Estimate

    @property
    def is_sure(self) -> bool:
        """Whether the whole interval lies above zero."""
        return self.estimate.low > 0

    def __str__(self) -> str:
        found = self.estimate
        return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}] over {self.rival}"


@dataclass(frozen=True)
class MeasuredColumns:
    """A figure of every column, the mean of its seeds, and the same in every draw of items."""

    value: Mapping[str, float]
    draws: Mapping[str, Values]
    seeds: Mapping[str, tuple[float, ...]]
    n: int
    items: int
    chance: float = 0.0

    def words(self, name: str) -> str:
        """Give a figure with its interval."""
        figure = self.estimate(name)
        return f"{figure.value:.3f} [{figure.low:.3f}, {figure.high:.3f}]"

    def estimate(self, name: str) -> Estimate:
        """Give a figure with its interval of 95 %."""
        return estimate(self.value[name], self.draws[name], n=self.n)

    def each_seed(self, name: str) -> str:
        """Give the figures of the seeds."""
        return f"seeds {', '.join(f'{value:.3f}' for value in self.seeds[name])}"

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
        pair = (name, rival)
        value = np.array([[self.value[column]] for column in pair])
        draws = np.stack([self.draws[column] for column in pair], axis=1)[:, :, None]
        gains = gains_over(value - self.chance, draws - self.chance, np.array([False, True]))
        return Gain(rival, gains[0, 0])


def correlate_columns(
    columns: Columns,
    gold: Values,
    items: Sequence[str],
    *,
    given: Values | None = None,
    statistic: Statistic = "spearman",
) -> MeasuredColumns:
    """Correlate columns with the gold over all stories, or beyond what another column explains.

    The bootstrap draws items, for their stories are not independent.
    """
    layout = _lay_out(items)
    grid = _grid(columns, layout)
    golden = _grid({"gold": round_digits(gold)}, layout)
    control = None if given is None else _grid({"given": given}, layout)
    how = Measuring(resamples=RESAMPLES, control=control)
    cells, draws = measure(grid, golden, level="pooled", statistic=statistic, how=how)
    n = int(cells.n.min())
    return _average_seeds(columns, cells.value[:, 0], draws[:, :, 0], n, len(layout.items))


def measure_pairs(
    columns: Columns, better: Places, worse: Places, items: Sequence[str]
) -> MeasuredColumns:
    """Give how often columns prefer the better story of a pair; a tie counts half."""
    rows = _stack(columns)
    gaps = rows[:, better] - rows[:, worse]
    won = (gaps > 0) + (gaps == 0) / 2
    return measure_shares(dict(zip(columns, _split_by_column(columns, won), strict=True)), items)


def measure_shares(columns: Columns, items: Sequence[str], chance: float = 0.5) -> MeasuredColumns:
    """Give the mean of every column of wins, with draws of items."""
    won = _stack(columns).astype(np.float64)
    sums, sizes = sum_units(won.T, number_units(items))  # (items, columns)
    draws = mean_draws(draw_counts(len(sums), RESAMPLES, 0), sums, sizes)
    return _average_seeds(columns, won.mean(axis=1), draws, len(items), len(sums), chance)


def _average_seeds(
    columns: Columns, value: Values, draws: Values, n: int, items: int, chance: float = 0.0
) -> MeasuredColumns:
    """Average the rows of every column: its seeds."""
    values = dict(zip(columns, _split_by_column(columns, value), strict=True))
    drawn = dict(zip(columns, _split_by_column(columns, draws.T), strict=True))
    return MeasuredColumns(
        {name: float(seeds.mean()) for name, seeds in values.items()},
        {name: seeds.mean(axis=0) for name, seeds in drawn.items()},
        {name: tuple(seeds.tolist()) for name, seeds in values.items()},
        n,
        items,
        chance,
    )


def _stack(columns: Columns) -> Values:
    """Put the seeds of all columns below one another.  (columns × seeds, stories)"""
    return np.concatenate([np.atleast_2d(rows) for rows in columns.values()])


def _split_by_column(columns: Columns, rows: Values) -> list[Values]:
    ends = np.cumsum([len(np.atleast_2d(seeds)) for seeds in columns.values()])[:-1]
    return np.split(rows, ends)


def _lay_out(items: Sequence[str]) -> Layout:
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
    rows = _stack(columns)
    names = [
        GridColumn(name, str(seed))
        for name, seeds in columns.items()
        for seed in range(len(np.atleast_2d(seeds)))
    ]
    values = np.full((len(rows), *layout.shape), np.nan)
    at = np.array(list(layout.places.values()), dtype=np.int64).reshape(-1, 2)
    values[:, at[:, 0], at[:, 1]] = rows
    return Grid(layout, tuple(names), values)


def load_below(name: str, data: Path | None) -> Dataset:
    """Read a data set below `data`."""
    if data is None:
        raise UserError("needs data below --data")
    return read_dataset(name, data)


def mean_ratings(dataset: Dataset, stories: Sequence[Story], aspect: str) -> Values:
    """Give the mean of people's ratings of every story; NaN where nobody rated it."""
    ratings: dict[str, list[float]] = {}
    for score in dataset.ratings:
        if score.aspect == aspect and score.ok:
            ratings.setdefault(score.story, []).append(score.value)
    means = {story: float(np.mean(given)) for story, given in ratings.items()}
    return np.array([means.get(story.id, np.nan) for story in stories])


def score_baselines(stories: Sequence[Story]) -> dict[str, Values]:
    """Score stories with the trivial baselines."""
    return {name: score_stories(stories, name) for name in BASELINES}


def score_stories(stories: Sequence[Story], spec: str, aspect: str = "") -> Values:
    """Give a metric's values of stories; a model that is missing is for the user to mend."""
    scores = [score for score in evaluate(stories, spec) if score.aspect == aspect]
    if missing := next((one for one in scores if one.status is Status.MISSING_MODEL), None):
        raise UserError(missing.note)
    return np.array([score.value for score in scores], dtype=np.float64)


def published_values(dataset: Dataset, stories: Sequence[Story], scorer: str) -> Values:
    """Give the values that came with the data set."""
    values = {score.story: score.value for score in dataset.scores.of(scorer)}
    return np.array([values.get(story.id, np.nan) for story in stories], dtype=np.float64)


def story_items(stories: Sequence[Story]) -> list[str]:
    """Name the item of every story; one without stands alone."""
    return [str(story.item) if story.item is not None else f"story {story.id}" for story in stories]
