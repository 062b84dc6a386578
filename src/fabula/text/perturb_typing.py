"""Perturbations of how a text is typed: slips of the fingers, blanks, quotation marks."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable

from fabula.text.perturb_parts import draw_places, find_words, part_letters, put_into

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: row[max(0, place - 1) : place] + row[place + 1 : place + 2]
    for row in _ROWS
    for place, key in enumerate(row)
}
_SHORTEST = 3

_BLANK = re.compile(r"(?<=\S) (?=\S)")
_ODD_BLANKS = ("  ", "   ", "\n", " \n")

_STRAIGHT = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‟": '"', "‘": "'", "’": "'", "‚": "'", "‛": "'"}
)
_OPENS_AFTER = "([{-–—"


def typos(text: str, *, share: float = 0.1, seed: int = 0) -> str | None:
    """Mistype a share of the words once each: letters swapped, dropped, doubled or next keys.

    Words of fewer than three letters and words with digits are left alone.
    """
    spans = find_words(text)
    rng = random.Random(seed)
    wanted = max(1, round(share * len(spans)))
    changes: dict[tuple[int, int], str] = {}
    for place in rng.sample(range(len(spans)), len(spans)):
        if len(changes) == wanted:
            break
        start, end = spans[place]
        slip = _mistyped(text[start:end], rng)
        if slip is not None:
            changes[start, end] = slip
    return put_into(text, changes) if changes else None


def spacing(text: str, *, share: float = 0.3, seed: int = 0) -> str | None:
    """Make a share of the single blanks double ones or line breaks; no paragraph begins or ends."""
    blanks = [found.span() for found in _BLANK.finditer(text)]
    blanks = [span for span in blanks if unicodedata.category(text[span[1]])[0] != "M"]
    if not blanks:
        return None
    rng = random.Random(seed)
    chosen = draw_places(rng, range(len(blanks)), share * len(blanks))
    return put_into(text, {blanks[place]: rng.choice(_ODD_BLANKS) for place in chosen})


def quotes(text: str, *, share: float | None = None, seed: int = 0) -> str | None:
    """Write curly quotation marks straight, or straight ones curly where none is curly."""
    straight = text.translate(_STRAIGHT)
    if straight != text:
        return straight
    curly = _curled(text)
    return None if curly == text else curly


def _mistyped(word: str, rng: random.Random) -> str | None:
    letters = part_letters(word)
    if len(letters) < _SHORTEST or not all(letter[:1].isalpha() for letter in letters):
        return None
    slips: list[Callable[[list[str], int, random.Random], list[str]]] = [
        _swap, _drop, _double, _next_key,
    ]  # fmt: skip
    rng.shuffle(slips)
    for slip in slips:
        found = "".join(slip(letters, rng.randrange(len(letters)), rng))
        if found != word:
            return found
    return None


def _swap(letters: list[str], place: int, rng: random.Random) -> list[str]:
    """Swap two letters; a large one at the beginning stays where it is."""
    left = max(1, min(place, len(letters) - 2)) if letters[0].isupper() else place
    left = min(left, len(letters) - 2)
    return [*letters[:left], letters[left + 1], letters[left], *letters[left + 2 :]]


def _drop(letters: list[str], place: int, rng: random.Random) -> list[str]:
    place = max(1, place)
    return letters[:place] + letters[place + 1 :]


def _double(letters: list[str], place: int, rng: random.Random) -> list[str]:
    place = max(1, place)
    return [*letters[: place + 1], *letters[place:]]


def _next_key(letters: list[str], place: int, rng: random.Random) -> list[str]:
    keys = _NEIGHBOURS.get(letters[place].lower(), "")
    if not keys:
        return letters
    key = rng.choice(keys)
    return [
        *letters[:place],
        key.upper() if letters[place].isupper() else key,
        *letters[place + 1 :],
    ]


def _curled(text: str) -> str:
    """Turn each mark by what stands before it; one within a word is an apostrophe."""
    if not {'"', "'"} & set(text):
        return text
    written: list[str] = []
    for char in text:
        before = written[-1] if written else " "
        opens = before.isspace() or before in _OPENS_AFTER or before in "“‘"
        if char == '"':
            char = "“" if opens else "”"
        elif char == "'":
            char = "‘" if opens else "’"
        written.append(char)
    return "".join(written)
