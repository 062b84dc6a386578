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
from fabula.learned.reader.domain import describe_other_writing
from fabula.scoring.catalogue import choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.scoring.review.parts import MissingPart, or_none
from fabula.scoring.review.steps import PREFERENCE, WEIGHTS, choose_parts

_Z95 = 1.96  # standard errors to either end of a 95 % interval
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
    missing: tuple[MissingPart, ...] = ()
    signatures: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Candidate:
    """What is known of one story before it is ranked."""

    story: str
    preference: float
    percentile: float = math.nan
    interval: tuple[float, float] = (math.nan, math.nan)
    words: float = math.nan
    note: str = ""


def rank_stories(
    stories: Sequence[Story], *, weights: str = WEIGHTS, cache: bool | str | Path = False
) -> Ranking:
    """Rank stories by how well readers are expected to like them.

    A text that is hardly a story has no rank, and its note says why.
    """
    if len(stories) < 2:
        raise InputError("one story cannot be ranked", "give several")
    chosen = choose_parts(weights, wanted=[PREFERENCE])
    [counted] = choose_metrics(_WORDS)
    unlike = {story.id: describe_other_writing(story.text) for story in stories}
    words = {score.story: score.value for score in evaluate(stories, [counted], cache=cache)}
    liked: dict[str, dict[str, Score]] = {story.id: {} for story in stories}
    ranked = [story for story in stories if not unlike[story.id]]
    for metric in chosen.parts.values():
        for score in evaluate(ranked, [metric], cache=cache):
            liked[score.story][score.aspect] = score
    candidates = [
        Candidate(name, math.nan, words=words[name], note=f"no opinion: {unlike[name]}")
        if unlike[name]
        else _candidate(name, scores, words[name])
        for name, scores in liked.items()
    ]
    absent = [
        MissingPart(PREFERENCE, score.note)
        for scores in liked.values()
        for score in [*scores.values()][:1]
        if score.status is Status.MISSING_MODEL
    ]
    # All of one pair of weights, and so the same for every story that has a value.
    errors = (scores["error"].value for scores in liked.values() if "error" in scores)
    return Ranking(
        tuple(rank_candidates(candidates, error=next(filter(math.isfinite, errors), math.nan))),
        (*chosen.missing, *absent[:1]),
        chosen.signatures | {counted.spec: counted.signature()},
    )


def _candidate(story: str, scores: Mapping[str, Score], words: float) -> Candidate:
    values = {aspect: score.value for aspect, score in scores.items()}
    first = scores.get("")
    note = first.note if first and first.status is not Status.MISSING_MODEL else ""
    preference, percentile, low, high = (
        values.get(aspect, math.nan) for aspect in ("", "percentile", "low", "high")
    )
    return Candidate(story, preference, percentile, (low, high), words, note)


def rank_candidates(candidates: Sequence[Candidate], *, error: float = math.nan) -> list[Standing]:
    """Rank what is known; `error` is the standard error of a preference's logit."""
    known = [candidate for candidate in candidates if math.isfinite(candidate.preference)]
    known.sort(key=lambda candidate: -candidate.preference)
    logits = [logit(candidate.preference) for candidate in known]
    reach = _Z95 * error
    standings = []
    for place, (candidate, value) in enumerate(zip(known, logits, strict=True)):
        others = [*logits[:place], *logits[place + 1 :]]
        standings.append(
            Standing(
                candidate.story,
                1 + sum(other > value for other in others),
                candidate.preference,
                candidate.percentile,
                *candidate.interval,
                win_rate(value, others),
                win_rate(value - reach, others),
                win_rate(value + reach, others),
                candidate.words,
                candidate.note,
            )
        )
    nothing = (math.nan,) * 7
    return standings + [
        Standing(candidate.story, None, *nothing, candidate.words, candidate.note)
        for candidate in candidates
        if not math.isfinite(candidate.preference)
    ]


def logit(preference: float) -> float:
    """Give the logit of a preference from 0 to 1, which is kept from 0 and 1 themselves."""
    inside = min(max(preference, _LEAST), 1 - _LEAST)
    return math.log(inside / (1 - inside))


def win_rate(value: float, others: Sequence[float]) -> float:
    """How often a story is preferred: mean logistic of gaps of logits (Bradley and Terry)."""
    if not others or not math.isfinite(value):
        return math.nan
    # The logistic function written by tanh, which does not overflow.
    chances = [0.5 + 0.5 * math.tanh((value - other) / 2) for other in others]
    return sum(chances) / len(chances)
