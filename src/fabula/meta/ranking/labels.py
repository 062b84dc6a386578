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
from fabula.meta.arrays import Values
from fabula.meta.grid import Grid
from fabula.meta.resampling import count_blocks

Labels = np.ndarray[Any, np.dtype[np.int64]]
Bounds = tuple[Values, Values]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
NEITHER, FIRST, SECOND, UNKNOWN = 0, 1, 2, -1
# Sums that agree so far differ by rounding alone and are ties.
_ROUNDING = 1e-12
# Sums of resamples that are held at once: 3 MB of floats.
_CELLS = 400_000


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
    by_system = np.ascontiguousarray(np.moveaxis(values, 2, 1))  # (columns, systems, items)
    gaps: Flags = np.logical_or.reduce(np.isnan(values), axis=(1, 2))
    won = np.zeros((2, columns, systems * (systems - 1) // 2), dtype=np.int64)
    for counts in count_blocks(items, resamples, seed):
        draws = np.ascontiguousarray(counts.T)  # (items, resamples)
        won[:, ~gaps] += _whole_wins(by_system[~gaps], draws)
        for place in np.flatnonzero(gaps):
            won[:, place] += _gap_wins(by_system[place], draws)
    least = share * resamples
    labels: Labels = np.where(won[0] >= least, FIRST, np.where(won[1] >= least, SECOND, NEITHER))
    for place in np.flatnonzero(gaps):
        shared = [(~np.isnan(a) & ~np.isnan(b)).any() for a, b in combinations(by_system[place], 2)]
        labels[place, ~np.array(shared, dtype=bool)] = UNKNOWN
    return labels


def _whole_wins(by_system: Values, draws: Values) -> Labels:
    """Count wins in columns in which nothing is missing: each system is added up once.

    A few columns at a time, in the same two buffers: fresh memory costs more than the sums.
    """
    columns, systems, items = by_system.shape
    resamples = draws.shape[1]
    block = max(1, min(columns, _CELLS // max(1, systems * resamples)))
    sums, margins = np.empty((2, block * systems, resamples))
    wins = [np.empty((2, 0, systems * (systems - 1) // 2), np.int64)]
    for start in range(0, columns, block):
        part = by_system[start : start + block]
        shape, rows = (len(part), systems, resamples), len(part) * systems
        np.matmul(part.reshape(-1, items), draws, out=sums[:rows])
        low, high = _bounds(sums[:rows], margins[:rows])
        wins.append(_pair_wins(low.reshape(shape), high.reshape(shape)))
    return np.concatenate(wins, axis=1)


def _pair_wins(low: Values, high: Values) -> Labels:
    """Count the wins of either of two systems: (columns, systems, draws) to (2, columns, pairs)."""
    wins = [
        _count_wins((low[:, a, None], high[:, a, None]), (low[:, a + 1 :], high[:, a + 1 :]))
        for a in range(low.shape[1])
    ]
    return np.concatenate(wins, axis=2)


def _gap_wins(by_system: Values, draws: Values) -> Labels:
    """Count wins in a column with gaps: each pair has items of its own, as many for both."""
    wins = [np.empty((2, 0), np.int64)]
    for a, b in combinations(by_system, 2):
        both = ~np.isnan(a) & ~np.isnan(b)
        sums = (values[both] @ draws[both] for values in (a, b))
        first, second = (_bounds(total, np.empty_like(total)) for total in sums)
        wins.append(_count_wins(first, second)[:, None])
    return np.concatenate(wins, axis=1)


def _bounds(sums: Values, margins: Values) -> Bounds:
    """Sums less and more a margin for rounding, both in place of what is given."""
    np.abs(sums, out=margins)
    margins *= _ROUNDING
    sums += margins
    margins *= -2
    margins += sums
    return margins, sums


def _count_wins(first: Bounds, second: Bounds) -> Labels:
    """Count the resamples, the last axis, in which one system is ahead, and the other."""
    wins = np.count_nonzero(first[0] > second[1], axis=-1)
    losses = np.count_nonzero(second[0] > first[1], axis=-1)
    return np.stack([wins, losses])


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
    turned = metrics if compat else metrics.orient(lower)
    values = np.concatenate([turned.values, gold.values])
    labels = bootstrap_labels(values, resamples=resamples, seed=seed, share=share)
    count = len(metrics.columns)
    return weighted_f1(labels[None, count:], labels[:count, None])
