"""A text read beside its source, both by windows; how one log comes of several readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.core.model import TokenLogs
from fabula.models._pieces import Ends, Pieces, head_of
from fabula.models._strides import make_front
from fabula.models._windows import windows

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class SourceReading:
    """One window of a text beside one window of its source.

    `ids` go in, `targets` are scored: the guesses at them are the `rows` of what comes out. `new`
    are their places in the text with its signs.
    """

    text: int
    source: tuple[int, ...]
    ids: tuple[int, ...]
    targets: tuple[int, ...]
    rows: slice
    new: range


@dataclass(frozen=True)
class Beside:
    """How pairs are read: windows of so many tokens, moved on by `stride`.

    A text longer than the window is read on by `stride` tokens, each scored once. A source longer
    than the window is read by windows that overlap. `start` is what the decoder begins with, `ends`
    what stands around source and text; those of the text are scored in its first and last window.
    """

    window: int
    stride: int
    start: int
    ends: Ends

    def readings(
        self, number: int, source: Sequence[int], text: Sequence[int]
    ) -> Iterator[SourceReading]:
        """Give every window of a text beside every window of its source."""
        before, after = self.ends.before, self.ends.after
        # The last sign is scored and never read; others after the text need room.
        room = self.window - max(len(after) - 1, 0)
        front = make_front((self.start, *before), (), window=room, stride=self.stride)
        for one in front.strides(len(text)):
            ending = after if one.stop == len(text) else ()
            whole = (*front.ids, *text[one.start : one.stop], *ending)
            first = len(front.ids) + one.new - one.start if one.new else 1
            targets = whole[first:]
            new = one.new + len(before) if one.new else 0
            for part in self.parts(source):
                yield SourceReading(
                    number,
                    part,
                    whole[:-1] if ending else whole,
                    targets,
                    slice(first - 1, first - 1 + len(targets)),
                    range(new, new + len(targets)),
                )

    def parts(self, source: Sequence[int]) -> list[tuple[int, ...]]:
        """Give the source by windows, each with what the tokeniser adds."""
        before, after = self.ends.before, self.ends.after
        room = self.window - len(before) - len(after)
        places = windows(len(source), room, max(room - self.stride, 0)) or [range(0)]
        return [(*before, *source[place.start : place.stop], *after) for place in places]

    def heads(self, pieces: Sequence[Pieces], texts: Sequence[str], count: int) -> list[str]:
        """Give the beginnings of texts that make so many tokens, added ones counted."""
        room = count - len(self.ends.before) - len(self.ends.after)
        return [head_of(text, one.spans, room) for one, text in zip(pieces, texts, strict=True)]

    def logs(
        self, number: int, text: Pieces, readings: Sequence[SourceReading], found: Sequence[Array]
    ) -> TokenLogs:
        """Give the logs of one text, and those of the signs around it, from all its readings."""
        if not text.ids:
            return TokenLogs((), (), np.zeros(0))
        first = len(self.ends.before)
        last = first + len(text.ids)
        logs = _mean_logs(number, last + len(self.ends.after), readings, found)
        added = (*map(float, logs[:first]), *map(float, logs[last:]))
        return TokenLogs(text.tokens, text.spans, logs[first:last], added=added)


def _mean_logs(
    number: int, count: int, readings: Sequence[SourceReading], found: Sequence[Array]
) -> Array:
    """Log of the mean probability over the windows of the source, for the tokens of one text."""
    logs = np.full(count, -np.inf)
    parts = np.zeros(count)
    for one, part in zip(readings, found, strict=True):
        if one.text == number:
            place = slice(one.new.start, one.new.stop)
            logs[place] = np.logaddexp(logs[place], part)
            parts[place] += 1
    return logs - np.log(parts)
