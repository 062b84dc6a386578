"""Batches of texts of about one length, so that little is padded and memory is bounded."""

from __future__ import annotations

from collections.abc import Sequence


def length_batches(lengths: Sequence[int], *, budget: int) -> list[list[int]]:
    """Indices in batches, the longest first; a batch padded to its longest is within the budget.

    One that is over the budget by itself is a batch of its own. Each index is in one batch.
    """
    batches: list[list[int]] = []
    room = 0
    for index in sorted(range(len(lengths)), key=lambda one: -lengths[one]):
        if not batches or len(batches[-1]) >= room:
            batches.append([])
            room = max(budget // max(lengths[index], 1), 1)
        batches[-1].append(index)
    return batches


def halves(batch: Sequence[int]) -> tuple[list[int], list[int]]:
    """Two batches instead of one that was too large."""
    middle = len(batch) // 2
    return list(batch[:middle]), list(batch[middle:])
