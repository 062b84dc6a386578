"""A study: a declared question about scorers and gold, the file that declares it, what came out."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, SettingError, UnknownName, closest
from fabula.core.plain import from_plain, read_toml
from fabula.core.protocols import Progress, track
from fabula.core.story import count_text
from fabula.meta.bootstrap import Drawn, gains_over
from fabula.meta.coefficients import COEFFICIENTS, Coefficient
from fabula.meta.grid import Grid, GridColumn, Layout
from fabula.meta.levels import LEVELS, Level
from fabula.meta.measure import STATISTICS, Measuring, Sign, Statistic, drop_sign, measure
from fabula.meta.raters.ceiling import gold_ceilings
from fabula.meta.resampling import Estimates, percentile_interval
from fabula.meta.results import (
    PREFERENCE,
    MetricResult,
    asks_choices,
    list_cautions,
    list_choices,
    preference_results,
)

# A study of scorers beside ratings is run here; the other kinds have rooms of their own.
KINDS = ("ratings", "storyer", "storium")
_MOST_RESAMPLES = 1_000_000
# What a report shows of any data set; parts that need what it does not hold leave themselves out.
USUAL_PARTS = (
    "standing", "raters", "systems", "violins", "criteria", "correlations", "ranking",
    "between_metrics", "labels", "significance", "scatter",
)  # fmt: skip


@dataclass(frozen=True)
class StudyResult:
    """What a study found; the grids it looked at stand beside, for tables and pictures."""

    study: Study
    dataset: Dataset
    metrics: Grid
    gold: Grid
    correlations: tuple[MetricResult, ...]
    cautions: tuple[str, ...]

    def of(self, **wanted: str) -> list[MetricResult]:
        """Give the correlations with these fields: level, coefficient, aspect, metric."""
        return [
            result
            for result in self.correlations
            if all(getattr(result, name) == value for name, value in wanted.items())
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
        """Refuse levels and coefficients that do not exist, and numbers that will not do."""
        if not 1 <= self.resamples <= _MOST_RESAMPLES:
            remedy = f"give 1 to {_MOST_RESAMPLES:,}"
            raise SettingError(f"resamples={self.resamples} will not do", remedy)
        if self.seed < 0:
            raise SettingError(f"seed={self.seed} will not do", "give 0 or more")
        if not 0 <= self.alpha < 1:
            raise SettingError(f"alpha={self.alpha:g} will not do", "give a number from 0 to 1")
        for given, known, what in (
            (self.levels, LEVELS, "level"),
            (self.coefficients, STATISTICS, "coefficient"),
        ):
            for name in given:
                if name not in known:
                    raise SettingError(f"no {what} is called {name!r}", closest(name, known))

    def run(self, dataset: Dataset, progress: Progress | None = None) -> StudyResult:
        """Hold the scores of a data set against its ratings."""
        if asks_choices(dataset, self.aspects):
            return self._run_on_preferences(dataset)
        metrics, gold = self.grids(dataset)
        results: list[MetricResult] = []
        wanted = list(product(self.levels_of(metrics.layout), self.coefficients))
        for level, statistic in track(wanted, progress):
            results += self._measure(dataset, (metrics, gold), level, statistic)
        cautions = tuple(list_cautions(dataset, metrics.layout, results))
        return StudyResult(self, dataset, metrics, gold, tuple(results), cautions)

    def lay_out(self, dataset: Dataset) -> StudyResult:
        """Lay out the scores of stories that nobody rated: there is nothing to hold them against.

        No system is left out: none is compared with references that it wrote.
        """
        metrics = self.score_grid(dataset, Layout.of(dataset.stories))
        return StudyResult(self, dataset, metrics, Grid.of_gold((), metrics.layout), (), ())

    def _run_on_preferences(self, dataset: Dataset) -> StudyResult:
        """Hold the scores against the choices between pairs of stories, where these are all."""
        named = [choice for choice in list_choices(dataset, self.aspects) if not choice.is_tie]
        dataset = replace(dataset, preferences=tuple(named))
        if not named:
            raise InputError(f"{dataset.name}: nothing but ties", "no metric can be held to them")
        layout = Layout.of_single(dataset.stories)
        metrics = self.score_grid(dataset, layout)
        how = {"resamples": self.resamples, "seed": self.seed, "alpha": self.alpha}
        results = preference_results(dataset, metrics, **how)  # type: ignore[arg-type]
        gold = Grid(layout, (GridColumn("gold", PREFERENCE),), np.full((1, *layout.shape), np.nan))
        cautions = [
            f"Over {count_text(len(named), 'pair')}; chance is .50. A tie is half right, or wrong. "
            "Distance: by how much the better story's value is higher, in the metric's unit, and "
            "in standard deviations of its values."
        ]
        return StudyResult(self, dataset, metrics, gold, tuple(results), tuple(cautions))

    def grids(self, dataset: Dataset) -> tuple[Grid, Grid]:
        """Lay out scores and gold, both as the study wants them."""
        if not len(dataset.ratings):
            raise InputError(f"{dataset.name}: no human ratings", "name their columns with --gold")
        without = () if self.references else dataset.card.reference_systems
        layout = Layout.of(dataset.stories, without)
        gold = Grid.of_gold(dataset.ratings, layout)
        gold = gold.select(_choose_columns(self.aspects, gold.columns, "aspect"))
        return self.score_grid(dataset, layout), gold

    def score_grid(self, dataset: Dataset, layout: Layout) -> Grid:
        """Lay out the scores of the study's scorers, turned if it turns them."""
        if not len(dataset.scores):
            raise InputError(f"{dataset.name}: no scores to hold against them", "score it first")
        metrics = Grid.of(dataset.scores, layout)
        wanted = _choose_columns(self._patterns(dataset), metrics.columns, "scorer")
        if not self.scorers:  # a label is what is to be found, not what finds it
            wanted = [column for column in wanted if _card_of(dataset, column).family != "label"]
        metrics = metrics.select(wanted)
        return metrics.orient(self._lower(dataset)) if self.sign == "oriented" else metrics

    def _patterns(self, dataset: Dataset) -> list[str]:
        """Names and patterns of the scorers, families spelled out."""
        patterns: list[str] = []
        for pattern in self.scorers:
            kind, _, family = pattern.partition(":")
            named = [name for name, card in dataset.scorers.items() if card.family == family]
            patterns += named if kind == "family" else [pattern]
        return patterns

    def _lower(self, dataset: Dataset) -> set[str]:
        declared = {name for name, card in dataset.scorers.items() if card.direction == "lower"}
        return declared | set(self.lower)

    def levels_of(self, layout: Layout) -> list[Level]:
        """Give the levels that the stories allow: without several systems only pooled is left."""
        if layout.shape[1] > 1:
            return list(self.levels)
        return [level for level in self.levels if level == "pooled"] or ["pooled"]

    def _measure(
        self, dataset: Dataset, grids: tuple[Grid, Grid], level: Level, statistic: Statistic
    ) -> list[MetricResult]:
        metrics, gold = grids
        how = Measuring(
            self.drawn, self.resamples, self.seed, self.settle, self._control_of(dataset, metrics)
        )
        table, draws = measure(metrics, gold, level=level, statistic=statistic, how=how)
        trivial = [_card_of(dataset, column).family == "baseline" for column in metrics.columns]
        turned = np.where(table.value < 0, -1.0, 1.0) if self.sign == "absolute" else 1.0
        gains = gains_over(turned * table.value, turned * draws, np.array(trivial), self.alpha)
        values = drop_sign(table.value, *percentile_interval(draws, self.alpha), self.sign)
        estimates = Estimates(*values, table.n, table.undefined)
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
            MetricResult(
                _name_of(column, goal),
                goal.aspect,
                level,
                statistic,
                estimates[i, j],
                ceiling=ceilings.get(goal.aspect, math.nan),
                gain=gains[i, j],
                family=_card_of(dataset, column).family,
                direction=_card_of(dataset, column).direction,
            )
            for i, column in enumerate(metrics.columns)
            for j, goal in enumerate(gold.columns)
            if _is_comparable(column, goal, gold.columns)
        ]

    def _control_of(self, dataset: Dataset, metrics: Grid) -> Grid | None:
        """Lay out what is held constant, if anything is."""
        if not self.control:
            return None
        whole = Grid.of(dataset.scores, metrics.layout)
        return whole.select(_choose_columns([self.control], whole.columns, "scorer")[:1])


