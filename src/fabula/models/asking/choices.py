"""Where in an answer a choice stands, and how likely each choice was there."""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabula.models.asking.question import Spot

# Numbers that bound a scale are no answers: the 5 of `4/5`, `4 out of 5`, `a scale of 1 to 5`.
_BEFORE_BOUND = re.compile(r"(?:/|\bof|\d\s*[-–—]|\d\s+to)\s*$", re.IGNORECASE)
_POINT = re.compile(r"^[.,]\d|\d[.,]$")
_AFTER_BOUND = re.compile(r"\s*(?:[-–—]|to\b)\s*\d", re.IGNORECASE)


@dataclass(frozen=True)
class Guess:
    """A token of an answer: where it begins, and the logs of those that might have stood there."""

    start: int
    text: str
    logs: Sequence[tuple[str, float]]


def find_spots(text: str, guesses: Iterable[Guess], choices: Sequence[str]) -> tuple[Spot, ...]:
    """Give the first token that is no blank, and every other whose place a choice stands at."""
    spots: list[Spot] = []
    is_begun = False
    for guess in guesses:
        bare = guess.text.strip()
        if not bare:
            continue
        start = guess.start + guess.text.index(bare[0])
        written = match_choice(bare, choices)
        written = written if _stands_alone(text, start, len(bare)) else ""
        if written or not is_begun:
            spots.append(Spot(start, written, add_up(guess.logs, choices)))
        is_begun = True
    return tuple(spots)


def choose_spot(text: str, spots: Sequence[Spot]) -> Mapping[str, float]:
    """Give the probabilities at the last place where a choice is given as an answer."""
    for spot in reversed(spots):
        stop = spot.start + len(spot.written)
        is_bound = _BEFORE_BOUND.search(text[: spot.start]) or _AFTER_BOUND.match(text, stop)
        if spot.written and not is_bound:
            return spot.probabilities
    return {}


def add_up(logs: Iterable[tuple[str, float]], choices: Sequence[str]) -> dict[str, float]:
    """Add the probabilities of all tokens that spell a choice, with blanks around it or without."""
    told: dict[str, list[float]] = {}
    for token, log in logs:
        if choice := match_choice(token.strip(), choices):
            told.setdefault(choice, []).append(math.exp(log))
    return {choice: math.fsum(told[choice]) for choice in choices if choice in told}


def match_choice(token: str, choices: Sequence[str]) -> str:
    """Name the choice that a token spells; the case of letters matters only in single ones."""
    if token in choices:
        return token
    words = {choice.casefold(): choice for choice in choices if len(choice) > 1}
    return words.get(token.casefold(), "")


def read_guesses(content: Iterable[Mapping[str, Any]]) -> list[Guess]:
    """Read tokens with their logs as OpenAI's servers tell them."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    guesses, start = [], 0
    for entry in content:
        text, raw = str(entry["token"]), entry.get("bytes")
        rivals = entry.get("top_logprobs")
        told = rivals if isinstance(rivals, list) and rivals else [entry]
        logs = [(str(rival["token"]), float(rival["logprob"])) for rival in told]
        guesses.append(Guess(start, text, logs))
        # A letter may be cut into several tokens: characters are counted by bytes.
        start += len(decoder.decode(bytes(raw)) if isinstance(raw, list) else text)
    return guesses


def _stands_alone(text: str, start: int, length: int) -> bool:
    """Whether what stands at a place is no part of a longer word or number."""
    before, after = text[max(start - 2, 0) : start], text[start + length : start + length + 2]
    is_decimal = _POINT.search(before) or _POINT.search(after)
    return not (before[-1:].isalnum() or after[:1].isalnum() or is_decimal)
