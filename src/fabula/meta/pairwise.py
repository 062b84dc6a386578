"""Pairwise accuracy: of how many pairs of stories a metric says what the gold says, ties included.

Deutsch, Foster and Freitag (2023), Ties Matter: Meta-Evaluating Modern Metrics with Pairwise
Accuracy and Tie Calibration. A pair is right when both order it alike, or when both call it a tie;
a metric calls it one when its values differ by epsilon or less. Unlike a correlation this is
defined for a constant metric: it is right about the gold's ties. Metrics for which lower is better
have to be turned by the caller.

At level `item` the systems of an item are paired and the items' accuracies averaged, at level
`system` the means of systems are paired, at level `pooled` all stories.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fabula.meta.cells import check_level, only_shared, vectors_at
from fabula.meta.levels import Level
from fabula.meta.paired import Values

# Differences that are equal but for rounding are equal; the unit is the largest value.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Calibrated:
    """Accuracy at the best epsilon, that epsilon, and what it is worth on other items.

    `accuracy` flatters, because epsilon was chosen on the same pairs. For `held_out` it is chosen
    on one half of the items and measured on the other, both ways round.
    """

    accuracy: float
    epsilon: float
    held_out: float


@dataclass(frozen=True)
class _Pairs:
    """Pairs of values: how far apart the metric has them, what the gold says, what they weigh."""

    gap: Values  # of the metric, never negative
    agree: Values  # 1 where metric and gold order alike, if the metric does order; else 0 or -1
    tied: Values  # 1 where the gold has a tie
    weight: Values  # all together 1
    unit: float


def pairwise_accuracy(x: Values, gold: Values, *, level: Level, epsilon: float = 0.0) -> float:
    """Share of the pairs that metric and gold order alike or both call a tie; NaN without pairs."""
    return _accuracy(_pairs(x, gold, level), epsilon)


def tie_calibrated_accuracy(x: Values, gold: Values, *, level: Level, seed: int = 0) -> Calibrated:
    """Choose the epsilon with the highest accuracy, the smallest of several; exact.

    The seed says which items make up the halves for `held_out`.
    """
    accuracy, epsilon = _calibrate(_pairs(x, gold, level))
    order = np.random.default_rng(seed).permutation(len(x))
    halves = order[: len(x) // 2], order[len(x) // 2 :]
    parts = [_pairs(x[half], gold[half], level) for half in halves]
    crossed = [
        _accuracy(part, _calibrate(other)[1])
        for part, other in zip(parts, reversed(parts), strict=True)
    ]
    return Calibrated(accuracy, epsilon, sum(crossed) / 2)


def _accuracy(pairs: _Pairs, epsilon: float) -> float:
    if not len(pairs.gap) or math.isnan(epsilon):
        return math.nan
    called = pairs.gap <= epsilon + _ROUNDING * pairs.unit
    right = np.where(called, pairs.tied, (1 - pairs.tied) * (pairs.agree > 0))
    return float((right * pairs.weight).sum())


def _calibrate(pairs: _Pairs) -> tuple[float, float]:
    """Go through the gaps from the smallest: calling one a tie wins or loses its pair.

    Sums of weights are equal but for rounding, and the first of the best is the smallest.
    """
    if not len(pairs.gap):
        return math.nan, math.nan
    order = np.argsort(pairs.gap, kind="stable")
    gap = pairs.gap[order]
    won = pairs.tied - (1 - pairs.tied) * (pairs.agree > 0)
    gains = (won * pairs.weight)[order].cumsum()
    step = _ROUNDING * pairs.unit
    ends = np.append(np.diff(gap) > step, True) & (gap > step)
    epsilons = np.concatenate([[0.0], gap[ends]])
    none = gains[gap <= step][-1] if gap[0] <= step else 0.0
    totals = np.concatenate([[none], gains[ends]])
    best = int(np.argmax(totals >= totals.max() - _ROUNDING))
    epsilon = float(epsilons[best])
    return _accuracy(pairs, epsilon), epsilon


def _pairs(x: Values, gold: Values, level: Level) -> _Pairs:
    check_level(level)
    x, gold = only_shared(x, gold)
    parts = list(_parts(x, gold, level))
    if not parts:
        nothing = np.empty(0)
        return _Pairs(nothing, nothing, nothing, nothing, 0.0)
    units = [float(max(np.abs(side).max() for side in sides)) for sides in zip(*parts, strict=True)]
    rows = [_compared(one, other, units, len(parts)) for one, other in parts]
    gap, agree, tied, weight = (np.concatenate(column) for column in zip(*rows, strict=True))
    return _Pairs(gap, agree, tied, weight, units[0])


def _parts(x: Values, gold: Values, level: Level) -> Iterator[tuple[Values, Values]]:
    """Give the vectors within which values are paired: those with two values or more."""
    for one, other in zip(*vectors_at(np.stack([x, gold]), level), strict=True):
        there = ~np.isnan(one)
        yield one[there], other[there]


def _compared(
    x: Values, gold: Values, units: list[float], parts: int
) -> tuple[Values, Values, Values, Values]:
    one, other = np.triu_indices(len(x), 1)
    apart, goal = x[one] - x[other], gold[one] - gold[other]
    tied = (np.abs(goal) <= _ROUNDING * units[1]).astype(np.float64)
    weight = np.full(len(one), 1 / (len(one) * parts))
    return np.abs(apart), np.sign(apart) * np.sign(goal), tied, weight
