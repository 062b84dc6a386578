"""English inflection by simple rules: what a form may be a form of, and forms of plain words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from fabula.text.verbs import PASTS, plain_of_past, plain_of_third
from fabula.text.words import count_syllables

Form = Literal["plain", "past", "third", "plural", "ing", "more", "most"]

_UNCHANGED = frozenset("put cut hit hurt let set shut cost spread read beat bet burst cast".split())
_PLURALS = dict(
    pair.split(":")
    for pair in """
    man:men woman:women child:children foot:feet tooth:teeth mouse:mice goose:geese person:people
    wife:wives life:lives knife:knives leaf:leaves wolf:wolves half:halves thief:thieves
    shelf:shelves loaf:loaves calf:calves self:selves
    """.split()
)
_DEGREES = {
    "good": ("better", "best"),
    "bad": ("worse", "worst"),
    "far": ("farther", "farthest"),
    "little": ("less", "least"),
    "much": ("more", "most"),
    "many": ("more", "most"),
}
# The stress lies on the last syllable, so that its consonant is doubled.
_STRESSED = frozenset("begin forget admit prefer commit permit regret occur refer forbid".split())
_SHORT = re.compile(r"[^aeiou][aeiou][^aeiouwxy]$")
_MUTE = re.compile(r"[^eoy]e$")


def _turn(pairs: dict[str, str]) -> dict[str, str]:
    """Turn keys and values round; of several keys the first wins."""
    forms: dict[str, str] = {}
    for key, value in pairs.items():
        forms.setdefault(value, key)
    return forms


_PAST_OF = _turn(PASTS) | {word: word for word in _UNCHANGED}
_SINGULARS = _turn(_PLURALS)
_PLAIN_OF_DEGREE: dict[str, tuple[str, Form]] = {
    "better": ("good", "more"),
    "best": ("good", "most"),
    "worse": ("bad", "more"),
    "worst": ("bad", "most"),
}


@lru_cache(maxsize=100_000)
def plain_forms(word: str) -> tuple[tuple[str, Form], ...]:
    """Plain words that a lower-case word may be a form of, the likeliest first.

    No lexicon is asked: some are no words at all, and the word itself is always among them.
    """
    return tuple(dict.fromkeys(_candidates(word)))


def inflect(plain: str, form: Form) -> str:
    """Put a plain word into a form: `stop` and `past` give `stopped`; `closed` stays."""
    if form in ("past", "ing"):
        return plain if _is_inflected(plain, form) else _of_verb(plain, form)
    if form in ("third", "plural"):
        return _with_s(plain, form)
    return _of_degree(plain, form) if form in ("more", "most") else plain


def match_case(word: str, other: str) -> str:
    """Write another word with the capitals of a word."""
    if len(word) > 1 and word.isupper():
        return other.upper()
    return other[:1].upper() + other[1:] if word[:1].isupper() else other


def _candidates(word: str) -> Iterator[tuple[str, Form]]:
    if past := plain_of_past(word):
        yield past, "past"
    if word in _PLAIN_OF_DEGREE:
        yield _PLAIN_OF_DEGREE[word]
    yield word, "plain"
    if word in _SINGULARS:
        yield _SINGULARS[word], "plural"
    if third := plain_of_third(word):
        yield third, "third"
        yield third, "plural"
    for ending, form in _ENDINGS:
        if word.endswith(ending) and len(word) > len(ending) + 1:
            yield from ((stem, form) for stem in _stems(word[: -len(ending)]))


_ENDINGS: tuple[tuple[str, Form], ...] = (("ing", "ing"), ("est", "most"), ("er", "more"))


def _stems(head: str) -> Iterator[str]:
    """Undo what an ending does to the end of a word: runn(ing), mak(ing), happi(er)."""
    yield head
    yield head + "e"
    if len(head) > 2 and head[-1] == head[-2]:
        yield head[:-1]
    if head.endswith("i"):
        yield head[:-1] + "y"


def _is_inflected(word: str, form: Form) -> bool:
    if form == "past":
        return word.endswith("ed") and plain_of_past(word) is not None
    return word.endswith("ing") and count_syllables(word) > 1


def _of_verb(plain: str, form: Form) -> str:
    if form == "past" and plain in _PAST_OF:
        return _PAST_OF[plain]
    if form == "ing" and plain.endswith("ie"):
        return plain[:-2] + "ying"
    if form == "ing" and _MUTE.search(plain):
        return plain[:-1] + "ing"
    if form == "ing":
        return _double_last(plain) + "ing"
    return _join(plain, "ed")


def _with_s(plain: str, form: Form) -> str:
    if form == "plural" and plain in _PLURALS:
        return _PLURALS[plain]
    if form == "third" and plain in ("have", "be"):
        return "has" if plain == "have" else "is"
    if re.search(r"[^aeiou]y$", plain):
        return plain[:-1] + "ies"
    return plain + ("es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", plain) else "s")


def _of_degree(plain: str, form: Form) -> str:
    if plain in _DEGREES:
        return _DEGREES[plain][form == "most"]
    short = count_syllables(plain) == 1 or (count_syllables(plain) == 2 and plain.endswith("y"))
    if not short:
        return f"{form} {plain}"
    return _join(plain, "er" if form == "more" else "est")


def _join(plain: str, ending: str) -> str:
    """Join an ending that begins with e."""
    if plain.endswith("e"):
        return plain + ending[1:]
    if re.search(r"[^aeiou]y$", plain):
        return plain[:-1] + "i" + ending
    return _double_last(plain) + ending


def _double_last(plain: str) -> str:
    once = count_syllables(plain) == 1 and _SHORT.search(plain)
    return plain + plain[-1] if once or plain in _STRESSED else plain
