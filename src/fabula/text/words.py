"""Words of any script; on ASCII text they are what the papers' ASCII rules find."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Any

_ASCII_WORD = re.compile(r"[a-z0-9]+")
_LATIN_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

# Western letters and typographic marks: 8 bits are enough to lower-case and part them at once.
_WESTERN = "cp1252"

# Written without blanks between words: a character is a word. Thai, Lao, Khmer and Burmese runs
# stay whole, for parting them takes a dictionary.
_ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}]\p{M}*"
_RUN = r"(?:(?![\p{Han}\p{Hiragana}\p{Katakana}])[\p{L}\p{N}]\p{M}*)+"


def words(text: str) -> list[str]:
    """Lower-case words without punctuation; an apostrophe inside a word belongs to it."""
    lowered = text.lower()
    if _western_bytes(lowered) is not None:
        return _LATIN_WORD.findall(lowered)
    return _find(f"{_ALONE}|{_RUN}(?:['’]{_RUN})*", lowered)


def bare_words(text: str) -> list[str]:
    """Lower-case runs of letters and digits: rouge-score's rule, for every script."""
    raw = _western_bytes(text)
    if raw is not None:
        return raw.translate(_western_table()).decode(_WESTERN).split()
    return _find(f"{_ALONE}|{_RUN}", text.lower())


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
    found: list[str] = _compiled(pattern).findall(unicodedata.normalize("NFC", text))
    return found


@lru_cache(maxsize=4)
def _compiled(pattern: str) -> Any:
    """Compile on first use: importing `regex` costs start-up time."""
    import regex

    return regex.compile(pattern)
