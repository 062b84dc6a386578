"""Who is better, by bootstrap, and how often a metric says the same as people do.

Chhun et al. (2022), section 5.4: for every two systems the items are drawn again and again; a
system that has the higher mean in nearly all draws is said to be better. The labels of a metric
are then judged against those of the gold by F1.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations
from typing import Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.meta.grid import Grid
from fabula.meta.paired import Values
from fabula.meta.resampling import draw_counts

Labels = np.ndarray[Any, np.dtype[np.int64]]
Bounds = tuple[Values, Values]
NEITHER, FIRST, SECOND, UNKNOWN = 0, 1, 2, -1
# Sums that agree so far differ by rounding alone and are ties.
_ROUNDING = 1e-12
# Sums of resamples that are held at once: 32 MB of floats.
_CELLS = 4_000_000


def bootstrap_labels(
    values: Values, *, resamples: int = 1000, seed: int = 0, share: float = 0.95
) -> Labels:
    """Label every two systems by every column: (columns, items, systems) to (columns, pairs).

    1: the first has the higher mean in at least that share of the resamples; 2: the second has;
    0: neither. Pairs go (0, 1), (0, 2), …, and all columns share the same draws. Items that lack a
    value of either system are left out for that pair; a pair without any is -1.
    """
    if not 0.5 < share <= 1:
        raise SettingError(f"share={share:g} will not do", "give a number above 0.5, up to 1")
    columns, items, systems = values.shape
    draws = np.ascontiguousarray(draw_counts(items, resamples, seed).T)  # (items, resamples)
    labels = np.full((columns, systems * (systems - 1) // 2), UNKNOWN, dtype=np.int64)
    by_system = np.ascontiguousarray(np.moveaxis(values, 2, 0))  # (systems, columns, items)
    gaps = np.isnan(values).reshape(columns, -1).any(axis=1)
    least = share * resamples
    block = max(1, _CELLS // max(1, systems * resamples))
    for start in range(0, columns, block):
        some = np.arange(start, min(start + block, columns))
        whole, others = some[~gaps[some]], some[gaps[some]]
        labels[whole] = _whole_labels(by_system[:, whole], draws, least)
        labels[others] = _gap_labels(by_system[:, others], draws, least)
    return labels


def _whole_labels(by_system: Values, draws: Values, least: float) -> Labels:
    """Label columns in which nothing is missing: each system is added up once."""
    systems, columns, items = by_system.shape
    sums = (by_system.reshape(-1, items) @ draws).reshape(systems, columns, draws.shape[1])
    low, high = _bounds(sums)
    found = [
        _labelled((low[a], high[a]), (low[a + 1 :], high[a + 1 :]), least)  # (others, columns)
        for a in range(systems)
    ]
    return np.concatenate(found).T


def _gap_labels(by_system: Values, draws: Values, least: float) -> Labels:
    """Label columns with gaps: each pair has items of its own, as many for one as the other."""
    found = np.empty((by_system.shape[1], 0), dtype=np.int64)
    for a, b in combinations(by_system, 2):
        both = ~np.isnan(a) & ~np.isnan(b)
        one, other = (_bounds(np.where(both, values, 0.0) @ draws) for values in (a, b))
        labels = np.where(both.any(1), _labelled(one, other, least), UNKNOWN)
        found = np.column_stack([found, labels])
    return found


def _bounds(sums: Values) -> Bounds:
    """Sums less and more a margin for rounding; the sums themselves are overwritten."""
    margin = np.abs(sums)
    margin *= _ROUNDING
    low = sums - margin
    sums += margin
    return low, sums


def _labelled(one: Bounds, other: Bounds, least: float) -> Labels:
    """Label one system against another by the resamples, which are the last axis."""
    wins = np.count_nonzero(one[0] > other[1], axis=-1)
    losses = np.count_nonzero(other[0] > one[1], axis=-1)
    return np.where(wins >= least, FIRST, np.where(losses >= least, SECOND, NEITHER))


def weighted_f1(truth: Labels, predicted: Labels) -> Values:
    """F1 along the last axis, averaged over the labels by how often each is true.

    As scikit-learn's `average="weighted"` with `zero_division=0`. Pairs that are -1 in either are
    left out; NaN where none is left.
    """
    truth, predicted = np.broadcast_arrays(truth, predicted)
    known = (truth != UNKNOWN) & (predicted != UNKNOWN)
    total = np.zeros(truth.shape[:-1])
    for label in (NEITHER, FIRST, SECOND):
        true, said = known & (truth == label), known & (predicted == label)
        support = true.sum(-1)
        hits, either = (true & said).sum(-1), support + said.sum(-1)
        total += support * 2 * hits / np.maximum(either, 1)
    with np.errstate(invalid="ignore"):
        f1: Values = total / known.sum(-1)
    return f1


def label_f1(
    metrics: Grid,
    gold: Grid,
    *,
    lower: Collection[str],
    compat: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    share: float = 0.95,
) -> Values:
    """F1 of the labels of every metric against those of the gold: (metrics, gold columns).

    Scorers in `lower` are turned first. HANNA did not turn its distances, and so found some of the
    best metrics to be among the worst: `compat` gives those numbers.
    """
    turned = metrics if compat else metrics.oriented(lower)
    values = np.concatenate([turned.values, gold.values])
    labels = bootstrap_labels(values, resamples=resamples, seed=seed, share=share)
    count = len(metrics.columns)
    return weighted_f1(labels[None, count:], labels[:count, None])
