"""Extractive fragments: the runs of a text that are taken from a source (Grusky et al., 2018)."""

from __future__ import annotations

from collections.abc import Sequence


class FragmentSource:
    """A source whose runs are looked for in texts; made once, used for many texts."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = list(tokens)
        self._singles = set(self.tokens)
        self._pairs: dict[tuple[str, str], list[int]] = {}
        for place, pair in enumerate(zip(self.tokens, self.tokens[1:], strict=False)):
            self._pairs.setdefault(pair, []).append(place)

    def fragments(self, tokens: Sequence[str]) -> list[int]:
        """Lengths of the fragments that a text greedily takes from the source.

        At each token the source is scanned from its beginning for the longest run that goes on
        like the text; a run that was measured is jumped over, even if a longer one begins within
        it. Only runs of two tokens and more can differ in length, so only these are looked at.
        """
        found, place = [], 0
        size = len(tokens)
        while place < size:
            longest = self._longest(tokens, place) if place + 1 < size else 0
            if longest < 2:
                longest = 1
                if tokens[place] in self._singles:
                    found.append(1)
            else:
                found.append(longest)
            place += longest
        return found

    def _longest(self, tokens: Sequence[str], place: int) -> int:
        longest = after = 0
        for start in self._pairs.get((tokens[place], tokens[place + 1]), ()):
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