@dataclass(frozen=True)
class _PartOptions:
    """What a study file may say of a part: which metrics and stories it shows, with which words.

    `counts` are numbers of references.
    """

    metrics: tuple[str, ...] = ()
    item: str = ""
    systems: tuple[str, ...] = ()
    counts: tuple[int, ...] = ()
    note: str = ""
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyFile:
    """What a study file declares. `options` are the tables of single parts, by part.

    `dataset` is a name, or a path, as seen from the file where it begins with a dot; `report` is
    the folder beside the file for a report where no other is named. `metrics` are run over the
    stories, by the name of their column: a spec, or a spec for each gold aspect. Of a large data
    set so many `items` are taken; `human` names the system as which the first reference of every
    item is told. `paper` is the one whose figures stand beside.
    """

    title: str
    dataset: str
    about: tuple[str, ...] = ()
    report: str = ""
    parts: tuple[str, ...] = USUAL_PARTS
    metrics: Mapping[str, Any] = field(default_factory=dict)
    items: int = 0
    human: str = ""
    paper: Literal["", "hanna", "rovist"] = ""
    printed: str = ""
    selection: tuple[str, ...] = ()
    study: Study = field(default_factory=Study)
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def study_kind(path: Path) -> str:
    """Name the kind of a study file: "ratings" unless it says otherwise."""
    kind = read_toml(path).get("kind", KINDS[0])
    if kind not in KINDS:
        raise InputError(f"{path}: no study is of kind {kind!r}", closest(str(kind), KINDS))
    return str(kind)


