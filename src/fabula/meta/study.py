"""A study: a declared question about scorers and gold, and what came out."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, cast

import numpy as np

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, SettingError, UnknownName, closest
from fabula.core.protocols import Progress, track
from fabula.meta.arrays import Values
from fabula.meta.bootstrap import Drawn
from fabula.meta.coefficients import COEFFICIENTS, Coefficient
from fabula.meta.correlated import Correlated, cautions_of
from fabula.meta.gains import gains_over
from fabula.meta.grid import Column, Grid, Layout
from fabula.meta.levels import LEVELS, Level
from fabula.meta.measure import STATISTICS, Measuring, Sign, Statistic, measure, signed
from fabula.meta.preferred import ASPECT, preference_accuracies
from fabula.meta.raters.gold_ceiling import gold_ceilings
from fabula.meta.resampling import percentile_interval


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
    stands for the scorers of a family. `sign` turns coefficients of scorers for which lower is
    better (`oriented`), leaves them (`raw`) or drops the sign after averaging (`absolute`, as HANNA
    prints them). The stories of the data set's reference systems are left out unless `references`
    is true. `settle` takes means of systems that are equal to 12 digits for ties. `control` names
    a scorer that is held constant, such as `words`: the correlations are then partial ones.
    """

    scorers: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    levels: tuple[Level, ...] = LEVELS
    coefficients: tuple[Statistic, ...] = ("pearson", "spearman", "kendall")
    sign: Sign = "oriented"
    references: bool = False
    settle: bool = False
    drawn: Drawn = "items"
    resamples: int = 1000
    seed: int = 0
    alpha: float = 0.05
    ceilings: bool = True
    control: str = ""
    lower: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse levels and coefficients that do not exist."""
        for given, known, what in (
            (self.levels, LEVELS, "level"),
            (self.coefficients, STATISTICS, "coefficient"),
        ):
            for one in given:
                if one not in known:
                    raise SettingError(f"no {what} is called {one!r}", closest(one, known))

    def run(self, dataset: Dataset, progress: Progress | None = None) -> StudyResult:
        """Hold the scores of a data set against its ratings."""
        if dataset.preferences and not len(dataset.ratings):
            return self._preferred(dataset)
        metrics, gold = self.grids(dataset)
        found: list[Correlated] = []
        wanted = list(product(self._levels_of(metrics.layout), self.coefficients))
        for level, statistic in track(wanted, progress):
            found += self._correlated(dataset, (metrics, gold), level, statistic)
        cautions = tuple(cautions_of(dataset, metrics.layout, found))
        return StudyResult(self, dataset, metrics, gold, tuple(found), cautions)

    def _preferred(self, dataset: Dataset) -> StudyResult:
        """Hold the scores against the choices between pairs of stories, where these are all."""
        layout = Layout.of_single(dataset.stories)
        metrics = self._scores(dataset, layout)
        how = {"resamples": self.resamples, "seed": self.seed, "alpha": self.alpha}
        found = preference_accuracies(dataset, metrics, **how)  # type: ignore[arg-type]
        gold = Grid(layout, (Column("gold", ASPECT),), np.full((1, *layout.shape), np.nan))
        cautions = [f"Accuracy on {len(dataset.preferences):,} pairs; chance is .50."]
        return StudyResult(self, dataset, metrics, gold, tuple(found), tuple(cautions))

    def grids(self, dataset: Dataset) -> tuple[Grid, Grid]:
        """Lay out scores and gold, both as the study wants them."""
        if not len(dataset.ratings):
            raise InputError(f"{dataset.name}: no human ratings", "name their columns with --gold")
        without = () if self.references else dataset.card.reference_systems
        layout = Layout.of(dataset.stories, without)
        gold = Grid.of_gold(dataset.ratings, layout)
        gold = gold.only(_chosen(self.aspects, gold.columns, "aspect"))
        return self._scores(dataset, layout), gold

    def _scores(self, dataset: Dataset, layout: Layout) -> Grid:
        if not len(dataset.scores):
            raise InputError(f"{dataset.name}: no scores to hold against them", "score it first")
        metrics = Grid.of(dataset.scores, layout)
        wanted = _chosen(self._patterns(dataset), metrics.columns, "scorer")
        if not self.scorers:  # a label is what is to be found, not what finds it
            wanted = [one for one in wanted if _card(dataset, one).family != "label"]
        metrics = metrics.only(wanted)
        return metrics.oriented(self._lower(dataset)) if self.sign == "oriented" else metrics

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
        self, dataset: Dataset, grids: tuple[Grid, Grid], level: Level, statistic: Statistic
    ) -> list[Correlated]:
        metrics, gold = grids
        how = Measuring(
            self.drawn, self.resamples, self.seed, self.settle, self._controlled(dataset, metrics)
        )
        found, draws = measure(metrics, gold, level=level, statistic=statistic, how=how)
        trivial = [_card(dataset, one).family == "baseline" for one in metrics.columns]
        turned = np.where(found.value < 0, -1.0, 1.0) if self.sign == "absolute" else 1.0
        gains = gains_over(turned * found.value, turned * draws, np.array(trivial), self.alpha)
        values = signed(found.value, *percentile_interval(draws, self.alpha), self.sign)
        ceilings: dict[str, float] = {}
        if self.ceilings and statistic in COEFFICIENTS and not self.control:
            ceilings = gold_ceilings(
                dataset.ratings,
                gold,
                level=level,
                coefficient=cast(Coefficient, statistic),
                raters_known=dataset.card.raters_known,
            )
        return [
            Correlated(
                _name(column, goal),
                goal.aspect,
                level,
                statistic,
                n=int(found.n[i, j]),
                undefined=int(found.undefined[i, j]),
                ceiling=ceilings.get(goal.aspect, math.nan),
                family=_card(dataset, column).family,
                direction=_card(dataset, column).direction,
                **_numbers(("value", "low", "high"), values, i, j),
                **_numbers(("gain", "gain_low", "gain_high"), gains, i, j),
            )
            for i, column in enumerate(metrics.columns)
            for j, goal in enumerate(gold.columns)
            if _comparable(column, goal, gold.columns)
        ]

    def _controlled(self, dataset: Dataset, metrics: Grid) -> Grid | None:
        """Lay out what is held constant, if anything is."""
        if not self.control:
            return None
        whole = Grid.of(dataset.scores, metrics.layout)
        return whole.only(_chosen([self.control], whole.columns, "scorer")[:1])


def _numbers(names: Sequence[str], tables: Sequence[Values], i: int, j: int) -> dict[str, Any]:
    return {name: float(table[i, j]) for name, table in zip(names, tables, strict=True)}


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
