"""Rank clusters: which metrics no test can tell apart, as the WMT metrics tasks print them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fabula.meta.arrays import Values


def rank_clusters(order: Sequence[int], p: Values, *, alpha: float = 0.05) -> tuple[int, ...]:
    """Number the cluster of every metric, from 1, in the metrics' own order.

    `order` lists the metrics, best first; `p[i, j]` is the (adjusted) p of "i beats j". A metric
    starts a new cluster when every member of the one above beats it significantly. NaN is no
    finding.
    """
    beats = p <= alpha
    found = np.ones(len(order), dtype=int)
    members: list[int] = []
    cluster = 1
    for metric in order:
        if members and beats[members, metric].all():
            cluster, members = cluster + 1, []
        members.append(metric)
        found[metric] = cluster
    return tuple(found.tolist())


def significant_ranks(p: Values, *, alpha: float = 0.05) -> tuple[int, ...]:
    """Give every metric 1 more than the number of metrics that beat it significantly."""
    beaten = p <= alpha
    return tuple((1 + beaten.sum(0)).tolist())
