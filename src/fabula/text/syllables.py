"""Syllables of English words, counted by their vowels."""

from __future__ import annotations

import re
from functools import lru_cache

_VOWELS = re.compile(r"[aeiouy]+")
_SILENT = re.compile(r"(?:[^laeiouy]e|[^aeiouytd]ed|[^aeiouycghsxz]es|[^aeiouyscgxz]hes)$")


@lru_cache(maxsize=100_000)
def count_syllables(word: str) -> int:
    """Groups of vowels, without a silent e at the end; at least one. A rule of thumb."""
    groups = len(_VOWELS.findall(word))
    return max(1, groups - bool(_SILENT.search(word)))
