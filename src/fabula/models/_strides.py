"""Windows for reading from left to right: every token is scored once, with what stands before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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
