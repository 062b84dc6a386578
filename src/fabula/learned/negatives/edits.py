"""Words written into sentences so that little but their meaning gives them away."""

from __future__ import annotations

import re

from fabula.text.places import Span, put_into

_ARTICLE = re.compile(r"(?<![\w'’])([Aa]n?)(\s+)$")
_AN = re.compile(
    r"(?!eu|uni(?:[cfqtv]|on)|us[eu]|one\b|once\b)[aeiou]|hour|honest|hono|heir", re.IGNORECASE
)


def write_words(sentence: str, changes: dict[Span, str], *, mend: bool = True) -> str:
    """Write other words at some places; `mend` makes an article before them fit (a, an)."""
    if not mend:
        return put_into(sentence, changes)
    articles: dict[Span, str] = {}
    for (start, _), word in changes.items():
        if found := _ARTICLE.search(sentence, 0, start):
            articles[found.span(1)] = found[1][0] + ("n" if _AN.match(word) else "")
    return put_into(sentence, articles | changes)
