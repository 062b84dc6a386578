"""Windows on a text, as readers are trained on them and read by them; pure arithmetic."""

from __future__ import annotations


def windows(count: int, size: int) -> list[range]:
    """Places of tokens by window: as few windows as hold them all, begun at even distances.

    All are of one size but the last, which may be shorter. No tokens, no windows.
    """
    number = -(-count // size)
    starts = [one * count // number for one in range(number)]
    return [range(start, min(start + size, count)) for start in starts]
