"""Soft pairwise accuracy: does a metric tell systems apart with the certainty that people do?

Thompson, Mathur, Deutsch and Khayrallah (2024), Improving Statistical Significance in Human
Evaluation of Automatic Metrics via Soft Pairwise Accuracy: 1 less the mean difference between the
p of metric and gold that one system beats another, over all pairs of systems. A metric is not
punished for its order of systems that people cannot tell apart either, nor praised for luck.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fabula.meta.cells import only_shared
from fabula.meta.paired import Values

# Sums of the same numbers in another order differ by rounding; they are to count as equal.
_ROUNDING = 1e-12
# Signs drawn at once.
_CELLS = 4_000_000


def soft_pairwise_accuracy(
    x: Values, gold: Values, *, resamples: int = 1000, seed: int = 0
) -> float:
    """Compare a metric with the gold, both items × systems; from 0 to 1, NaN without a pair.

    Cells that either lacks are left out. A constant metric gives every pair a p of 1/2. Metrics
    for which lower is better have to be turned by the caller.
    """
    x, gold = only_shared(x, gold)
    of_x = pair_p(x, resamples=resamples, seed=seed)
    apart = np.abs(of_x - pair_p(gold, resamples=resamples, seed=seed))
    known = apart[~np.isnan(apart)]
    return float(1 - known.mean()) if len(known) else float("nan")


def pair_p(x: Values, *, resamples: int = 1000, seed: int = 0) -> Values:
    """Give the one-sided p that the first system of each pair is better, by flipping signs.

    (items, systems) -> (pairs,), with the pairs (0, 1), (0, 2) … and the same flips of items for
    all. Flips with just the observed sum, the observed one among them, count half: then the p of a
    pair and of the same pair named the other way round add up to 1. NaN without a shared item.
    """
    one, other = np.triu_indices(x.shape[1], 1)
    differences = x[:, one] - x[:, other]  # (items, pairs)
    there = ~np.isnan(differences)
    differences = np.where(there, differences, 0.0)
    observed, slack = differences.sum(0), _ROUNDING * np.abs(differences).sum(0)
    hits = np.full(len(one), 0.5)
    for signs in _signs(len(x), resamples, seed):
        beyond = signs @ differences - observed  # (rows, pairs)
        hits += (beyond > slack).sum(0) + (np.abs(beyond) <= slack).sum(0) / 2
    return np.where(there.any(0), hits / (resamples + 1), np.nan)


def _signs(items: int, resamples: int, seed: int) -> Iterator[Values]:
    rng = np.random.default_rng(seed)
    most = max(1, _CELLS // max(1, items))
    for start in range(0, resamples, most):
        rows = min(most, resamples - start)
        flips = rng.integers(0, 2, (rows, items), dtype=np.int8)
        yield 1.0 - 2.0 * flips.astype(np.float64)
