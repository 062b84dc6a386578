"""Comments composed from measured evidence: no language model is asked.

A template is chosen by the story's digest and a seed. It says how the aspect is rated, if it is,
and what the quote is; all else in it are questions and advice, which claim nothing.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from fabula.learned.comments.evidence import Evidence

Band = Literal["low", "middle", "high", "unrated"]
By = Literal["composed", "written", "raw"]

_MIDDLE, _HALF = 3.0, 0.5


@dataclass(frozen=True)
class Comment:
    """What is said of an aspect, on which evidence, and by whom.

    `problems` are why earlier tries of a language model were not taken.
    """

    text: str
    evidence: Evidence
    by: By = "composed"
    problems: tuple[str, ...] = ()


def band_of(rating: float, usual: float = _MIDDLE) -> Band:
    """Name the band of a rating: half a point from what raters give as a rule is low, or high."""
    if math.isnan(rating):
        return "unrated"
    if rating < usual - _HALF:
        return "low"
    return "high" if rating >= usual + _HALF else "middle"


def compose_comment(
    text: str, evidence: Evidence, rating: float, *, usual: float = _MIDDLE, seed: int = 0
) -> Comment | None:
    """Compose a comment on a story's aspect; None where there is no evidence to rest on."""
    if not evidence.found:
        return None
    variants = templates()[evidence.aspect][band_of(rating, usual)]
    template = variants[_draw_number(text, evidence.aspect, seed) % len(variants)]
    quote = put_in_quotes(evidence.quote)
    return Comment(template.format(quote=quote, how=evidence.how, rating=f"{rating:.1f}"), evidence)


def put_in_quotes(quote: str) -> str:
    """Put a quote in the quotation marks that it does not hold itself."""
    double = any(mark in quote for mark in '“”"')
    return f"‘{quote}’" if double else f"“{quote}”"


@lru_cache(maxsize=1)
def templates() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Read our templates: aspect → band → variants."""
    text = (files(__package__) / "_templates.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _draw_number(text: str, aspect: str, seed: int) -> int:
    parts = f"{seed}|{aspect}|{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(parts, digest_size=8).digest(), "big")
