"""Words as the captioning toolkit compares them: Penn Treebank tokens without punctuation."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"n't\b|'(?:s|re|ve|ll|d|m)\b|\w+(?=n't\b)"  # contractions, in two
    r"|\w+(?:[-.,:/]\w+)*"  # words, with hyphens and figures left whole
)
_WHOLE = {"cannot": ("can", "not"), "gonna": ("gon", "na"), "wanna": ("wan", "na")}


def caption_words(text: str) -> list[str]:
    """Lower-case tokens, contractions parted as in the Penn Treebank, punctuation left out."""
    found = _TOKEN.findall(text.lower().replace("’", "'"))
    return [part for token in found for part in _WHOLE.get(token, (token,))]
