"""Texts as people write them: the blanks of a tokeniser taken back, placeholders made words."""

from __future__ import annotations

import re

from fabula.text.sentences import split_sentences

_QUOTES = re.compile(r"``|''")
_NOT = re.compile(r"\s+n\s?['’]\s?t\b", re.IGNORECASE)
_CLITIC = re.compile(r"\s+(['’])\s?(s|re|ve|ll|d|m)\b", re.IGNORECASE)
_STOP = re.compile(r"[^\S\n]+([.,!?;:])(?![.,!?;:\w])")
_PLACEHOLDER = re.compile(r"[<\[](male|female|neutral|location|organization)[>\]]", re.IGNORECASE)
_NEWLINE = re.compile(r"<\\?newline>|<br ?/?>", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_STRAY = re.compile(r"[\s@]+$")
_OPENING = re.compile(r"(``|[(\[])[^\S\n]+")
_CLOSING = re.compile(r"[^\S\n]+(''|[)\]])")
LONE_ELLIPSIS = re.compile(r"(?<=\w)[^\S\n]+(\.\.\.|…)(?!\w)")
LONE_QUOTE = re.compile(r'(?<!\S)"(?!\S)')
_END = re.compile(r"(?<=[.!?…])([\"'”’)]*)\s+(?=(\S))")

# In this order; what is left of the blanks at either end goes last.
DETOKENISING = (
    (_QUOTES, '"'),
    (_NEWLINE, "\n"),
    (_PLACEHOLDER, r"\1"),
    (_NOT, "n't"),
    (_CLITIC, r"\1\2"),
    (_STOP, r"\1"),
    (_BLANKS, " "),
    (_STRAY, ""),
)


# Before those: quotation marks and brackets of a tokeniser, which say which way they look.
CLOSING_UP = ((_OPENING, r"\1"), (_CLOSING, r"\1"))


def detokenise(text: str) -> str:
    """Write a tokenised text as people would; one that people wrote stays nearly as it is.

    Corpora differ in such marks alone (`did n't , [MALE] said`), and what is learned from several
    must not be which of them a text is from.
    """
    for pattern, new in DETOKENISING:
        text = pattern.sub(new, text)
    return text.strip()


def respace(text: str) -> str:
    """Detokenise, and close up quotation marks and brackets as well: text to learn to write from.

    A straight mark between blanks opens and closes in turn, line by line; on a line with an odd
    number of them the last is dropped, for nobody can tell which way it looks.
    """
    for pattern, new in CLOSING_UP:
        text = pattern.sub(new, text)
    text = detokenise(text)
    return "\n".join(map(_close_quotes, LONE_ELLIPSIS.sub(r"\1", text).split("\n")))


def _close_quotes(line: str) -> str:
    parts = LONE_QUOTE.split(line)
    if len(parts) % 2 == 0:
        parts[-2:] = [f"{parts[-2].rstrip()} {parts[-1].lstrip()}".strip()]
    inside = parts[1::2]
    parts[1::2] = [f'"{speech.strip()}"' for speech in inside]
    return "".join(parts)


def split_any_case(text: str) -> list[str]:
    """Part a respaced text into sentences, also one in small letters.

    Where most sentences begin with a small letter, capitals tell nothing, and every full stop,
    question or exclamation mark before a blank ends one.
    """
    following = [match[2] for match in _END.finditer(text)]
    small = sum(letter.islower() for letter in following)
    if 2 * small <= len(following):
        return split_sentences(text)
    marked = _END.sub(r"\1\n", text)
    return [part for line in marked.split("\n") if (part := line.strip())]
