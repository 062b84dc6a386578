"""Numbers as they are read: one rule for decimals, true minus signs, a dash for what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterable

MISSING = "–"
_DECIMALS = {"mattr": 2, "type_token_ratio": 2, "word_length": 2, "sentences length": 1}
_NAMES = {
    "sentences count": "sentences",
    "sentences length": "words a sentence",
    "word_length": "letters a word",
    "unique_words": "different words",
    "type_token_ratio": "different words, share",
    "mattr": "different words among 50 in a row, share (mattr)",
}


def decimals_for(values: Iterable[float]) -> int:
    """Give the decimals that values shown together deserve: as few as their largest one allows."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return 1 if largest >= 100 else 2 if largest >= 10 else 3 if largest >= 1 else 4


def share_decimals(values: Iterable[float]) -> int | None:
    """Give the decimals of a column of numbers; None where one would be rounded to nothing."""
    known = [value for value in values if math.isfinite(value)]
    decimals = decimals_for(known) if any(value % 1 for value in known) else 0
    return None if any(value and not round(value, decimals) for value in known) else decimals


def number_text(value: float | None, decimals: int | None = None, *, sign: bool = False) -> str:
    """Write a number with so many decimals, or with four digits; `sign` shows a plus as well."""
    if value is None or not math.isfinite(value):
        return MISSING
    plus = "+" if sign else ""
    form = f"{plus}.4g" if decimals is None else f"{plus}z.{decimals}f"
    return f"{value:{form}}".replace("-", "−")


def coefficient_text(value: float) -> str:
    """Write a coefficient as papers do: two decimals, and no 0 before them."""
    text = number_text(value, 2)
    return text.replace("0.", ".", 1) if abs(value) < 0.995 else text


def interval_text(low: float, high: float, decimals: int | None, *, sign: bool = False) -> str:
    """Write the ends of an interval in brackets; nothing where there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    ends = (number_text(end, decimals, sign=sign) for end in (low, high))
    return f"[{', '.join(ends)}]"


def p_text(value: float) -> str:
    """Write a p-value; below a thousandth its size says nothing more."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def statistic_text(name: str, value: float) -> str:
    """Write a statistic: counts whole, others with the digits that tell something."""
    if value == int(value) and name not in _DECIMALS:
        return f"{int(value):,}".replace("-", "−")
    return number_text(value, _DECIMALS.get(name, 2))


def statistic_name(name: str) -> str:
    """Write the name of a statistic without underscores."""
    return _NAMES.get(name, name.replace("_", " "))
