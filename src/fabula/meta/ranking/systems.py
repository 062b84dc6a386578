"""Systems ranked by what people said of them, with intervals and clusters of what is alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UnknownName, closest
from fabula.core.protocols import Progress
from fabula.core.table import ScoreTable
from fabula.meta.arrays import Values
from fabula.meta.grid import Grid, Layout
from fabula.meta.ranking.aggregation import rank_places
from fabula.meta.ranking.means import (
    AVERAGE,
    Apart,
    Over,
    place_ranges,
    system_clusters,
    system_means,
    tell_apart,
)
from fabula.meta.ranking.preferences import (
    Choices,
    average_win_rate,
    bradley_terry,
    choose_by_preferences,
    choose_by_values,
    elo,
    strength_intervals,
)
from fabula.meta.resampling import Estimate, Estimates
from fabula.meta.results import asks_choices, list_choices

SystemRule = Literal["mean", "win_rate", "bradley_terry", "elo"]
_ORDERS = 100
_BY_STRENGTH = "rank by win_rate, bradley_terry or elo"
_STRENGTHS: Mapping[str, Callable[[Choices], Values]] = {
    "win_rate": average_win_rate,
    "bradley_terry": bradley_terry,
    "elo": elo,
}


@dataclass(frozen=True)
class RankedSystem:
    """A system's place and value with its interval.

    `first` and `last` are the places that it may have, given whom it is told apart from; a new
    `cluster` begins where all systems above are told apart from all below. The estimate rests on
    so many ratings, stories or choices.
    """

    rank: int
    first: int
    last: int
    cluster: int
    system: str
    estimate: Estimate

    def row(self) -> dict[str, Any]:
        """Give a flat row."""
        return {
            "rank": self.rank,
            "first": self.first,
            "last": self.last,
            "cluster": self.cluster,
            "system": self.system,
            "value": self.estimate.value,
            "low": self.estimate.low,
            "high": self.estimate.high,
            "count": self.estimate.n,
            "left_out": self.estimate.undefined,
        }


@dataclass(frozen=True)
class SystemRanking:
    """Systems from best to worst: by which rule, on which aspect, from ratings or preferences."""

    rule: SystemRule
    aspect: str
    source: Literal["ratings", "preferences"]
    over: Over
    items: int
    lines: tuple[RankedSystem, ...]


@dataclass(frozen=True)
class Resampling:
    """How many resamples, from which seed, at which level."""

    resamples: int = 1000
    seed: int = 0
    alpha: float = 0.05


def rank_systems(
    dataset: Dataset,
    *,
    by: SystemRule = "mean",
    aspects: tuple[str, ...] = (),
    over: Over = "items",
    how: Resampling | None = None,
    progress: Progress | None = None,
) -> SystemRanking:
    """Rank the systems of a data set on an aspect, or on the mean of several (all without any).

    Means have Student's t intervals (`over` items or ratings); strengths have bootstrap intervals
    over items, and come from the preferences of a data set without ratings, or from those that
    `aspects` name.
    """
    how = how or Resampling()
    if not len(dataset.ratings) or asks_choices(dataset, aspects):
        return _rank_by_preferences(dataset, by, aspects, over, how, progress)
    aspects = _choose_aspects(aspects, dataset.ratings)
    name = aspects[0] if len(aspects) == 1 else AVERAGE
    kept = [score for score in dataset.ratings if score.aspect in aspects]
    ratings = ScoreTable(dataset.ratings.stories, kept)
    layout = Layout.of(dataset.stories)
    values = Grid.of_gold(ratings, layout).values.mean(axis=0)  # (items, systems)
    if by == "mean":
        lines = _rank_by_mean(ratings, name, layout, over, how, values, progress)
    else:
        choices = choose_by_values(values, layout.systems, layout.items)
        lines = _rank_by_choices(choices, by, how, progress)
    return SystemRanking(by, name, "ratings", over, len(layout.items), lines)


def _rank_by_preferences(
    dataset: Dataset,
    by: SystemRule,
    aspects: tuple[str, ...],
    over: Over,
    how: Resampling,
    progress: Progress | None,
) -> SystemRanking:
    if by == "mean":
        asked = f" on {', '.join(aspects)}" if aspects else ""
        raise InputError(f"{dataset.name} has no ratings{asked}", _BY_STRENGTH)
    choices = choose_by_preferences(list_choices(dataset, aspects), dataset.stories)
    lines = _rank_by_choices(choices, by, how, progress)
    return SystemRanking(by, ", ".join(aspects), "preferences", over, len(choices.items), lines)


def _rank_by_mean(
    ratings: ScoreTable,
    aspect: str,
    layout: Layout,
    over: Over,
    how: Resampling,
    values: Values,
    progress: Progress | None,
) -> tuple[RankedSystem, ...]:
    means = system_means(ratings, over=over, alpha=how.alpha, average=aspect == AVERAGE)
    first, second = np.triu_indices(len(layout.systems), 1)
    told = tell_apart(
        (values[:, first] - values[:, second]).T, **_test_options(how), progress=progress
    )
    rated = {system for system, _ in means}
    known = [place for place, name in enumerate(layout.systems) if name in rated]
    systems = [layout.systems[place] for place in known]
    estimates = [means[system, aspect] for system in systems]
    return _put_in_order(systems, estimates, told[np.ix_(known, known)])


def _rank_by_choices(
    choices: Choices, by: SystemRule, how: Resampling, progress: Progress | None
) -> tuple[RankedSystem, ...]:
    if not len(choices):
        raise InputError("no two systems have a story for the same item", "rank by mean")
    strength = _STRENGTHS[by]
    values = elo(choices, orders=_ORDERS, seed=how.seed) if by == "elo" else strength(choices)
    if by == "bradley_terry" and np.isnan(values).all():
        raise InputError(
            "Bradley–Terry strengths do not exist: some systems never win against the others",
            "rank by win_rate",
        )
    low, high = strength_intervals(
        choices, strength, resamples=how.resamples, seed=how.seed, alpha=how.alpha,
        progress=progress,
    )  # fmt: skip
    counts = (choices.wins + choices.wins.T).sum(1).astype(np.int64)
    estimates = Estimates(values, low, high, counts, np.zeros_like(counts))
    told = tell_apart(choices.net_wins(), **_test_options(how))
    systems = list(choices.systems)
    return _put_in_order(systems, [estimates[place] for place in range(len(systems))], told)


def _put_in_order(
    systems: Sequence[str], estimates: Sequence[Estimate], told_apart: Apart
) -> tuple[RankedSystem, ...]:
    """Put systems in order, number their places and find the clusters."""
    ranks = rank_places(np.array([estimate.value for estimate in estimates]))
    order = [int(place) for place in np.argsort(ranks, kind="stable")]
    first, last = place_ranges(ranks, told_apart)
    return tuple(
        RankedSystem(
            int(ranks[place]),
            int(first[place]),
            int(last[place]),
            cluster,
            systems[place],
            estimates[place],
        )
        for place, cluster in zip(order, system_clusters(order, told_apart), strict=True)
    )


def _test_options(how: Resampling) -> dict[str, Any]:
    # Holm's correction asks for small p, which 1,000 flips cannot give.
    return {"resamples": max(10_000, how.resamples), "seed": how.seed, "alpha": how.alpha}


def _choose_aspects(given: tuple[str, ...], ratings: ScoreTable) -> tuple[str, ...]:
    known = tuple(dict.fromkeys(score.aspect for score in ratings))
    for name in given:
        if name not in known:
            raise UnknownName(f"no aspect is called {name!r}", closest(name, known))
    return given or known
