"""Systems by their ratings: means with Student's t intervals, and clusters of what is alike."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np

from fabula.core.protocols import Progress, track
from fabula.core.table import ScoreTable
from fabula.meta.arrays import Values
from fabula.meta.distributions import t_reach
from fabula.meta.resampling import Estimate
from fabula.meta.significance.sign_flips import holm, sign_flip_p

Over = Literal["ratings", "items"]
AVERAGE = "average"
Ranks = np.ndarray[Any, np.dtype[np.int64]]
Apart = np.ndarray[Any, np.dtype[np.bool_]]


def system_means(
    ratings: ScoreTable,
    *,
    over: Over = "ratings",
    alpha: float = 0.05,
    without: Collection[str] = (),
    average: bool = False,
) -> dict[tuple[str, str], Estimate]:
    """Estimate the mean of every system and aspect, in the order of the table.

    The interval is Student's t. Over `ratings` each rating counts by itself, as in HANNA's Table
    4: it is too short where raters agree. Over `items` the ratings of a story are averaged first.
    `average` adds the mean of all aspects, over raters (or stories) who have all of them.
    """
    systems = {story.id: story.system or "" for story in ratings.stories}
    aspects = list(dict.fromkeys(score.aspect for score in ratings))
    gathered: dict[tuple[str, str], list[float]] = {}
    for story, values in _group_ratings(ratings, over):
        if systems[story] in without:
            continue
        for aspect in aspects:
            gathered.setdefault((systems[story], aspect), []).append(values.get(aspect, math.nan))
        if average:
            whole = [values.get(aspect, math.nan) for aspect in aspects]
            gathered.setdefault((systems[story], AVERAGE), []).append(float(np.mean(whole)))
    return {key: _estimate_mean(np.array(values), alpha) for key, values in gathered.items()}


def _group_ratings(ratings: ScoreTable, over: Over) -> list[tuple[str, dict[str, float]]]:
    """Group the ratings into units that count once: what a rater said of a story, or a story."""
    units: dict[tuple[str, str], dict[str, list[float]]] = {}
    for score in ratings:
        unit = (score.story, score.scorer if over == "ratings" else "")
        values = units.setdefault(unit, {}).setdefault(score.aspect, [])
        if score.ok:
            values.append(score.value)
    return [
        (story, {aspect: float(np.mean(given)) for aspect, given in by_aspect.items() if given})
        for (story, _), by_aspect in units.items()
    ]


def _estimate_mean(values: Values, alpha: float) -> Estimate:
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else math.nan
    reach = t_reach(known, alpha)
    return Estimate(mean, mean - reach, mean + reach, len(known), len(values) - len(known))


def tell_apart(
    differences: Values,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    alpha: float = 0.05,
    progress: Progress | None = None,
) -> Apart:
    """Say of every two systems whether they differ: (pairs, items) to (systems, systems).

    The pairs are those of `numpy.triu_indices`. Sign-flip tests on the items that both systems
    have, Holm-corrected for all pairs; with fewer than two such items they are not told apart.
    """
    systems = round((1 + math.sqrt(1 + 8 * len(differences))) / 2)
    p = np.full(len(differences), np.nan)
    for place, row in enumerate(track(differences, progress)):
        known = row[~np.isnan(row)]
        if len(known) > 1:
            p[place] = sign_flip_p(known, resamples=resamples, seed=seed)
    differ = np.zeros((systems, systems), dtype=bool)
    first, second = np.triu_indices(systems, 1)
    differ[first, second] = differ[second, first] = holm(p) <= alpha
    return differ


def system_clusters(order: Sequence[int], told_apart: Apart) -> list[int]:
    """Number the clusters of ranked systems from 1, as they stand in the order given.

    A new cluster begins where every system above is told apart from every system below, which is
    the rule of the WMT campaigns. Some systems of a cluster may be told apart from each other.
    """
    numbers, number = [], 1
    for place in range(len(order)):
        if place and told_apart[np.ix_(order[:place], order[place:])].all():
            number += 1
        numbers.append(number)
    return numbers


def place_ranges(ranks: Ranks, told_apart: Apart) -> tuple[Ranks, Ranks]:
    """Best and worst place that each system may have.

    It comes after all systems of better rank that it is told apart from, and before all such of
    worse rank.
    """
    better = told_apart & (ranks[None, :] < ranks[:, None])
    worse = told_apart & (ranks[None, :] > ranks[:, None])
    return 1 + better.sum(1), len(ranks) - worse.sum(1)
