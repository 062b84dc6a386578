"""Stories ranked by preference, with win rates and intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fabula.core.errors import InputError
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.scoring._review_opinions import (
    PREFERENCE,
    WEIGHTS,
    chosen_parts,
)
from fabula.scoring._review_parts import Lack, or_none
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate

_REACH = 1.96
_LEAST = 1e-9
_WORDS = "words"


@dataclass(frozen=True)
class Standing:
    """A story among others; what is not known is NaN.

    `wins` is how often it is expected to be preferred to another of them, `win_low` and `win_high`
    the same if its own preference lay at either end of its 95 % interval.
    """

    story: str
    rank: int | None
    preference: float
    percentile: float
    low: float
    high: float
    wins: float
    win_low: float
    win_high: float
    words: float
    note: str = ""

    def plain(self) -> dict[str, Any]:
        """Write it as a row; what is not there is None."""
        return {
            key: or_none(value) if isinstance(value, float) else value
            for key, value in vars(self).items()
        }


@dataclass(frozen=True)
class Ranking:
    """Stories by preference, the best first; those without one last."""

    stories: tuple[Standing, ...]
    lacks: tuple[Lack, ...] = ()
    signatures: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Liked:
    """What is known of one story before it is ranked."""

    story: str
    preference: float
    percentile: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    words: float = math.nan
    note: str = ""


def rank(
    stories: Sequence[Story], *, weights: str = WEIGHTS, cache: bool | str | Path = False
) -> Ranking:
    """Rank stories by how well readers are expected to like them."""
    if len(stories) < 2:
        raise InputError("one story cannot be ranked", "give several")
    parts, lacks = chosen_parts(weights, wanted=[PREFERENCE])
    metrics = [*parts.values(), *choose_metrics(_WORDS)]
    scores: dict[tuple[str, str, str], Score] = {
        (score.story, score.scorer, score.aspect): score
        for score in evaluate(stories, metrics, cache=cache)
    }
    spec = parts[PREFERENCE].spec if parts else PREFERENCE
    main = {one.id: scores.get((one.id, spec, "")) for one in stories}
    absent = next((s for s in main.values() if s and s.status is Status.MISSING_MODEL), None)
    if absent:
        lacks.append(Lack(PREFERENCE, absent.note))
    known = [
        Liked(
            one.id,
            _value(main[one.id]),
            _value(scores.get((one.id, spec, "percentile"))),
            (_value(scores.get((one.id, spec, "low"))), _value(scores.get((one.id, spec, "high")))),
            _value(scores.get((one.id, _WORDS, ""))),
            _note(main[one.id]),
        )
        for one in stories
    ]
    errors = (_value(scores.get((one.id, spec, "error"))) for one in stories)
    error = next((error for error in errors if math.isfinite(error)), math.nan)
    signatures = {metric.spec: metric.signature() for metric in metrics}
    return Ranking(tuple(standings(known, error=error)), tuple(lacks), signatures)


def standings(known: Sequence[Liked], *, error: float = math.nan) -> list[Standing]:
    """Rank what is known; `error` is the standard error of a preference's logit."""
    liked = sorted(
        (one for one in known if math.isfinite(one.preference)), key=lambda one: -one.preference
    )
    others = [one for one in known if not math.isfinite(one.preference)]
    values = [logit(one.preference) for one in liked]
    reach = _REACH * error
    found = [
        Standing(
            one.story,
            1 + sum(value > values[at] for value in values),
            one.preference,
            one.percentile,
            *one.interval,
            win_rate(values[at], _without(values, at)),
            win_rate(values[at] - reach, _without(values, at)),
            win_rate(values[at] + reach, _without(values, at)),
            one.words,
            one.note,
        )
        for at, one in enumerate(liked)
    ]
    nothing = (math.nan,) * 7
    return found + [Standing(one.story, None, *nothing, one.words, one.note) for one in others]


def logit(preference: float) -> float:
    """Give the logit of a preference from 0 to 1, which is kept from 0 and 1 themselves."""
    inside = min(max(preference, _LEAST), 1 - _LEAST)
    return math.log(inside / (1 - inside))


def win_rate(value: float, others: Sequence[float]) -> float:
    """How often a story is preferred: mean logistic of gaps of logits (Bradley and Terry)."""
    if not others or not math.isfinite(value):
        return math.nan
    chances = [0.5 + 0.5 * math.tanh((value - other) / 2) for other in others]
    return sum(chances) / len(chances)


def _without(values: list[float], at: int) -> list[float]:
    return [*values[:at], *values[at + 1 :]]


def _value(score: Score | None) -> float:
    return score.value if score is not None else math.nan


def _note(score: Score | None) -> str:
    return score.note if score is not None and score.status is not Status.MISSING_MODEL else ""
