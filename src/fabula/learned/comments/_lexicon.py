"""Word lists that comments go by: our own, plain files beside this one."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from fabula.text.stem import stem


@lru_cache(maxsize=16)
def word_list(name: str) -> frozenset[str]:
    """Read a list; lines that begin with # are remarks."""
    text = (files(__package__) / "_words" / f"{name}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return frozenset(" ".join(lines).split())


@lru_cache(maxsize=16)
def stem_list(name: str) -> frozenset[str]:
    """Read a list as stems, so that one form of a word stands for the others."""
    return frozenset(map(stem_of, word_list(name)))


@lru_cache(maxsize=20_000)
def stem_of(word: str) -> str:
    """Stem a lower-case word as Porter did."""
    return stem(word, "nltk") if word.isascii() else word
