"""Words of any script; on ASCII text they are what the papers' ASCII rules find."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_BARE_WORD = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_WRITTEN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

# Western letters and typographic marks: 8 bits are enough to lower-case and part them at once.
_WESTERN = "cp1252"

# Where letters carry marks of their own or words are written without blanks, the standard
# library's \w will not do. Wide ranges: they hold all such characters, and some others.
_INTRICATE = re.compile(
    "[\u0300-\u036f\u0374\u0483-\u0489\u0591-\u1fff\u20d0-\u20ff\u2126-\u212b\u2cef-\u2cf1\u2d7f"
    "\u2de0-\u2dff\u2e80-\ufaff\ufb1d-\ufb4f\ufe20-\ufe2f\uff66-\uffdc\U000101fd\U000102e0"
    "\U00010376-\U0001037a\U00010a01-\U0001eef1\U0001f200\U00020000-\U000e00ff]"
)

# Written without blanks between words: a character is a word. Thai, Lao, Khmer and Burmese runs
# stay whole, for parting them takes a dictionary.
_UNSPACED = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
_MARK = r"[[\p{Mn}\p{Mc}]--[\uFE00-\uFE0F\U000E0100-\U000E01EF]]"
_ALONE = rf"{_UNSPACED}{_MARK}*+"
_RUN = rf"[[\p{{L}}\p{{N}}]--{_UNSPACED}][[\p{{L}}\p{{N}}{_MARK}]--{_UNSPACED}]*+"


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word in small letters, and where it begins and ends."""

    word: str
    start: int
    end: int


def locate_words(text: str, start: int = 0, end: int | None = None) -> list[PlacedWord]:
    """Words of a part of a text with their places in the whole."""
    stop = len(text) if end is None else end
    return [
        PlacedWord(match[0].lower().replace("’", "'"), match.start(), match.end())
        for match in _WRITTEN_WORD.finditer(text, start, stop)
    ]


def span_words(text: str) -> list[tuple[int, int]]:
    """Where each word of `locate_words` begins and ends: all there is to know to count them."""
    return [match.span() for match in _WRITTEN_WORD.finditer(text)]


def words(text: str) -> list[str]:
    """Lower-case words without punctuation; an apostrophe inside a word belongs to it."""
    lowered = text.lower().replace("’", "'")
    if lowered.isascii() or not _INTRICATE.search(lowered):
        return _WORD.findall(lowered)
    return _find(f"{_ALONE}|{_RUN}(?:'{_RUN})*+", lowered)


def bare_words(text: str) -> list[str]:
    """Lower-case runs of letters and digits: rouge-score's rule, for every script."""
    raw = _western_bytes(text)
    if raw is not None:
        return raw.translate(_western_table()).decode(_WESTERN).split()
    lowered = text.lower()
    if not _INTRICATE.search(lowered):
        return _BARE_WORD.findall(lowered)
    return _find(f"{_ALONE}|{_RUN}", lowered)


def tokens(text: str) -> list[str]:
    """Words, as they are written, and punctuation marks, each mark by itself."""
    text = text.replace("’", "'")
    return _find(rf"{_ALONE}|{_RUN}(?:'{_RUN})*+|[^\s\p{{L}}\p{{N}}\p{{C}}]", text)


def ascii_words(text: str) -> list[str]:
    """Runs of a–z and 0–9 after lower-casing, as in rouge-score and ROUGE-1.5.5."""
    if text.isascii():
        return bare_words(text)
    return _ASCII_WORD.findall(text.lower())


def _western_bytes(text: str) -> bytes | None:
    """Give a text as one byte a character, if it can be."""
    try:
        return text.encode("ascii" if text.isascii() else _WESTERN)
    except UnicodeEncodeError:
        return None


@lru_cache(maxsize=1)
def _western_table() -> bytes:
    """Map each byte to its lower-case letter or digit, all else to a blank."""
    letters = [bytes([code]).decode(_WESTERN, "replace").lower() for code in range(256)]
    return b"".join(char.encode(_WESTERN) if char.isalnum() else b" " for char in letters)


def _find(pattern: str, text: str) -> list[str]:
    """Find words in one spelling, so that é typed in two ways is one letter."""
    words: list[str] = _compile(pattern).findall(unicodedata.normalize("NFC", text))
    return words


@lru_cache(maxsize=4)
def _compile(pattern: str) -> Any:
    """Compile on first use: importing `regex` costs start-up time."""
    import regex

    return regex.compile(pattern, regex.V1)


_VOWELS = re.compile(r"[aeiouy]+")
_SILENT = re.compile(r"(?:[^laeiouy]e|[^aeiouytd]ed|[^aeiouycghsxz]es|[^aeiouyscgxz]hes)$")


@lru_cache(maxsize=100_000)
def count_syllables(word: str) -> int:
    """Groups of vowels, without a silent e at the end; at least one. A rule of thumb."""
    groups = len(_VOWELS.findall(word))
    return max(1, groups - bool(_SILENT.search(word)))


_CAPTION_TOKEN = re.compile(
    r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+(?=n't\b)"  # contractions, in two
    r"|\w+(?:[-.,:/]\w+)*"  # words, with hyphens and figures left whole
)
_TWO_WORDS = {"cannot": ("can", "not"), "gonna": ("gon", "na"), "wanna": ("wan", "na")}


def caption_words(text: str) -> list[str]:
    """Lower-case tokens, contractions parted as in the Penn Treebank, punctuation left out."""
    tokens = _CAPTION_TOKEN.findall(text.lower().replace("’", "'"))
    return [part for token in tokens for part in _TWO_WORDS.get(token, (token,))]
