"""Words that no vocabulary holds: mistyped, made up, or rare."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fabula.text.words import locate_words

Lengths = Callable[[Sequence[str]], Sequence[int]]  # of texts, in tokens

# 1 in 100 human stories has as many odd words, and 19 of 20 of which every tenth word was mistyped
# (benchmarks/review.py --spoiled).
ODD_SHARE = 0.08
_LEAST_WORDS, _LEAST_ODD, _LEAST_LETTERS = 15, 3, 3
_ENDINGS = (
    "s es ed d ing ly er est y ness less ful able ish like en al ment ion ously".split()
)  # fmt: skip
_BEGINNINGS = "un re in dis over out".split()


@dataclass(frozen=True)
class OddWords:
    """Words that no vocabulary holds, nor their parts: their share of a text, the oddest first."""

    share: float = 0.0
    words: tuple[str, ...] = ()

    @property
    def are_many(self) -> bool:
        """Whether so few human stories have as many that the text may be spoiled."""
        return self.share >= ODD_SHARE and len(self.words) >= _LEAST_ODD


def find_odd_words(text: str, lengths: Lengths) -> OddWords:
    """Find words that are mistyped, made up or rare, by the tokens of a vocabulary.

    Words that are never written small are names. A word is known if it is one token, or if what is
    left without an ending or a beginning is, or both halves of a compound.
    """
    placed = locate_words(text, 0, len(text))
    small = {word.word for word in placed if text[word.start].islower()}
    told = [word.word for word in placed if word.word in small and word.word.isalpha()]
    told = [word for word in told if len(word) >= _LEAST_LETTERS]
    if len(told) < _LEAST_WORDS:
        return OddWords()
    different = list(dict.fromkeys(told))
    tokens = dict(zip(different, lengths(different), strict=True))
    parts = {word: _take_apart(word) for word in different if tokens[word] > 1}
    pieces = sorted({piece for ways in parts.values() for way in ways for piece in way})
    whole = {
        piece for piece, size in zip(pieces, lengths(pieces) if pieces else (), strict=True)
        if size == 1
    }  # fmt: skip
    odd = [word for word, ways in parts.items() if not any(whole.issuperset(way) for way in ways)]
    odd.sort(key=lambda word: -tokens[word] / len(word))
    counted = set(odd)
    return OddWords(sum(word in counted for word in told) / len(told), tuple(odd))


def _take_apart(word: str) -> list[tuple[str, ...]]:
    """Give the ways in which a word may be made of others."""
    ways: list[tuple[str, ...]] = []
    for at in range(_LEAST_LETTERS, len(word)):
        stem, end = word[:at], word[at:]
        if len(end) >= _LEAST_LETTERS:
            ways.append((stem, end))
        if end in _ENDINGS:
            ways += [(stem,), (f"{stem}e",)]  # walk-ed, writ(e)-ing
            ways += [(stem[:-1],)] if stem[-1] == stem[-2] else []  # stopp-ed
            ways += [(f"{stem[:-1]}y",)] if stem[-1] == "i" else []  # happi-ly
    cut = [word.removeprefix(start) for start in _BEGINNINGS if word.startswith(start)]
    return ways + [(rest,) for rest in cut if len(rest) > _LEAST_LETTERS]


def describe_odd_words(odd: OddWords) -> str:
    """Say how many odd words there are, where they are many; "" where they are not."""
    if not odd.are_many:
        return ""
    named = ", ".join(f"“{word}”" for word in odd.words[:4])
    return f"{100 * odd.share:.0f} % of its words are mistyped, made up or rare ({named})"
