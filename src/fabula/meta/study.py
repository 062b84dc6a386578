"""A study: a declared question about scorers and gold, and what came out."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, SettingError, UnknownName, closest
from fabula.core.protocols import Progress
from fabula.meta.bootstrap import Drawn, percentile_ends, resampled_correlations
from fabula.meta.coefficients import COEFFICIENTS, Coefficient
from fabula.meta.gains import gains_over
from fabula.meta.gold_ceiling import gold_ceilings
from fabula.meta.grid import Column, Grid, Layout
from fabula.meta.levels import LEVELS, Level, correlate_grids
from fabula.meta.paired import Values

Sign = Literal["oriented", "raw", "absolute"]
# Below so many items, systems or stories an interval is a hint at best.
FEW = {"item": 20, "system": 8, "pooled": 30}


@dataclass(frozen=True)
class Correlated:
    """How far one metric agrees with the gold on one aspect, at one level, by one coefficient.

    `low` and `high` are the ends of the bootstrap interval; `ceiling` is what a perfect metric
    could reach, given the raters' noise. `gain` is how much larger the value is than the largest
    one, sign apart, of the trivial baselines, with the interval of that difference.
    """

    metric: str
    aspect: str
    level: Level
    coefficient: Coefficient
    value: float
    n: int
    undefined: int
    low: float
    high: float
    ceiling: float = math.nan
    gain: float = math.nan
    gain_low: float = math.nan
    gain_high: float = math.nan
    family: str = ""
    direction: str = "descriptive"

    def row(self) -> dict[str, Any]:
        """Give a flat row in which what is missing is None."""
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in asdict(self).items()
        }


@dataclass(frozen=True)
class StudyResult:
    """What a study found; the grids it looked at stand beside, for tables and pictures."""

    study: Study
    dataset: Dataset
    metrics: Grid
    gold: Grid
    correlations: tuple[Correlated, ...]
    cautions: tuple[str, ...]

    def of(self, **wanted: str) -> list[Correlated]:
        """Give the correlations with these fields: level, coefficient, aspect, metric."""
        return [
            one
            for one in self.correlations
            if all(getattr(one, name) == value for name, value in wanted.items())
        ]


@dataclass(frozen=True)
class Study:
    """Which scorers are held against which gold, how.

    `scorers` and `aspects` are names or patterns (`ROUGE-*`); none means all. `family:string`
    stands for the scorers of a family. `sign` turns
    coefficients of scorers for which lower is better (`oriented`), leaves them (`raw`) or drops
    the sign after averaging (`absolute`, as HANNA prints them). The stories of the data set's
    reference systems are left out unless `references` is true. `settle` takes means of systems
    that are equal to 12 digits for ties.
    """

    scorers: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    levels: tuple[Level, ...] = LEVELS
    coefficients: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
    sign: Sign = "oriented"
    references: bool = False
    settle: bool = False
    drawn: Drawn = "items"
    resamples: int = 1000
    seed: int = 0
    alpha: float = 0.05
    ceilings: bool = True
    lower: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        """Refuse levels and coefficients that do not exist."""
        for given, known, what in (
            (self.levels, LEVELS, "level"),
            (self.coefficients, COEFFICIENTS, "coefficient"),
        ):
            for one in given:
                if one not in known:
                    raise SettingError(f"no {what} is called {one!r}", closest(one, known))

    def run(self, dataset: Dataset, progress: Progress | None = None) -> StudyResult:
        """Hold the scores of a data set against its ratings."""
        metrics, gold = self.grids(dataset)
        found: list[Correlated] = []
        if progress:
            progress.start(len(self.levels) * len(self.coefficients))
        for level in self._levels_of(metrics.layout):
            for coefficient in self.coefficients:
                found += self._correlated(dataset, metrics, gold, level, coefficient)
                if progress:
                    progress.advance(1)
        if progress:
            progress.finish()
        cautions = tuple(_cautions(dataset, metrics.layout, found))
        return StudyResult(self, dataset, metrics, gold, tuple(found), cautions)

    def grids(self, dataset: Dataset) -> tuple[Grid, Grid]:
        """Lay out scores and gold, both as the study wants them."""
        if not len(dataset.ratings):
            raise InputError(f"{dataset.name}: no human ratings", "name their columns with --gold")
        if not len(dataset.scores):
            raise InputError(f"{dataset.name}: no scores to hold against them", "score it first")
        without = () if self.references else dataset.card.reference_systems
        layout = Layout.of(dataset.stories, without)
        gold = Grid.of_gold(dataset.ratings, layout)
        gold = gold.only(_chosen(self.aspects, gold.columns, "aspect"))
        metrics = Grid.of(dataset.scores, layout)
        metrics = metrics.only(_chosen(self._patterns(dataset), metrics.columns, "scorer"))
        if self.sign == "oriented":
            metrics = metrics.oriented(self._lower(dataset))
        return metrics, gold

    def _patterns(self, dataset: Dataset) -> list[str]:
        """Names and patterns of the scorers, families spelled out."""
        found: list[str] = []
        for pattern in self.scorers:
            kind, _, family = pattern.partition(":")
            named = [name for name, card in dataset.scorers.items() if card.family == family]
            found += named if kind == "family" else [pattern]
        return found

    def _lower(self, dataset: Dataset) -> set[str]:
        declared = {name for name, card in dataset.scorers.items() if card.direction == "lower"}
        return declared | set(self.lower)

    def _levels_of(self, layout: Layout) -> list[Level]:
        """Levels that the stories allow: without several systems only pooled is left."""
        if layout.shape[1] > 1:
            return list(self.levels)
        return [level for level in self.levels if level == "pooled"] or ["pooled"]

    def _correlated(
        self, dataset: Dataset, metrics: Grid, gold: Grid, level: Level, coefficient: Coefficient
    ) -> list[Correlated]:
        how: dict[str, Any] = {"level": level, "coefficient": coefficient}
        found = correlate_grids(metrics, gold, settle=self.settle, **how)
        draws = resampled_correlations(
            metrics, gold, drawn=self.drawn, resamples=self.resamples, seed=self.seed, **how
        )
        trivial = [_card(dataset, one).family == "baseline" for one in metrics.columns]
        gain, gain_low, gain_high = gains_over(found.value, draws, np.array(trivial), self.alpha)
        value, low, high = self._signed(found.value, *percentile_ends(draws, self.alpha))
        ceilings = gold_ceilings(dataset.ratings, gold, **how) if self.ceilings else {}
        return [
            Correlated(
                _name(column, goal),
                goal.aspect,
                level,
                coefficient,
                float(value[i, j]),
                int(found.n[i, j]),
                int(found.undefined[i, j]),
                float(low[i, j]),
                float(high[i, j]),
                ceiling=ceilings.get(goal.aspect, math.nan),
                gain=float(gain[i, j]),
                gain_low=float(gain_low[i, j]),
                gain_high=float(gain_high[i, j]),
                family=_card(dataset, column).family,
                direction=_card(dataset, column).direction,
            )
            for i, column in enumerate(metrics.columns)
            for j, goal in enumerate(gold.columns)
            if _comparable(column, goal, gold.columns)
        ]

    def _signed(self, value: Values, low: Values, high: Values) -> tuple[Values, Values, Values]:
        if self.sign != "absolute":
            return value, low, high
        down = value < 0
        return np.abs(value), np.where(down, -high, low), np.where(down, -low, high)


def _chosen(patterns: Sequence[str], columns: Sequence[Column], what: str) -> list[Column]:
    """Columns whose scorer, aspect or label is named by a pattern; all without any."""
    if not patterns:
        return list(columns)
    chosen: dict[Column, None] = {}
    for pattern in patterns:
        found = [column for column in columns if _named(column, pattern, what)]
        if not found:
            known = [column.aspect if what == "aspect" else column.label for column in columns]
            raise UnknownName(f"no {what} is called {pattern!r}", closest(pattern, known))
        chosen.update(dict.fromkeys(found))
    return list(chosen)


def _named(column: Column, pattern: str, what: str) -> bool:
    names = [column.aspect] if what == "aspect" else [column.scorer, column.label]
    return any(name == pattern or fnmatch.fnmatchcase(name, pattern) for name in names)


def _card(dataset: Dataset, column: Column) -> ScorerCard:
    return dataset.scorers.get(column.scorer, ScorerCard("", "descriptive"))


def _name(column: Column, goal: Column) -> str:
    """Call a scorer that rates the gold's own aspects by its name alone."""
    return column.scorer if column.aspect == goal.aspect else column.label


def _comparable(column: Column, goal: Column, golds: Sequence[Column]) -> bool:
    """Whether to compare: a scorer that rates the gold's own aspects is held to the same one."""
    return column.aspect == goal.aspect or column.aspect not in {one.aspect for one in golds}


def _cautions(dataset: Dataset, layout: Layout, found: Sequence[Correlated]) -> list[str]:
    """Say plainly what the numbers cannot bear."""
    words = []
    units: Mapping[str, str] = {"item": "items", "system": "systems", "pooled": "stories"}
    for level, few in FEW.items():
        counts = [one.n for one in found if one.level == level]
        if counts and max(counts) < few:
            words.append(
                f"n is too small at the {level} level: {max(counts)} {units[level]}. Fewer than "
                f"{few} tell little; look at the intervals, not at the values."
            )
    if layout.shape[1] < 2:
        words.append("There are no systems to tell apart, so that only the pooled level is left.")
    unknown = sorted({one.metric for one in found if one.direction == "descriptive"})
    if unknown:
        words.append(f"{len(unknown)} of the metrics declare no direction; their sign is as it is.")
    if not dataset.card.raters_known:
        words.append("The raters are not known, only their ratings in the order they came.")
    return words
