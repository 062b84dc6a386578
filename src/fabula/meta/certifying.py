"""Certifying: a judge's scores held against people's ratings, beside rivals on the same stories."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from fabula.core.dataset import Dataset, ScorerCard
from fabula.core.errors import InputError, UnknownName, closest
from fabula.core.protocols import Progress, track
from fabula.core.story import count_text
from fabula.meta.arrays import Flags, Values
from fabula.meta.certificate import Agreement, Figure, Rival, RivalKind, figure_of
from fabula.meta.coefficients import Coefficient
from fabula.meta.grid import Grid, GridColumn
from fabula.meta.levels import Level, correlate_grids
from fabula.meta.measure import Measuring, measure
from fabula.meta.raters.ceiling import gold_ceilings
from fabula.meta.resampling import Estimates, percentile_interval
from fabula.meta.results import FEW
from fabula.meta.study import Study

# Which scorers of a data set are rivals of a judge; other judges are none.
_KINDS: Mapping[str, RivalKind] = {
    "baseline": "baseline",
    "string": "column",
    "embedding": "column",
    "model": "column",
    "learned": "reader",
}
_UNITS: Mapping[Level, str] = {"item": "items", "system": "systems", "pooled": "stories"}


@dataclass(frozen=True)
class _Line:
    """One criterion: the judge's column first, its rivals after it, and the gold's one column."""

    aspect: str
    metrics: Grid
    gold: Grid


def certify_scores(
    judge: str, dataset: Dataset, study: Study, progress: Progress | None = None
) -> tuple[Agreement, ...]:
    """Hold the scores of one scorer of a data set against its ratings, criterion by criterion.

    Rivals see the stories that the judge has a value of, and no others. A judge with one value a
    story is held against every criterion.
    """
    dataset = keep_answered(dataset, judge)
    metrics, gold = replace(study, scorers=()).grids(dataset)
    lines = list(_list_lines(judge, dataset, metrics, gold))
    if not lines:
        rated = ", ".join(column.aspect or "gold" for column in gold.columns)
        raise InputError(
            f"{judge} rates nothing that {dataset.name} has ratings of", f"it: {rated}"
        )
    wanted = [
        (line, level, coefficient)
        for level in study.levels_of(metrics.layout)
        for coefficient in cast(Sequence[Coefficient], study.coefficients)
        for line in lines
    ]
    return tuple(
        _measure(judge, dataset, study, line, level, coefficient)
        for line, level, coefficient in track(wanted, progress)
    )


def keep_answered(dataset: Dataset, judge: str) -> Dataset:
    """Leave out the stories of which a judge says nothing at all."""
    scores = [score for score in dataset.scores if score.scorer == judge]
    if not scores:
        known = dataset.scores.scorers
        raise UnknownName(f"{dataset.name} has no scores of {judge!r}", closest(judge, known))
    answered = {score.story for score in scores if score.ok}
    stories = tuple(story for story in dataset.stories if story.id in answered)
    if not stories:
        why = next((score.note or str(score.status) for score in scores), "")
        raise InputError(f"{judge} has no value of any story", why or "score some first")
    return replace(dataset, stories=stories)


def list_certificate_cautions(agreements: Sequence[Agreement], dataset: Dataset) -> list[str]:
    """Say plainly what the figures cannot bear."""
    words = []
    for level, few in FEW.items():
        counts = [one.n for one in agreements if one.level == level]
        if counts and max(counts) < few:
            unit = _UNITS[cast(Level, level)]
            words.append(
                f"{level} level: {count_text(max(counts), unit.removesuffix('s'), unit)}; fewer "
                f"than {few} tell little."
            )
    if not dataset.card.raters_known:
        words.append(
            "The raters are not known, only their ratings in the order they came: the noise "
            "ceilings are too low, and a judge may lie above."
        )
    if all(one.rival("baseline") is None for one in agreements):
        words.append("No trivial baselines: the texts are not at hand, and no verdict can be had.")
    return words


def _list_lines(judge: str, dataset: Dataset, metrics: Grid, gold: Grid) -> Iterator[_Line]:
    own = [column for column in metrics.columns if column.scorer == judge]
    kinds = [_kind_of(dataset, column, judge) for column in metrics.columns]
    golds = {column.aspect for column in gold.columns}
    for goal in gold.columns:
        judged = [column for column in own if column.aspect == goal.aspect]
        if not judged and len(own) == 1 and own[0].aspect not in golds:
            judged = own
        if not judged:
            continue
        rivals = [
            column
            for column, kind in zip(metrics.columns, kinds, strict=True)
            if kind and (column.aspect == goal.aspect or column.aspect not in golds)
        ]
        chosen, target = metrics.select([judged[0], *rivals]), gold.select([goal])
        # A rival that also saw what the judge could not read would be compared on other stories.
        there = ~np.isnan(chosen.values[0])
        if there.any():
            yield _Line(goal.aspect, _keep_cells(chosen, there), _keep_cells(target, there))


def _keep_cells(grid: Grid, there: Flags) -> Grid:
    return Grid(grid.layout, grid.columns, np.where(there, grid.values, np.nan))


def _kind_of(dataset: Dataset, column: GridColumn, judge: str) -> RivalKind | None:
    return None if column.scorer == judge else _KINDS.get(_card_of(dataset, column).family)


def _card_of(dataset: Dataset, column: GridColumn) -> ScorerCard:
    return dataset.scorers.get(column.scorer, ScorerCard("", "descriptive"))


def _measure(
    judge: str, dataset: Dataset, study: Study, line: _Line, level: Level, coefficient: Coefficient
) -> Agreement:
    rivals = _choose_rivals(judge, dataset, line, level, coefficient)
    # Only what is shown is drawn again: the strongest of 72 columns is known without.
    grid = line.metrics.select([line.metrics.columns[0], *(rival.column for rival in rivals)])
    how = Measuring(study.drawn, study.resamples, study.seed, study.settle)
    table, draws = measure(grid, line.gold, level=level, statistic=coefficient, how=how)
    low, high = percentile_interval(draws, study.alpha)
    found = Estimates(table.value, low, high, table.n, table.undefined)
    return Agreement(
        line.aspect,
        level,
        coefficient,
        Figure.of(found[0, 0]),
        int(table.n[0, 0]),
        int(table.undefined[0, 0]),
        _find_ceiling(dataset, line.gold, level, coefficient, with_ceiling=study.ceilings),
        tuple(
            Rival(
                rival.kind,
                rival.column.scorer,
                Figure.of(found[place, 0]),
                _estimate_gain(found.value[:, 0], draws[:, :, 0], place, rival.sign, study.alpha),
            )
            for place, rival in enumerate(rivals, 1)
        ),
    )


@dataclass(frozen=True)
class _Chosen:
    """A rival's column; `sign` is -1 where it is strongest the other way round."""

    kind: RivalKind
    column: GridColumn
    sign: float


