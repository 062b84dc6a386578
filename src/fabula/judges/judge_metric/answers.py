"""What is read out of a judge's answer: a number, several, yes or no; never a guess."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from fabula.core.score import Status
from fabula.models.asking.question import Response

# Characters of an answer that a note holds.
_MOST_QUOTED = 300
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
# A number by itself, or after a word and a colon, in marks of emphasis, with what it is out of.
_OUT_OF = r"(?:\s*(?:/|out of)\s*(?P<most>\d+))?"
_ALONE = re.compile(rf"(?P<value>{_NUMBER}){_OUT_OF}\.?", re.IGNORECASE)
_LABELLED = rf"(?<!\w)%s\W{{0,6}}?\s*[:=]\s*(?P<value>{_NUMBER}){_OUT_OF}(?![\d.,]*\d)(?!\w)"
_SCORE_WORDS = ("final score", "score", "rating")
_LAST_NUMBER = re.compile(rf"{_NUMBER}\s*\Z")
_EMPHASIS = re.compile(r"[*_`\"'“”]+")
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_YES_OR_NO = re.compile(r"\W*(yes|no)\b\W*", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\W*(?:i(?:['’]m| am) (?:very |so )?(?:sorry|unable|not able)|sorry\b|i apologi[sz]e\b"
    r"|i (?:can['’]?t|cannot|can not|won['’]?t|will not|must decline|am not comfortable)\b"
    r"|as an ai\b|i['’]d rather not\b)",
    re.IGNORECASE,
)


def read_score(text: str, low: float, high: float) -> float:
    """Read one number of the scale; NaN where none, several or another stands there."""
    found = _find_json(text)
    if found is not None:
        named = {str(name).lower(): value for name, value in found.items()}
        values = [named[name] for name in _SCORE_WORDS if name in named]
        return _take(values[0], low, high) if values else math.nan
    plain = _EMPHASIS.sub("", text).strip()
    if alone := _ALONE.fullmatch(plain):
        return _take_match(alone, low, high)
    return _read_labelled(plain, _SCORE_WORDS, low, high)


def read_scores(text: str, names: Iterable[str], low: float, high: float) -> dict[str, float]:
    """Read a number for each name; NaN for those of which none can be read."""
    found = _find_json(text)
    if found is not None:
        nested = found.get("scores")
        named = nested if isinstance(nested, Mapping) else found
        by_name = {str(name).lower(): value for name, value in named.items()}
        return {name: _take(by_name.get(name.lower()), low, high) for name in names}
    plain = _EMPHASIS.sub("", text)
    return {name: _read_labelled(plain, (name,), low, high) for name in names}


def read_yes(text: str) -> float:
    """Read 1 for yes and 0 for no; NaN for all else."""
    found = _find_json(text)
    if found is not None:
        return _take_yes(found.get("answer"))
    match = _YES_OR_NO.fullmatch(text.strip())
    return math.nan if match is None else _take_yes(match.group(1))


def read_yeses(text: str, names: Iterable[str]) -> dict[str, float]:
    """Read yes or no for each name, out of a JSON object."""
    found = _find_json(text) or {}
    return {name: _take_yes(found.get(name)) for name in names}


def expect_number(probabilities: Mapping[str, float], numbers: Iterable[str]) -> float:
    """Give the mean of the numbers by their probabilities, Σ p·n / Σ p; NaN where none is told.

    The mean over the numbers alone: what else a model might have written is not an answer.
    """
    told = [(float(number), probabilities.get(number, 0.0)) for number in numbers]
    mass = math.fsum(chance for _, chance in told)
    return math.fsum(number * chance for number, chance in told) / mass if mass > 0 else math.nan


def take_text(response: Response) -> str:
    """Give the words of a response; of one that was cut without a number that may go on."""
    return _LAST_NUMBER.sub("", response.text) if response.status == "cut" else response.text


def explain(response: Response) -> tuple[Status, str]:
    """Say why no value can be read out of a response, with its words."""
    if response.status == "failed":
        return Status.FAILED, response.problem or "the model gave no answer"
    if response.status == "refused" or _REFUSAL.match(response.text):
        return Status.REFUSED, f"the model refused: {_quote(response.text or response.problem)}"
    if response.status == "cut":
        return Status.UNPARSED, f"the answer was cut at its token limit: {_quote(response.text)}"
    return Status.UNPARSED, f"cannot be read: {_quote(response.text)}"


def _quote(text: str) -> str:
    clean = " ".join(text.split())
    return repr(clean if len(clean) <= _MOST_QUOTED else clean[:_MOST_QUOTED] + "…")


def _find_json(text: str) -> dict[str, Any] | None:
    """Give the one JSON object of an answer; what is written round it does not count."""
    fenced = _FENCED.search(text)
    inner = (fenced.group(1) if fenced else text).strip()
    start = inner.find("{")
    if start < 0:
        return None
    try:
        found, stop = json.JSONDecoder().raw_decode(inner, start)
    except (ValueError, RecursionError):
        return None
    # A second object may say something else.
    return found if isinstance(found, dict) and "{" not in inner[stop:] else {}


def _read_labelled(text: str, words: Iterable[str], low: float, high: float) -> float:
    """Read the number after a word and a colon; where it stands twice, it must be the same."""
    for word in words:
        label = _LABELLED % re.escape(word).replace("_", "[_ ]").replace(r"\ ", r"\s")
        matches = list(re.finditer(label, text, re.IGNORECASE))
        if matches:
            values = {_take_match(match, low, high) for match in matches}
            return values.pop() if len(values) == 1 else math.nan
    return math.nan


def _take_match(match: re.Match[str], low: float, high: float) -> float:
    most = match.group("most")
    if most is not None and float(most) != high:
        return math.nan
    return _take(float(match.group("value").replace(",", ".")), low, high)


def _take(value: Any, low: float, high: float) -> float:
    """Take a number, also one that is written as a string, if it lies on the scale."""
    if isinstance(value, str):
        alone = _ALONE.fullmatch(value.strip())
        return _take_match(alone, low, high) if alone else math.nan
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and low <= value <= high else math.nan


def _take_yes(value: Any) -> float:
    if isinstance(value, bool):
        return float(value)
    words = value.strip().lower() if isinstance(value, str) else ""
    return {"yes": 1.0, "no": 0.0}.get(words, math.nan)
