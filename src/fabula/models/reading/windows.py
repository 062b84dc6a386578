"""Windows on texts longer than a model reads at once; pure arithmetic on counts of tokens.

Encoders read windows that overlap (`cut_overlapping`) and take each token from one of them
(`assign_tokens`). Our own readers were trained on windows of even length (`cut_evenly`). Models
that read from left to right go on by strides behind a prefix (`Prefix`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fabula.core.errors import SettingError


def cut_overlapping(count: int, size: int, overlap: int) -> list[range]:
    """Cut so many tokens: all are covered, neighbours share at least `overlap` of them.

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


def assign_tokens(windows: Sequence[range]) -> list[range]:
    """Give each window the tokens that are most central in it; together all, each once.

    That is where a token has the most context on its poorer side.
    """
    if not windows:
        return []
    bounds = [
        # Half of what neighbours share goes to each; the odd token to the earlier one.
        (left.stop + right.start + 1) // 2
        for left, right in pairwise(windows)
    ]
    starts, stops = [windows[0].start, *bounds], [*bounds, windows[-1].stop]
    return [range(start, stop) for start, stop in zip(starts, stops, strict=True)]


def cut_evenly(count: int, size: int, *, overlap: bool = False) -> list[range]:
    """Cut into as few windows as hold all tokens, begun at even distances.

    Each ends where the next begins, or, with overlap, is as long as can be. No tokens, no windows.
    """
    number = -(-count // size)
    starts = [index * count // number for index in range(number)]
    if overlap:
        return [range(start, min(start + size, count)) for start in starts]
    return [range(start, stop) for start, stop in pairwise([*starts, count])]


@dataclass(frozen=True)
class Stride:
    """One window over a text: tokens from `start` to `stop`, scored from `new` on."""

    start: int
    new: int
    stop: int


@dataclass(frozen=True)
class Prefix:
    """What stands before the text in every window, and how the text is gone through behind it."""

    ids: tuple[int, ...]
    room: int
    step: int

    def strides(self, count: int) -> list[Stride]:
        """Windows over a text of so many tokens: the first is full, each later one adds a step."""
        strides = [Stride(0, 0, min(count, self.room))] if count else []
        while strides and (done := strides[-1].stop) < count:
            stop = min(count, done + self.step)
            strides.append(Stride(stop - self.room, done, stop))
        return strides


def fit_prefix(
    beginning: Sequence[int], context: Sequence[int], *, window: int, stride: int
) -> Prefix:
    """Divide a window: the beginning, then the context, then room for the text.

    Of a context that would take more than half of the window, the end is kept. The step shrinks
    with the room, so that later windows still see the text before.
    """
    space = max(window // 2 - len(beginning), 0)
    end_of_context = context[max(len(context) - space, 0) :]
    room = window - len(beginning) - len(end_of_context)
    return Prefix((*beginning, *end_of_context), room, max(1, stride * room // window))
