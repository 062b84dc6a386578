"""Texts taken apart so that they can be put together again: sentences, words, letters in places."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from fabula.text.sentences import sentence_spans

Span = tuple[int, int]

_ASCII_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SINGLE_LETTERS = r"[\p{Han}\p{Hiragana}\p{Katakana}]"


@dataclass(frozen=True)
class Parted:
    """Sentences of a text and what stands around them: one gap more than there are sentences."""

    gaps: tuple[str, ...]
    sentences: tuple[str, ...]

    def joined(self, sentences: list[str]) -> str:
        """Put other sentences into the same gaps."""
        pairs = zip(self.gaps, [*sentences, ""], strict=True)
        return "".join(part for pair in pairs for part in pair)


def part_sentences(text: str) -> Parted:
    """Part a text so that gaps and sentences together are the text."""
    spans = sentence_spans(text)
    ends = [0, *(end for _, end in spans)]
    starts = [*(start for start, _ in spans), len(text)]
    gaps = tuple(text[end:start] for end, start in zip(ends, starts, strict=True))
    return Parted(gaps, tuple(text[start:end] for start, end in spans))


def find_words(text: str) -> list[Span]:
    """Places of the words; letters keep their marks, and Han and kana stand alone."""
    pattern = _ASCII_WORD if text.isascii() else _any_word()
    return [match.span() for match in pattern.finditer(text)]


def part_letters(text: str) -> list[str]:
    """Letters as a reader counts them: with their marks, emoji whole."""
    if text.isascii():
        return list(text)
    letters: list[str] = _letter().findall(text)
    return letters


def put_into(text: str, changes: dict[Span, str]) -> str:
    """Write other words at some places of a text."""
    parts, place = [], 0
    for start, end in sorted(changes):
        parts += [text[place:start], changes[start, end]]
        place = end
    return "".join([*parts, text[place:]])


def draw_places(rng: random.Random, able: Sequence[int], wanted: float) -> list[int]:
    """Draw about so many of the places that are able, at least one if there is one, in order."""
    return sorted(rng.sample(able, min(len(able), max(1, round(wanted)))))


def reorder(parts: Sequence[str], rng: random.Random) -> list[str]:
    """Give parts, of which two differ, in another order than theirs."""
    moved = list(parts)
    while moved == list(parts):
        rng.shuffle(moved)
    return moved


@lru_cache(maxsize=1)
def _letter() -> Any:
    import regex

    return regex.compile(r"\X", regex.DOTALL)


@lru_cache(maxsize=1)
def _any_word() -> Any:
    import regex

    run = rf"(?:(?=[[\p{{L}}\p{{N}}]--{_SINGLE_LETTERS}])\X)++"
    return regex.compile(rf"(?={_SINGLE_LETTERS})\X|{run}(?:['’]{run})*+", regex.V1)
