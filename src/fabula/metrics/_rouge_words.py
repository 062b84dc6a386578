"""Words as ROUGE compares them, kept for a while: one text meets many references and settings."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from fabula.text.stem import Stems
from fabula.text.words import ascii_words, bare_words

# rouge-score and ROUGE-1.5.5 alike stem words of more than three letters only.
_SHORTEST = 3
_NLTK = Stems("nltk", _SHORTEST)
_MARTIN = Stems("martin", _SHORTEST)


@lru_cache(maxsize=256)
def rouge_words(text: str, stem: bool, left_out: frozenset[str]) -> list[str]:
    """Words of a text for the default rule: every script, stems as in rouge-score."""
    found = bare_words(text)
    if left_out:
        found = [word for word in found if word not in left_out]
    return list(map(_NLTK.__getitem__, found)) if stem else found


@lru_cache(maxsize=256)
def perl_lines(text: str, stem: bool, left_out: frozenset[str]) -> list[list[str]]:
    """Words of each line as ROUGE-1.5.5 reads HANNA's pages: nothing after the first `<`."""
    lines = [ascii_words(line) for line in text.partition("<")[0].split("\n")]
    if left_out:
        lines = [[word for word in line if word not in left_out] for line in lines]
    return [[_MARTIN[word] for word in line] if stem else line for line in lines if line]


def numbered(*sides: Sequence[str]) -> list[list[int]]:
    """Give the words of several sequences as numbers, the same word the same number."""
    numbers: dict[str, int] = {}
    return [[numbers.setdefault(word, len(numbers)) for word in side] for side in sides]
