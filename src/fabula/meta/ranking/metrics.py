"""Metrics ranked by how far they agree with people: over aspects, coefficients and levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from fabula.core.card import Direction
from fabula.core.dataset import ScorerCard
from fabula.core.errors import InputError
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid, GridColumn
from fabula.meta.levels import Level, correlation_table
from fabula.meta.ranking.aggregation import Kemeny, borda, kemeny, mean_strength, rank_places

MetricRule = Literal["borda", "kemeny", "mean"]
RANKED_BY: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
_UNKNOWN = ScorerCard("", "descriptive")


@dataclass(frozen=True)
class RankedMetric:
    """A metric's place, and the mean of its absolute correlations, by level and together.

    `first` and `last` are its best and worst place in the rankings that are as good (Kemeny).
    `undefined` counts columns without a value. A metric goes `against` its declared direction
    where its mean correlation, turned that way, is negative.
    """

    rank: int
    metric: str
    family: str
    direction: Direction
    points: float
    mean: float
    by_level: Mapping[Level, float]
    undefined: int
    against: bool
    first: int
    last: int


@dataclass(frozen=True)
class MetricRanking:
    """Metrics from best to worst, by which rule, over which columns of correlations."""

    rule: MetricRule
    levels: tuple[Level, ...]
    aspects: tuple[str, ...]
    lines: tuple[RankedMetric, ...]
    optimum: Kemeny | None = None

    @property
    def columns(self) -> int:
        """How many columns of correlations the ranking is made of."""
        return len(self.levels) * len(RANKED_BY) * len(self.aspects)


def rank_metrics(
    metrics: Grid,
    gold: Grid,
    *,
    by: MetricRule = "borda",
    levels: Sequence[Level] = ("item", "system"),
    cards: Mapping[str, ScorerCard] | None = None,
) -> MetricRanking:
    """Rank the columns of a grid, turned so that more is better, by their absolute correlations.

    A scorer that rates the aspects of the gold is one metric: each is held against its own.
    """
    if not metrics.columns:
        raise InputError("there are no metrics to rank", "score the stories first")
    tables = {level: _level_table(metrics, gold, level) for level in levels}
    whole = np.concatenate(list(tables.values()), axis=1)  # (metrics, levels × 3 × aspects)
    optimum = kemeny(whole) if by == "kemeny" else None
    columns = list(_group_columns(metrics.columns, gold.columns))
    lines = _make_lines(columns, tables, _rank(whole, by, optimum), optimum, cards or {})
    aspects = tuple(column.aspect for column in gold.columns)
    return MetricRanking(by, tuple(levels), aspects, tuple(lines), optimum)


def _make_lines(
    columns: Sequence[GridColumn],
    tables: Mapping[Level, Values],
    ranked: tuple[Values, Values],
    optimum: Kemeny | None,
    cards: Mapping[str, ScorerCard],
) -> list[RankedMetric]:
    points, ranks = ranked
    whole = np.concatenate(list(tables.values()), axis=1)
    means, by_level = mean_strength(whole), {key: mean_strength(tables[key]) for key in tables}
    lines = []
    for place, column in enumerate(columns):
        card, rank = cards.get(column.scorer, _UNKNOWN), int(ranks[place])
        lines.append(
            RankedMetric(
                rank,
                column.label,
                card.family,
                card.direction,
                float(points[place]),
                float(means[place]),
                {level: float(strengths[place]) for level, strengths in by_level.items()},
                int(np.isnan(whole[place]).sum()),
                _goes_against(whole[place], card),
                optimum.first[place] if optimum else rank,
                optimum.last[place] if optimum else rank,
            )
        )
    return sorted(lines, key=lambda line: line.rank)


def _rank(whole: Values, by: MetricRule, optimum: Kemeny | None) -> tuple[Values, Values]:
    if optimum:
        ranks = np.empty(len(whole))
        ranks[list(optimum.order)] = np.arange(1, len(whole) + 1)
        return np.full(len(whole), np.nan), ranks
    points = borda(whole) if by == "borda" else mean_strength(whole)
    return points, rank_places(points).astype(np.float64)


def _level_table(metrics: Grid, gold: Grid, level: Level) -> Values:
    """Correlations of metrics at one level: (metrics, coefficients × aspects)."""
    tables = [
        _merge_aspects(
            correlation_table(metrics, gold, level=level, coefficient=coefficient), metrics, gold
        )
        for coefficient in RANKED_BY
    ]
    return np.concatenate(tables, axis=1)


def _group_columns(
    columns: Sequence[GridColumn], golds: Sequence[GridColumn]
) -> dict[GridColumn, list[int]]:
    """Columns that are one metric: those of a scorer on aspects of the gold, else each alone."""
    aspects = {gold.aspect for gold in golds if gold.aspect}
    groups: dict[GridColumn, list[int]] = {}
    for place, column in enumerate(columns):
        key = GridColumn(column.scorer) if column.aspect in aspects else column
        groups.setdefault(key, []).append(place)
    return groups


def _merge_aspects(table: Values, metrics: Grid, gold: Grid) -> Values:
    """Make one row of the columns of a scorer that rates the gold's aspects, each with its own."""
    groups = _group_columns(metrics.columns, gold.columns)
    merged = np.full((len(groups), len(gold.columns)), np.nan)
    for row, (key, members) in enumerate(groups.items()):
        for place in members:
            aspect = metrics.columns[place].aspect
            own = [aspect in (key.aspect, goal.aspect) for goal in gold.columns]
            merged[row, own] = table[place, own]
    return merged


def _goes_against(correlations: Values, card: ScorerCard) -> bool:
    known = correlations[~np.isnan(correlations)]
    return card.direction != "descriptive" and bool(len(known) and known.mean() < 0)
