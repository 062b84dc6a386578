"""A text read beside its source, both by windows; how one log comes of several readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fabula.models._pieces import Ends
from fabula.models._strides import make_front
from fabula.models._windows import windows

if TYPE_CHECKING:
    from fabula.core.model import Array


@dataclass(frozen=True)
class SourceReading:
    """One window of a text beside one window of its source; `ids` are scored from `first` on."""

    text: int
    source: tuple[int, ...]
    ids: tuple[int, ...]
    first: int
    new: range


@dataclass(frozen=True)
class Beside:
    """How pairs are read: windows of so many tokens, moved on by `stride`.

    A text longer than the window is read on by `stride` tokens, each scored once. A source longer
    than the window is read by windows that overlap. `beginning` is what the decoder begins with,
    `ends` what stands around the source.
    """

    window: int
    stride: int
    beginning: tuple[int, ...]
    ends: Ends

    def readings(
        self, number: int, source: Sequence[int], text: Sequence[int]
    ) -> Iterator[SourceReading]:
        """Give every window of a text beside every window of its source."""
        front = make_front(self.beginning, (), window=self.window, stride=self.stride)
        for one in front.strides(len(text)):
            ids = (*front.ids, *text[one.start : one.stop])
            first = len(front.ids) + one.new - one.start
            for part in self.parts(source):
                yield SourceReading(number, part, ids, first, range(one.new, one.stop))

    def parts(self, source: Sequence[int]) -> list[tuple[int, ...]]:
        """Give the source by windows, each with what the tokeniser adds."""
        before, after = self.ends.before, self.ends.after
        room = self.window - len(before) - len(after)
        places = windows(len(source), room, max(room - self.stride, 0)) or [range(0)]
        return [(*before, *source[place.start : place.stop], *after) for place in places]


def mean_logs(
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
