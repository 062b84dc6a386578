"""Words with their places in a text, and the lists of words that comments go by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from fabula.text.stem import stem

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word in small letters, and where it begins and ends."""

    word: str
    start: int
    end: int


def locate_words(text: str, start: int = 0, end: int | None = None) -> list[PlacedWord]:
    """Words of a part of a text with their places in the whole."""
    stop = len(text) if end is None else end
    return [
        PlacedWord(match[0].lower().replace("’", "'"), match.start(), match.end())
        for match in _WORD.finditer(text, start, stop)
    ]


@lru_cache(maxsize=16)
def word_list(name: str) -> frozenset[str]:
    """Read a list; lines that begin with # are remarks."""
    text = (files(__package__) / "_words" / f"{name}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(" ".join(lines).split())


@lru_cache(maxsize=16)
def stem_list(name: str) -> frozenset[str]:
    """Read a list as stems, so that one form of a word stands for the others."""
    return frozenset(map(stem_word, word_list(name)))


@lru_cache(maxsize=20_000)
def stem_word(word: str) -> str:
    """Stem a lower-case word as Porter did."""
    return stem(word, "nltk") if word.isascii() else word
