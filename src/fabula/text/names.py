"""Names of persons, told by their capitals alone: who is spoken of, and one for the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any

from fabula.text.sentences import ABBREVIATIONS

# Capitalised within sentences, but nobody's names.
_NOT_NAMES = frozenset(
    "i mr mrs ms dr sir lady lord madam miss uncle aunt god english french german american "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may "
    "june july august september october november december christmas easter earth".split()
)

# A text whose sentences begin with capitals has more of them, by a word without.
_FEWEST_CAPITALS = 0.02


def find_names(text: str) -> list[str]:
    """Names, the most frequent first, then the one that comes first.

    A name is a word that stands capitalised within a sentence at least once, and nowhere in the
    text without its capital.
    """
    small = {word.lower() for word in _small().findall(text)}
    counts = Counter(_large().findall(text))
    within = find_capitalised(text)
    return [name for name, _ in counts.most_common() if name in within and _may_be(name, small)]


def learn_names(texts: Iterable[str], *, most_small: float = 0.05) -> frozenset[str]:
    """Names that many texts have among them.

    A name is a word that somewhere stands capitalised within a sentence, and of whose occurrences
    at most this share has no capital. So a name is known that one text has at beginnings alone.
    Texts that hardly know capitals say nothing of names.
    """
    small: Counter[str] = Counter()
    large: Counter[str] = Counter()
    within: set[str] = set()
    for text in texts:
        with_capitals, without = _large().findall(text), _small().findall(text)
        if len(with_capitals) < _FEWEST_CAPITALS * len(without):
            continue
        small.update(without)
        large.update(with_capitals)
        within |= find_capitalised(text)
    return frozenset(
        name
        for name in within
        if _may_be(name, set())
        and small[name.lower()] <= most_small * (small[name.lower()] + large[name])
    )


def find_capitalised(text: str) -> set[str]:
    """Words with a capital that they do not owe to the beginning of a sentence or a speech."""
    return set(_within().findall(text))


def swap_names(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Give the two most frequent names to each other, throughout; there is no chance in it.

    Words that stand side by side, as in Mary Smith, are one name's parts and are not swapped.
    """
    pair = _two_names(text)
    if pair is None:
        return None
    other = {pair[0]: pair[1], pair[1]: pair[0]}
    swapped: str = _large().sub(lambda name: other.get(name[0], name[0]), text)
    return swapped


def _two_names(text: str) -> tuple[str, str] | None:
    names = find_names(text)
    if len(names) < 2:
        return None
    neighbours = _neighbours(text, names[0])
    return next(((names[0], name) for name in names[1:] if name not in neighbours), None)


def _neighbours(text: str, name: str) -> set[str]:
    """Capitalised words that stand right before or after a name."""
    matches = list(_large().finditer(text))
    pairs = [
        (left[0], right[0])
        for left, right in pairwise(matches)
        if name in (left[0], right[0]) and not text[left.end() : right.start()].strip(" -.")
    ]
    return {word for pair in pairs for word in pair} - {name}


def _may_be(name: str, small: set[str]) -> bool:
    lowered = name.lower()
    return (
        len(name) > 1
        and not name.isupper()
        and lowered not in small
        and lowered not in _NOT_NAMES
        and lowered not in ABBREVIATIONS
    )


_LETTER = r"[\p{L}\p{M}\p{N}_]"


@lru_cache(maxsize=1)
def _large() -> Any:
    import regex

    return regex.compile(rf"(?<!{_LETTER}|{_LETTER}['’])\p{{Lu}}[\p{{L}}\p{{M}}]*+(?!{_LETTER})")


@lru_cache(maxsize=1)
def _small() -> Any:
    import regex

    return regex.compile(rf"(?<!{_LETTER})\p{{Ll}}[\p{{L}}\p{{M}}]*+(?!{_LETTER})")


@lru_cache(maxsize=1)
def _within() -> Any:
    """After a word or a comma and a blank, or after a title with its full stop."""
    import regex

    before = r"(?<=[\p{L}\p{N},;]\s|\b(?:Mr|Mrs|Ms|Dr)\.\s)"
    return regex.compile(rf"{before}\p{{Lu}}[\p{{L}}\p{{M}}]*+(?!{_LETTER})")
