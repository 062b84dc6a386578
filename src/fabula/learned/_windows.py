"""Windows on a text, as readers are trained on them and read by them; pure arithmetic."""

from __future__ import annotations

from itertools import pairwise


def windows(count: int, size: int, *, overlap: bool = False) -> list[range]:
    """Places of tokens by window: as few windows as hold them all, begun at even distances.

    Each ends where the next begins, or, with overlap, is as long as can be. No tokens, no windows.
    """
    number = -(-count // size)
    starts = [one * count // number for one in range(number)]
    if overlap:
        return [range(start, min(start + size, count)) for start in starts]
    return [range(start, stop) for start, stop in pairwise([*starts, count])]
