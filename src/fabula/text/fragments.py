"""Extractive fragments: the runs of a text that are taken from a source (Grusky et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


class FragmentSource:
    """A source whose runs are looked for in texts; made once, used for many texts."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = list(tokens)
        self._singles = set(self.tokens)
        self._pairs: dict[tuple[str, str], list[int]] = {}
        for place, pair in enumerate(pairwise(self.tokens)):
            self._pairs.setdefault(pair, []).append(place)

    def fragments(self, tokens: Sequence[str]) -> list[int]:
        """Lengths of the fragments that a text greedily takes from the source.

        At each token the source is scanned from its beginning for the longest run that goes on
        like the text; a run that was measured is jumped over, even if a longer one begins within
        it. Only runs of two tokens and more can differ in length, so only these are looked at.
        """
        lengths, place, size = [], 0, len(tokens)
        starts = list(map(self._pairs.get, pairwise(tokens)))
        singles = self._singles
        while place < size:
            here = starts[place] if place + 1 < size else None
            if here is not None:
                longest = self._longest(tokens, place, here)
                lengths.append(longest)
                place += longest
                continue
            if tokens[place] in singles:
                lengths.append(1)
            place += 1
        return lengths

    def _longest(self, tokens: Sequence[str], place: int, starts: list[int]) -> int:
        longest = after = 0
        for start in starts:
            if start < after:
                continue
            length = self._run(tokens, place, start)
            after = start + length
            longest = max(longest, length)
        return longest

    def _run(self, tokens: Sequence[str], place: int, start: int) -> int:
        length = 2
        most = min(len(tokens) - place, len(self.tokens) - start)
        while length < most and tokens[place + length] == self.tokens[start + length]:
            length += 1
        return length