def _choose_rivals(
    judge: str, dataset: Dataset, line: _Line, level: Level, coefficient: Coefficient
) -> list[_Chosen]:
    """Choose the strongest rival of each kind by its value on these stories.

    A baseline, and whatever declares no direction, is taken the way round that suits it.
    """
    table = correlate_grids(line.metrics, line.gold, level=level, coefficient=coefficient)
    best: dict[RivalKind, tuple[float, _Chosen]] = {}
    for column, value in zip(line.metrics.columns, table.value[:, 0].tolist(), strict=True):
        kind, card = _kind_of(dataset, column, judge), _card_of(dataset, column)
        if kind is None or math.isnan(value):
            continue
        turns = value < 0 and (kind == "baseline" or card.direction == "descriptive")
        merit = -value if turns else value
        if kind not in best or merit > best[kind][0]:
            best[kind] = merit, _Chosen(kind, column, -1.0 if turns else 1.0)
    return [best[kind][1] for kind in dict.fromkeys(_KINDS.values()) if kind in best]


def _estimate_gain(value: Values, draws: Values, place: int, sign: float, alpha: float) -> Figure:
    """Give how much more the judge, the first column, agrees than another, by the same draws."""
    low, high = percentile_interval(draws[:, 0] - sign * draws[:, place], alpha)
    return figure_of(float(value[0] - sign * value[place]), float(low), float(high))


def _find_ceiling(
    dataset: Dataset, gold: Grid, level: Level, coefficient: Coefficient, *, with_ceiling: bool
) -> float | None:
    if not with_ceiling:
        return None
    known = dataset.card.raters_known
    ceilings = gold_ceilings(
        dataset.ratings, gold, level=level, coefficient=coefficient, raters_known=known
    )
    return figure_of(ceilings.get(gold.columns[0].aspect, math.nan)).value
