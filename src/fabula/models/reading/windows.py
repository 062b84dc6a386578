"""Windows on texts longer than a model reads at once; pure arithmetic on counts of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Stride:
    """One window over a text: tokens from `start` to `stop`, scored from `new` on."""

    start: int
    new: int
    stop: int


@dataclass(frozen=True)
class Front:
    """What stands before the text in every window, and how the text is gone through beside it."""

    ids: tuple[int, ...]
    room: int
    step: int

    def strides(self, count: int) -> list[Stride]:
        """Windows over a text of so many tokens: the first is full, each later one adds a step."""
        found = [Stride(0, 0, min(count, self.room))] if count else []
        while found and (done := found[-1].stop) < count:
            stop = min(count, done + self.step)
            found.append(Stride(stop - self.room, done, stop))
        return found


def make_front(
    beginning: Sequence[int], context: Sequence[int], *, window: int, stride: int
) -> Front:
    """Lay out a window: the beginning, then the context, then room for the text.

    Of a context that would take more than half of the window, the end is kept. The step shrinks
    with the room, so that later windows still see the text before.
    """
    space = max(window // 2 - len(beginning), 0)
    kept = context[max(len(context) - space, 0) :]
    room = window - len(beginning) - len(kept)
    return Front((*beginning, *kept), room, max(1, stride * room // window))
