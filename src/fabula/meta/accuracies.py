"""Accuracies of metrics as a table: pairs of stories, or pairs of systems with their certainty."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from fabula.meta.grid import Grid
from fabula.meta.levels import Correlations, Level
from fabula.meta.paired import Values
from fabula.meta.pairwise import pairwise_accuracy, tie_calibrated_accuracy
from fabula.meta.resampling import draw_counts
from fabula.meta.soft_pairwise import soft_pairwise_accuracy

Accuracy = Literal["pairwise", "soft_pairwise"]
ACCURACIES: tuple[Accuracy, ...] = get_args(Accuracy)


def accuracies(
    metrics: Grid, gold: Grid, *, level: Level, kind: Accuracy, seed: int = 0
) -> tuple[Correlations, Values]:
    """Give the accuracy of every metric on every gold column, and the epsilons that were chosen.

    Pairwise accuracy is that on held-out halves of the items: calibrated on the pairs it is
    measured on, it would flatter. Soft pairwise accuracy compares systems, and is NaN elsewhere.
    """
    shape = len(metrics.columns), len(gold.columns)
    value, epsilon = np.full(shape, np.nan), np.full(shape, np.nan)
    n = np.zeros(shape, dtype=np.int64)
    for i, x in enumerate(metrics.values):
        for j, y in enumerate(gold.values):
            n[i, j] = _count(x, y, level)
            if kind == "soft_pairwise":
                value[i, j] = (
                    soft_pairwise_accuracy(x, y, seed=seed) if level == "system" else np.nan
                )
            else:
                found = tie_calibrated_accuracy(x, y, level=level, seed=seed)
                value[i, j], epsilon[i, j] = found.held_out, found.epsilon
    return Correlations(value, n, np.isnan(value).astype(np.int64)), epsilon


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
    counts = draw_counts(items, resamples, seed)
    found = np.full((resamples, *shape), np.nan)
    for i, x in enumerate(metrics.values):
        for j, y in enumerate(gold.values):
            each = np.array(
                [
                    pairwise_accuracy(x[[one]], y[[one]], level="item", epsilon=epsilons[i, j])
                    for one in range(items)
                ]
            )
            there = ~np.isnan(each)
            with np.errstate(invalid="ignore"):
                found[:, i, j] = counts @ np.where(there, each, 0.0) / (counts @ there)
    return found


def _count(x: Values, y: Values, level: Level) -> int:
    both = ~np.isnan(x) & ~np.isnan(y)
    if level == "pooled":
        return int(both.sum())
    return int((both.sum(1) > 1).sum() if level == "item" else both.any(0).sum())
