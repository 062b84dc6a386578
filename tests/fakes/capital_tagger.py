"""A tagger that needs no model: words with a capital are names, but for the first of a text."""

from __future__ import annotations

import re

from fabula.core.score import Missing
from fabula.models.reading.tagging import TaggedText, TaggedWord


def tag_capitals(text: str) -> TaggedText:
    """Tag words with a capital as names, but for the first of the text."""
    if len(text) > 1000:
        raise Missing("too_long", "1,000 characters are the limit")
    found = [(*match.span(), match[0]) for match in re.finditer(r"\w+", text)]
    tags = ["PROPN" if word[0].isupper() and start else "NOUN" for start, _, word in found]
    words = [
        TaggedWord(start, stop, tag) for (start, stop, _), tag in zip(found, tags, strict=True)
    ]
    names = [(word.start, word.stop) for word in words if word.tag == "PROPN"]
    return TaggedText(tuple(words), tuple(names))
