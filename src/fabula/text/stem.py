"""Porter's stemmer in the two dialects that ROUGE implementations use.

`martin` is Porter's own Perl version: the paper of 1980 with his two departures. `nltk` adds the
extensions that are the default of NLTK and so of rouge-score. Porter (1980), An algorithm for
suffix stripping.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

Dialect = Literal["martin", "nltk"]

_IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
} | {word: word for word in "sky news inning outing canning howe proceed exceed succeed".split()}

_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = "al ance ence er ic able ible ant ement ment ent ion ou ism ate iti ous ive ize".split()


def stem(word: str, dialect: Dialect) -> str:
    """Stem a lower-case word."""
    if dialect == "nltk" and word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _step_1c(_step_1b(_step_1a(word, dialect), dialect), dialect)
    word = _step_4(_replace(_step_2(word, dialect), _STEP_3))
    return _step_5(word, dialect)


def _consonants(word: str) -> list[bool]:
    """Say of each letter whether it counts as a consonant; y after one is a vowel."""
    flags: list[bool] = []
    for letter in word:
        if letter == "y":
            flags.append(not flags or not flags[-1])
        else:
            flags.append(letter not in "aeiou")
    return flags


def _measure(word: str) -> int:
    """Number of vowel-consonant sequences: m in [C](VC)^m[V]."""
    flags = _consonants(word)
    return sum(not before and after for before, after in pairwise(flags))


def _has_vowel(word: str) -> bool:
    return not all(_consonants(word))


def _ends_doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonants(word)[-1]


def _short_end(word: str, dialect: Dialect) -> bool:
    """Consonant, vowel, consonant that is not w, x or y: where an e was dropped."""
    flags = _consonants(word)
    if len(word) > 2:
        return flags[-3:] == [True, False, True] and word[-1] not in "wxy"
    return dialect == "nltk" and flags == [False, True]


def _replace(word: str, rules: tuple[tuple[str, str], ...]) -> str:
    """Apply the first rule whose ending fits, if something is left before it."""
    for ending, other in rules:
        if word.endswith(ending):
            head = word[: -len(ending)]
            return head + other if _measure(head) > 0 else word
    return word


def _step_1a(word: str, dialect: Dialect) -> str:
    if dialect == "nltk" and len(word) == 4 and word.endswith("ies"):
        return word[:-1]
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _step_1b(word: str, dialect: Dialect) -> str:
    if dialect == "nltk" and word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        head = word[: -len(ending)]
        if word.endswith(ending) and _has_vowel(head):
            return _mend(head, dialect)
    return word


def _mend(head: str, dialect: Dialect) -> str:
    """Give back what -ed or -ing took: an e, or one of two letters too many."""
    if head.endswith(("at", "bl", "iz")):
        return head + "e"
    if _ends_doubled(head):
        return head if head[-1] in "lsz" else head[:-1]
    return head + "e" if _measure(head) == 1 and _short_end(head, dialect) else head


def _step_1c(word: str, dialect: Dialect) -> str:
    head = word[:-1]
    if not word.endswith("y"):
        return word
    if dialect == "nltk":
        return head + "i" if len(head) > 1 and _consonants(head)[-1] else word
    return head + "i" if _has_vowel(head) else word


def _step_2(word: str, dialect: Dialect) -> str:
    if dialect == "nltk" and word.endswith("alli") and _measure(word[:-4]) > 0:
        return _step_2(word[:-2], dialect)
    replaced = _replace(word, _STEP_2)
    if replaced != word:
        return replaced
    if word.endswith("logi"):
        kept = word[:-3] if dialect == "nltk" else word[:-4]
        return word[:-1] if _measure(kept) > 0 else word
    return _replace(word, (("fulli", "ful"),)) if dialect == "nltk" else word


def _step_4(word: str) -> str:
    for ending in _STEP_4:
        if word.endswith(ending):
            head = word[: -len(ending)]
            fits = _measure(head) > 1 and (ending != "ion" or head[-1] in "st")
            return head if fits else word
    return word


def _step_5(word: str, dialect: Dialect) -> str:
    if word.endswith("e"):
        head = word[:-1]
        measure = _measure(head)
        if measure > 1 or (measure == 1 and not _short_end(head, dialect)):
            word = head
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


class Stems(dict[str, str]):
    """Stems of the words met so far; words of up to `shortest` letters stay as they are."""

    most = 500_000

    def __init__(self, dialect: Dialect, shortest: int) -> None:
        super().__init__()
        self.dialect: Dialect = dialect
        self.shortest = shortest

    def __missing__(self, word: str) -> str:
        """Stem a word not met before, forgetting all where there are too many."""
        if len(self) >= self.most:
            self.clear()
        self[word] = stemmed = stem(word, self.dialect) if len(word) > self.shortest else word
        return stemmed
