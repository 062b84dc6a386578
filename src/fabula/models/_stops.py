"""Where a generated text ends."""

from __future__ import annotations

from collections.abc import Sequence


def cut_at(text: str, stop: Sequence[str]) -> str:
    """Give a text up to the first of the strings that end it."""
    places = [place for one in stop if one and (place := text.find(one)) >= 0]
    return text[: min(places)] if places else text
