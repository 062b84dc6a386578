"""Williams' test: whether one of two correlations with the same gold is the larger; rank clusters.

Williams (1959), Regression Analysis; Graham and Baldwin (2014) for its use on metrics. One-sided:
the two metrics are correlated with each other, and the more so, the smaller a difference counts.

Metrics that no test can tell apart form a cluster, as the WMT metrics tasks print them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.distributions import t_tail

# Below this a radicand is 0 but for rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class Williams:
    """Test statistic, one-sided p and degrees of freedom; NaN where the test is undefined."""

    t: Values
    p: Values
    freedom: int


def williams(r12: float | Values, r13: float | Values, r23: float | Values, n: int) -> Williams:
    """Test r12 > r13: gold (1) with either metric (2, 3), and these with each other; n values each.

    Arrays are tested element by element. Undefined with three values or fewer, and where the
    radicand is not positive, as for two metrics that correlate perfectly.
    """
    a, b, c = (np.asarray(r, dtype=np.float64) for r in np.broadcast_arrays(r12, r13, r23))
    freedom = n - 3
    if freedom < 1:
        missing = np.full(a.shape, np.nan)
        return Williams(missing, missing.copy(), freedom)
    k = 1 - a**2 - b**2 - c**2 + 2 * a * b * c
    radicand = 2 * k * (n - 1) / freedom + ((a + b) ** 2 / 4) * (1 - c) ** 3
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (a - b) * np.sqrt((n - 1) * (1 + c)) / np.sqrt(radicand)
    t = np.where(radicand > _ROUNDING, t, np.nan)
    return Williams(t, t_tail(t, freedom), freedom)


def williams_matrix(
    with_gold: Values, between: Values, n: int, *, absolute: bool = True, compat: bool = False
) -> Values:
    """Test every two of m metrics: p of "the row's metric beats the column's".  (m,), (m, m)

    A cell is NaN where the row's correlation is not the larger, so that at most one of two mirrored
    cells has a p. With `absolute` sizes are compared: a metric that correlates negatively is turned
    round, and with it its correlation with the other.

    `compat` gives the matrix of HANNA's release. Each cell holds the p of the larger correlation
    against the smaller, whichever is the row's, and 0 where they are equal or the test undefined.
    And the row's correlation loses its sign once the first column is done, so that the other
    columns of a negative one are tested with the wrong sign between the two metrics.
    """
    if compat:
        return _released_matrix(with_gold, between, n)
    row, column = with_gold[:, None], with_gold[None, :]
    if absolute:
        between = between * np.sign(row) * np.sign(column)
        row, column = np.abs(row), np.abs(column)
    return np.where(row > column, williams(row, column, between, n).p, np.nan)


def _released_matrix(with_gold: Values, between: Values, n: int) -> Values:
    signs = np.repeat(np.sign(with_gold)[:, None], len(with_gold), axis=1)
    signs[:, 1:] = np.abs(signs[:, 1:])
    sizes = np.abs(with_gold)
    larger, smaller = np.maximum.outer(sizes, sizes), np.minimum.outer(sizes, sizes)
    p = williams(larger, smaller, between * signs * np.sign(with_gold)[None, :], n).p
    return np.where((larger == smaller) | np.isnan(p), 0.0, p)


def rank_clusters(order: Sequence[int], p: Values, *, alpha: float = 0.05) -> tuple[int, ...]:
    """Number the cluster of every metric, from 1, in the metrics' own order.

    `order` lists the metrics, best first; `p[i, j]` is the (adjusted) p of "i beats j". A metric
    starts a new cluster when every member of the one above beats it significantly. NaN is no
    finding.
    """
    beats = p <= alpha
    numbers = np.ones(len(order), dtype=int)
    members: list[int] = []
    cluster = 1
    for metric in order:
        if members and beats[members, metric].all():
            cluster, members = cluster + 1, []
        members.append(metric)
        numbers[metric] = cluster
    return tuple(numbers.tolist())


def significant_ranks(p: Values, *, alpha: float = 0.05) -> tuple[int, ...]:
    """Give every metric 1 more than the number of metrics that beat it significantly."""
    beaten = p <= alpha
    return tuple((1 + beaten.sum(0)).tolist())
