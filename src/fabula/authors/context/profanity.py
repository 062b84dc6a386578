"""The profanity filter: words of a list are covered with stars, also where they are disguised.

A letter may be written as one that looks like it (`$` for s), any run of punctuation may stand
between letters, and a word is found only whole. All words are followed at once, a character at a
time, so the time is linear in the text whatever stands in it; a regular expression of the same
words would try all ways of reading a run of signs that are letters and punctuation at once.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from pathlib import Path

from fabula.core.errors import InputError
from fabula.core.files import read_bounded

LOOK_ALIKES = {
    "a": "@4*", "b": "8", "c": "(<", "e": "3€*", "g": "69", "h": "#", "i": "1!|*", "l": "1|",
    "o": "0*", "s": "$5", "t": "7+", "u": "*", "x": "×", "z": "2",
}  # fmt: skip
_SPACE = " "


class WordFilter:
    """Words as a tree of letters, each with its look-alikes; made once, used for many texts.

    `compat`: as released, where the comma looks like every letter, and punctuation right after a
    match is covered too, a blank or the end of the text having to follow.
    """

    def __init__(self, words: Iterable[str], *, compat: bool = False) -> None:
        self.compat = compat
        self._children: list[dict[str, int]] = [{}]
        self._is_end = [False]
        for word in words:
            self._add(" ".join(word.split()).lower())

    def _add(self, word: str) -> None:
        node = 0
        for letter in word:
            if letter not in self._children[node]:
                self._children[node][letter] = len(self._children)
                self._children.append({})
                self._is_end.append(False)
            node = self._children[node][letter]
        self._is_end[node] = node > 0

    def cover(self, text: str) -> str:
        """Cover every word of the list with as many stars."""
        return self.cover_on(text)[0]

    def cover_on(self, text: str) -> tuple[str, int]:
        """Cover words, and say up to where that stays whatever follows the text: from there on
        it can be read again together with what follows, and the rest need not be."""
        matches, settled = self._find(text)
        covered, place = [], 0
        for start, stop in matches:
            covered += [text[place:start], "*" * (stop - start)]
            place = stop
        return "".join(covered) + text[place:], settled

    def _find(self, text: str) -> tuple[list[tuple[int, int]], int]:
        """Where words stand: the leftmost first, of those that begin together the longest; and the
        last place before which no word was under way."""
        settled = 0
        matches: dict[int, int] = {}
        # Words under way: the node of the tree, and where the first of them that is there began.
        active: dict[int, int] = {}
        for place, sign in enumerate(text):
            letters = _read(sign, compat=self.compat)
            is_mark = not sign.isalnum() and not sign.isspace() and sign != "_"
            if not active and not (place and _is_word(text[place - 1])):
                settled = place
            if self._may_begin(text, place):
                active = {0: place} | active
            reached: dict[int, int] = {}
            # A node is left by its letter, and stays where it is at a mark.
            for node, start in active.items():
                for letter in letters & self._children[node].keys():
                    child = self._children[node][letter]
                    reached[child] = min(start, reached.get(child, start))
                    if self._is_end[child] and self._may_end(text, place + 1):
                        matches[start] = max(matches.get(start, 0), place + 1)
                if is_mark and node:
                    reached[node] = min(start, reached.get(node, start))
                    if self.compat and self._is_end[node] and self._may_end(text, place + 1):
                        matches[start] = max(matches.get(start, 0), place + 1)
            active = reached
        spans: list[tuple[int, int]] = []
        for start, stop in sorted(matches.items()):
            if not spans or start >= spans[-1][1]:
                spans.append((start, stop))
        return spans, settled

    def _may_begin(self, text: str, place: int) -> bool:
        is_inside = place > 0 and _is_word(text[place - 1])
        # The release asks for a border of a word, which no sign has after a blank.
        return _is_word(text[place]) != is_inside if self.compat else not is_inside

    def _may_end(self, text: str, place: int) -> bool:
        if place == len(text):
            return True
        return text[place].isspace() if self.compat else not _is_word(text[place])


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


@cache
def _read(sign: str, *, compat: bool) -> frozenset[str]:
    """Letters that a sign may stand for: itself, what it looks like, its letter without marks."""
    if sign.isspace():
        return frozenset(_SPACE)
    lowered = sign.lower()
    letters = {lowered, unicodedata.normalize("NFKD", lowered)[:1]}
    letters |= {letter for letter, signs in LOOK_ALIKES.items() if sign in signs}
    if compat and sign == ",":
        letters |= {chr(code) for code in range(ord("a"), ord("z") + 1)}
    return frozenset(letters)


def read_words(path: Path | None = None) -> list[str]:
    """Read a list, a word or phrase a line; `#` begins a remark. Without a path, our short one."""
    if path is None:
        text = (files(__package__) / "_files" / "profanities.txt").read_text(encoding="utf-8")
    else:
        try:
            text = read_bounded(path).decode("utf-8-sig")
        except OSError as failed:
            raise InputError(f"{path} cannot be read ({failed.strerror})", "check it") from None
        except UnicodeDecodeError:
            raise InputError(f"{path} is not UTF-8", "save the list of words as UTF-8") from None
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def load_filter() -> WordFilter:
    """Give the filter of the list that `FABULA_PROFANITIES` names, or of ours; made once."""
    return _make_filter(os.environ.get("FABULA_PROFANITIES", ""))


@cache
def _make_filter(path: str) -> WordFilter:
    return WordFilter(read_words(Path(path) if path else None))


def cover_profanities(
    text: str, words: Iterable[str] | None = None, *, compat: bool = False
) -> str:
    """Cover the words of a list, or of the one that is set, with as many stars."""
    if words is None and not compat:
        return load_filter().cover(text)
    return WordFilter(read_words() if words is None else words, compat=compat).cover(text)
