"""How far raters agree where each chooses what to speak of: a few aspects out of many.

StoryER's raters chose three to five of ten aspects of a story and rated those. Its figures: which
share of the chosen aspects was chosen by more than one rater, and how the ratings of those
correlate. Here both stand with intervals over stories, and beside the share what chance would give.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from fabula.core.score import Score
from fabula.meta.arrays import Values
from fabula.meta.coefficients import Coefficient, correlate
from fabula.meta.raters.ratings import HUMAN
from fabula.meta.resampling import NO_ESTIMATE, Estimate, draw_blocks, estimate

# Marks a score that says whether an aspect was chosen, 1 or 0.
CHOSEN = "chosen:"

# Of one story: by rater, by aspect chosen, its rating.
Chosen = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class ChosenAgreement:
    """Agreement on chosen aspects of stories that two raters or more rated.

    `shared` is the share of the aspects chosen for a story that more than one rater chose, `chance`
    what it would be if all chose as many at random. The coefficients are of two raters' ratings of
    one aspect of one story, each pair of raters in both orders.
    """

    stories: int
    aspects: int
    chosen: int
    pairs: int
    chance: float
    shared: Estimate = NO_ESTIMATE
    spearman: Estimate = NO_ESTIMATE
    kendall: Estimate = NO_ESTIMATE


def agree_on_chosen(
    scores: Iterable[Score], *, resamples: int = 1000, seed: int = 0
) -> ChosenAgreement | None:
    """Measure agreement on what was chosen; None where no story has two raters who chose.

    An aspect that is offered has scores `chosen:ASPECT`, 1 or 0, and where chosen its rating.
    """
    told = [score for score in scores if score.ok and score.scorer.startswith(HUMAN)]
    offered = list(
        dict.fromkeys(
            one.aspect.removeprefix(CHOSEN) for one in told if one.aspect.startswith(CHOSEN)
        )
    )
    by_story: dict[str, dict[str, dict[str, float]]] = {}
    for score in told:
        if score.aspect.startswith(CHOSEN):
            own = by_story.setdefault(score.story, {}).setdefault(score.scorer, {})
            if score.value:
                own.setdefault(score.aspect.removeprefix(CHOSEN), math.nan)
    for score in told:
        own = by_story.get(score.story, {}).get(score.scorer, {})
        if score.aspect in own:
            own[score.aspect] = score.value
    stories = [raters for raters in by_story.values() if sum(map(bool, raters.values())) > 1]
    return _measure(stories, len(offered), resamples, seed) if stories else None


def _measure(stories: Sequence[Chosen], offered: int, resamples: int, seed: int) -> ChosenAgreement:
    counts = np.array([_count_choices(raters) for raters in stories], dtype=np.float64)
    pairs = [_pair_ratings(raters) for raters in stories]
    drawn = [row for block in draw_blocks(len(stories), resamples, seed) for row in block]
    shares = np.array([counts[row, 1].sum() / counts[row, 0].sum() for row in drawn])
    whole = np.concatenate(pairs, axis=1)
    coefficients: dict[str, Estimate] = {}
    names: tuple[Coefficient, ...] = ("spearman", "kendall")
    for name in names:
        values = np.array(
            [_correlate(np.concatenate([pairs[i] for i in row], axis=1), name) for row in drawn]
        )
        found = estimate(_correlate(whole, name), values, n=whole.shape[1] // 2)
        coefficients[name] = found
    total, shared = counts.sum(axis=0)
    return ChosenAgreement(
        len(stories),
        offered,
        int(total),
        whole.shape[1] // 2,
        _expect_shared(stories, offered),
        estimate(float(shared / total), shares, n=int(total)),
        **coefficients,
    )


def _count_choices(raters: Chosen) -> tuple[int, int]:
    """Count the aspects that somebody chose, and those that more than one did."""
    counts: dict[str, int] = {}
    for own in raters.values():
        for aspect in own:
            counts[aspect] = counts.get(aspect, 0) + 1
    return len(counts), sum(count > 1 for count in counts.values())


def _pair_ratings(raters: Chosen) -> Values:
    """Ratings of one aspect by two raters, each pair in both orders.  (2, pairs)"""
    pairs = [
        (one[aspect], other[aspect])
        for one, other in combinations(raters.values(), 2)
        for aspect in one
        if aspect in other and not math.isnan(one[aspect] + other[aspect])
    ]
    table = np.array([*pairs, *((b, a) for a, b in pairs)], dtype=np.float64)
    return table.reshape(-1, 2).T


def _correlate(pairs: Values, name: Coefficient) -> float:
    return float(correlate(pairs[0], pairs[1], name)) if pairs.shape[1] > 2 else math.nan


def _expect_shared(stories: Sequence[Chosen], offered: int) -> float:
    """Share of chosen aspects that more than one would choose, if all chose at random.

    A rater who chooses m of A aspects chooses a given one with chance m / A.
    """
    some = more = 0.0
    for raters in stories:
        rates = [len(own) / offered for own in raters.values()]
        none = math.prod(1 - rate for rate in rates)
        one = sum(
            rate * math.prod(1 - other for j, other in enumerate(rates) if j != i)
            for i, rate in enumerate(rates)
        )
        some += 1 - none
        more += 1 - none - one
    return more / some if some else math.nan
