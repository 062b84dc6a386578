"""Accuracy of metrics: of how many pairs of stories, or of systems, they say what the gold says.

Pairwise accuracy (Deutsch, Foster and Freitag, 2023, Ties Matter: Meta-Evaluating Modern Metrics
with Pairwise Accuracy and Tie Calibration). A pair is right when both order it alike, or when both
call it a tie; a metric calls it one when its values differ by epsilon or less. Unlike a correlation
this is defined for a constant metric: it is right about the gold's ties. At level `item` the
systems of an item are paired and the items' accuracies averaged, at level `system` the means of
systems are paired, at level `pooled` all stories.

Soft pairwise accuracy (Thompson, Mathur, Deutsch and Khayrallah, 2024, Improving Statistical
Significance in Human Evaluation of Automatic Metrics via Soft Pairwise Accuracy): 1 less the mean
difference between the p of metric and gold that one system beats another, over all pairs of
systems. A metric is not punished for its order of systems that people cannot tell apart either,
nor praised for luck.

Metrics for which lower is better have to be turned by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from fabula.core.errors import SettingError
from fabula.meta.arrays import Values, keep_shared
from fabula.meta.grid import Grid
from fabula.meta.levels import CorrelationTable, Level, check_level, vectors_at
from fabula.meta.resampling import resample_means
from fabula.meta.significance.sign_flips import pair_p

Accuracy = Literal["pairwise", "soft_pairwise"]
ACCURACIES: tuple[Accuracy, ...] = get_args(Accuracy)

# Differences that are equal but for rounding are equal; the unit is the largest value.
_ROUNDING = 1e-12
# Pairs that are held at once, some 100 bytes each: those of 6,300 stories.
_MOST_PAIRS = 20_000_000


def accuracies(
    metrics: Grid, gold: Grid, *, level: Level, kind: Accuracy, seed: int = 0
) -> tuple[CorrelationTable, Values]:
    """Give the accuracy of every metric on every gold column, and the epsilons that were chosen.

    Pairwise accuracy is that on held-out halves of the items: calibrated on the pairs it is
    measured on, it would flatter. Soft pairwise accuracy compares systems, and is NaN elsewhere.
    """
    shape = len(metrics.columns), len(gold.columns)
    value, epsilon = np.full(shape, np.nan), np.full(shape, np.nan)
    n = np.zeros(shape, dtype=np.int64)
    for i, x in enumerate(metrics.values):
        for j, y in enumerate(gold.values):
            n[i, j] = _count_units(x, y, level)
            if kind == "soft_pairwise":
                value[i, j] = (
                    soft_pairwise_accuracy(x, y, seed=seed) if level == "system" else np.nan
                )
            else:
                calibrated = tie_calibrated_accuracy(x, y, level=level, seed=seed)
                value[i, j], epsilon[i, j] = calibrated.held_out, calibrated.epsilon
    return CorrelationTable(value, n, np.isnan(value).astype(np.int64)), epsilon


def accuracy_draws(
    metrics: Grid,
    gold: Grid,
    *,
    level: Level,
    kind: Accuracy,
    epsilons: Values,
    resamples: int = 1000,
    seed: int = 0,
) -> Values:
    """Give the accuracies by item in every draw, epsilon held; NaN at the other levels."""
    items = metrics.layout.shape[0]
    shape = (len(metrics.columns), len(gold.columns))
    if kind != "pairwise" or level != "item" or items < 2:
        return np.full((1, *shape), np.nan)
    draws = np.full((resamples, *shape), np.nan)
    for i, x in enumerate(metrics.values):
        for j, y in enumerate(gold.values):
            by_item = np.array(
                [
                    pairwise_accuracy(x[[item]], y[[item]], level="item", epsilon=epsilons[i, j])
                    for item in range(items)
                ]
            )
            there = ~np.isnan(by_item)
            sums = np.where(there, by_item, 0.0)
            draws[:, i, j] = resample_means(sums, there, resamples, seed)
    return draws


def _count_units(x: Values, y: Values, level: Level) -> int:
    both = ~np.isnan(x) & ~np.isnan(y)
    if level == "pooled":
        return int(both.sum())
    return int((both.sum(1) > 1).sum() if level == "item" else both.any(0).sum())


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
class _ComparedPairs:
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
        _accuracy(part, _calibrate(opposite)[1])
        for part, opposite in zip(parts, reversed(parts), strict=True)
    ]
    return Calibrated(accuracy, epsilon, sum(crossed) / 2)


def _accuracy(pairs: _ComparedPairs, epsilon: float) -> float:
    if not len(pairs.gap) or math.isnan(epsilon):
        return math.nan
    called = pairs.gap <= epsilon + _ROUNDING * pairs.unit
    right = np.where(called, pairs.tied, (1 - pairs.tied) * (pairs.agree > 0))
    return float((right * pairs.weight).sum())


def _calibrate(pairs: _ComparedPairs) -> tuple[float, float]:
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


def _pairs(x: Values, gold: Values, level: Level) -> _ComparedPairs:
    check_level(level)
    x, gold = keep_shared(x, gold)
    parts = list(_parts(x, gold, level))
    if not parts:
        nothing = np.empty(0)
        return _ComparedPairs(nothing, nothing, nothing, nothing, 0.0)
    if (count := sum(len(row) * (len(row) - 1) // 2 for row, _ in parts)) > _MOST_PAIRS:
        raise SettingError(
            f"pairwise accuracy, level {level}: {count:,} pairs are more than the limit of "
            f"{_MOST_PAIRS:,}",
            "take another level, another coefficient such as kendall, or fewer stories",
        )
    units = [float(max(np.abs(side).max() for side in sides)) for sides in zip(*parts, strict=True)]
    rows = [_compare_vectors(x_part, gold_part, units, len(parts)) for x_part, gold_part in parts]
    gap, agree, tied, weight = (np.concatenate(column) for column in zip(*rows, strict=True))
    return _ComparedPairs(gap, agree, tied, weight, units[0])


def _parts(x: Values, gold: Values, level: Level) -> Iterator[tuple[Values, Values]]:
    """Give the vectors within which values are paired: those with two values or more."""
    for x_row, gold_row in zip(*vectors_at(np.stack([x, gold]), level), strict=True):
        there = ~np.isnan(x_row)
        yield x_row[there], gold_row[there]


def _compare_vectors(
    x: Values, gold: Values, units: list[float], parts: int
) -> tuple[Values, Values, Values, Values]:
    first, second = np.triu_indices(len(x), 1)
    apart, goal = x[first] - x[second], gold[first] - gold[second]
    tied = (np.abs(goal) <= _ROUNDING * units[1]).astype(np.float64)
    weight = np.full(len(first), 1 / (len(first) * parts))
    return np.abs(apart), np.sign(apart) * np.sign(goal), tied, weight


def soft_pairwise_accuracy(
    x: Values, gold: Values, *, resamples: int = 1000, seed: int = 0
) -> float:
    """Compare a metric with the gold, both items × systems; from 0 to 1, NaN without a pair.

    Cells that either lacks are left out. A constant metric gives every pair a p of 1/2. Metrics
    for which lower is better have to be turned by the caller.
    """
    x, gold = keep_shared(x, gold)
    of_x = pair_p(x, resamples=resamples, seed=seed)
    apart = np.abs(of_x - pair_p(gold, resamples=resamples, seed=seed))
    known = apart[~np.isnan(apart)]
    return float(1 - known.mean()) if len(known) else float("nan")
