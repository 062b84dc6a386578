"""Words with their places in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word in small letters, and where it begins and ends."""

    word: str
    start: int
    end: int


def placed_words(text: str, start: int = 0, end: int | None = None) -> list[PlacedWord]:
    """Words of a part of a text with their places in the whole."""
    stop = len(text) if end is None else end
    return [
        PlacedWord(found[0].lower().replace("’", "'"), found.start(), found.end())
        for found in _WORD.finditer(text, start, stop)
    ]