def read_study(path: Path) -> StudyFile:
    """Read a study of scorers beside ratings; a name that means nothing is an error."""
    plain = {name: value for name, value in read_toml(path).items() if name != "kind"}
    known = {declared_field.name for declared_field in fields(StudyFile)} - {"options"}
    tables = {
        name: value
        for name, value in plain.items()
        if isinstance(value, Mapping) and name not in known - {"selection"}
    }
    for name, table in tables.items():
        from_plain(_PartOptions, table, f"{path}: [{name}]", error=InputError)
    declared = {name: value for name, value in plain.items() if name not in tables}
    if (selection := tables.pop("selection", None)) is not None:
        declared["selection"] = selection.get("metrics", [])
    if str(declared.get("dataset", "")).startswith("."):
        declared["dataset"] = str(path.parent / declared["dataset"])
    return from_plain(StudyFile, {**declared, "options": tables}, str(path), error=InputError)


def _choose_columns(
    patterns: Sequence[str], columns: Sequence[GridColumn], what: str
) -> list[GridColumn]:
    """Columns whose scorer, aspect or label is named by a pattern; all without any."""
    if not patterns:
        return list(columns)
    chosen: dict[GridColumn, None] = {}
    for pattern in patterns:
        named = [column for column in columns if _is_named(column, pattern, what)]
        if not named:
            known = [column.aspect if what == "aspect" else column.label for column in columns]
            raise UnknownName(f"no {what} is called {pattern!r}", closest(pattern, known))
        chosen.update(dict.fromkeys(named))
    return list(chosen)


def _is_named(column: GridColumn, pattern: str, what: str) -> bool:
    names = [column.aspect] if what == "aspect" else [column.scorer, column.label]
    return any(name == pattern or fnmatch.fnmatchcase(name, pattern) for name in names)


def _card_of(dataset: Dataset, column: GridColumn) -> ScorerCard:
    return dataset.scorers.get(column.scorer, ScorerCard("", "descriptive"))


def _name_of(column: GridColumn, goal: GridColumn) -> str:
    """Call a scorer that rates the gold's own aspects by its name alone."""
    return column.scorer if column.aspect == goal.aspect else column.label


def _is_comparable(column: GridColumn, goal: GridColumn, golds: Sequence[GridColumn]) -> bool:
    """Whether to compare: a scorer that rates the gold's own aspects is held to the same one."""
    return column.aspect == goal.aspect or column.aspect not in {gold.aspect for gold in golds}
