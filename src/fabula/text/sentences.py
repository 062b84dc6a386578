"""Sentences: parted by marks, blanks and capitals; abbreviations are an argument."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Any

ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc vol fig approx dept est inc ltd co corp gen col sgt capt "
    "lt rev hon e.g i.e a.m p.m u.s u.k jan feb apr jun jul aug sep sept oct nov dec".split()
)

_NEAR = 40


def split_sentences(text: str, abbreviations: Collection[str] = ABBREVIATIONS) -> list[str]:
    """Part a text into sentences, blanks around them dropped.

    A sentence ends at . ! ? … (and their like in other scripts) with the quotes and brackets that
    close after it, when a blank and then something that can begin a sentence follow, or at a
    blank line. Full stops after abbreviations and initials end nothing.
    """
    return [
        sentence
        for paragraph in _paragraph().split(text)
        for sentence in _split_paragraph(paragraph.strip(), abbreviations)
        if sentence
    ]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Places of the sentences in the text: where each begins and ends."""
    spans, place = [], 0
    for sentence in split_sentences(text):
        start = text.index(sentence, place)
        place = start + len(sentence)
        spans.append((start, place))
    return spans


def _split_paragraph(text: str, abbreviations: Collection[str]) -> list[str]:
    sentences, start = [], 0
    for end in _ending().finditer(text):
        # The longest abbreviation is far shorter than what is looked at.
        near = text[max(start, end.start() - _NEAR) : end.start()]
        if end[1] == "." and _is_abbreviation(near, abbreviations):
            continue
        sentences.append(text[start : end.end()].strip())
        start = end.end()
    return [*sentences, text[start:].strip()]


def _is_abbreviation(before: str, abbreviations: Collection[str]) -> bool:
    """Whether a full stop follows an abbreviation or a single capital, as in J. Smith."""
    last = before.rsplit(maxsplit=1)[-1].lstrip("\"'“‘(") if before.strip() else ""
    return last.lower() in abbreviations or (len(last) == 1 and last.isupper() and last != "I")


@lru_cache(maxsize=1)
def _paragraph() -> Any:
    import regex

    return regex.compile(r"\n\s*\n|\u2029")


@lru_cache(maxsize=1)
def _ending() -> Any:
    """Marks that end a sentence; those of scripts without blanks need none after them."""
    import regex

    mark = "[.!?…‽؟۔।॥።]"
    closing = r"[\"'”’»)\]\p{Pf}\p{Pe}]*+"
    opening = r"[\"'“‘«(\[\p{Pi}\p{Ps}—–-]*+[\p{Lu}\p{Lo}\p{N}]"
    spaced = rf"(?<!{mark})({mark}++){closing}(?=\s++{opening})"
    return regex.compile(rf"{spaced}|[。！？｡]++{closing}")


_PAIRS = ("“”", "«»", "「」", "『』", "„“", "‹›")
_CURLY = "|".join(f"{pair[0]}[^{pair}]*{pair[1]}" for pair in _PAIRS)

# Single quotes are apostrophes too: they open a speech only at the beginning of a word and close
# it only after a mark, within a thousand characters.
_SINGLE = r"(?<![\w’'])[‘'](?=\w)(?:[^‘’'\n]|[’'](?=\w)){0,1000}[.,!?…—-][’'](?!\w)"
_SPEECH = re.compile(rf'{_CURLY}|"[^"\n]*(?:"|\n|$)|{_SINGLE}')


def speeches(text: str) -> list[str]:
    """Parts in quotation marks, in order; one left open ends with its paragraph."""
    return _SPEECH.findall(text)


def speech_spans(text: str) -> list[tuple[int, int]]:
    """Places of the parts in quotation marks."""
    return [match.span() for match in _SPEECH.finditer(text)]
