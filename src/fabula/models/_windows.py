"""Windows that overlap, for texts longer than a model reads at once; pure arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from fabula.core.errors import SettingError


def windows(count: int, size: int, overlap: int) -> list[range]:
    """Places of tokens by window: all are covered, neighbours share at least `overlap` of them.

    The last window ends with the text and is moved back to be as long as the others, which gives
    its tokens more context; so all are of one size, unless the text itself is shorter. No tokens,
    no windows.
    """
    if not 0 <= overlap < size:
        raise SettingError(
            f"overlap {overlap} does not fit a window of {size} tokens",
            f"take an overlap from 0 to {max(size - 1, 0)}",
        )
    if count <= size:
        return [range(count)] if count else []
    starts = [*range(0, count - size, size - overlap), count - size]
    return [range(start, start + size) for start in starts]


def owner(places: Sequence[range]) -> list[int]:
    """For each token the window in which it is most central, the earlier one of two alike.

    That is where it has the most context on its poorer side.
    """
    return [number for number, part in enumerate(owned(places)) for _ in part]


def owned(places: Sequence[range]) -> list[range]:
    """For each window the tokens that are most central in it; together all, each once."""
    if not places:
        return []
    bounds = [
        # Half of what neighbours share goes to each; the odd token to the earlier one.
        (left.stop + right.start + 1) // 2
        for left, right in pairwise(places)
    ]
    starts, stops = [places[0].start, *bounds], [*bounds, places[-1].stop]
    return [range(start, stop) for start, stop in zip(starts, stops, strict=True)]
