"""The parts of a review: what is said of a story, and where in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.learned.comments.evidence import Evidence
from fabula.text.repetition import Repetition, Span


@dataclass(frozen=True)
class PlacedTransition:
    """From one sentence to the next: their places, and how likely the second is to follow."""

    first: Span
    second: Span
    probability: float


@dataclass(frozen=True)
class MissingPart:
    """A part that cannot be had: why, and what to do."""

    part: str
    why: str


@dataclass(frozen=True)
class Opinions:
    """What everyone says of a story: scores by part and aspect, transitions, what is missing.

    `usual` is what raters give each aspect as a rule.
    """

    scores: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    transitions: tuple[PlacedTransition, ...] = ()
    missing: tuple[MissingPart, ...] = ()
    signatures: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, float] = field(default_factory=dict)

    def value(self, part: str, aspect: str = "") -> float:
        """Give a value; NaN where there is none."""
        score = self.scores.get(part, {}).get(aspect)
        return score.value if score is not None else math.nan

    def values(self, part: str) -> dict[str, float]:
        """Give the values of a part by aspect, those that are there."""
        scores = self.scores.get(part, {})
        return {aspect: score.value for aspect, score in scores.items() if score.ok}


@dataclass(frozen=True)
class AspectReview:
    """One aspect: how sure we are that readers would speak of it, its rating, and a comment."""

    name: str
    confidence: float
    rating: float
    evidence: Evidence
    comment: str = ""
    by: str = ""
    usual: float = 3.0  # what raters give it as a rule

    def plain(self) -> dict[str, Any]:
        """Write it as plain values."""
        evidence = self.evidence
        quoted = {
            "quote": evidence.quote,
            "start": evidence.start,
            "end": evidence.end,
            "how": evidence.how,
            "words": list(evidence.words),
        }
        return {
            "name": self.name,
            "confidence": or_none(self.confidence),
            "rating": or_none(self.rating),
            "usual": self.usual,
            "comment": self.comment or None,
            "by": self.by or None,
            "evidence": quoted if evidence.found else None,
            "reason": evidence.reason or None,
        }


@dataclass(frozen=True)
class Review:
    """One story and every opinion on it; what is not there is NaN, and `missing` says why."""

    story: Story
    preference: float
    percentile: float
    interval: tuple[float, float]
    coherence: float
    criteria: Mapping[str, float]
    aspects: tuple[AspectReview, ...]
    transitions: tuple[PlacedTransition, ...]
    repetition: tuple[Repetition, ...]
    statistics: Mapping[str, float]
    warnings: tuple[str, ...]
    missing: tuple[MissingPart, ...]
    signatures: Mapping[str, str]

    @cached_property
    def weakest(self) -> int | None:
        """Number of the least likely transition, from 0; None where there is none."""
        chances = [transition.probability for transition in self.transitions]
        return min(range(len(chances)), key=chances.__getitem__, default=None)

    def plain(self) -> dict[str, Any]:
        """Write it as plain values, as JSON wants them; what is not there is None."""
        low, high = map(or_none, self.interval)
        text = self.story.text
        return {
            "story": self.story.id,
            "preference": or_none(self.preference),
            "percentile": or_none(self.percentile),
            "interval": None if low is None or high is None else [low, high],
            "coherence": or_none(self.coherence),
            "criteria": dict(self.criteria),
            "aspects": [aspect.plain() for aspect in self.aspects],
            "transitions": [
                {
                    "first": text[slice(*transition.first)],
                    "second": text[slice(*transition.second)],
                    "probability": or_none(transition.probability),
                }
                for transition in self.transitions
            ],
            "weakest": self.weakest,
            "repetition": [
                {"text": run.text, "count": run.count, "places": [list(at) for at in run.places]}
                for run in self.repetition
            ],
            "statistics": dict(self.statistics),
            "warnings": list(self.warnings),
            "missing": [{"part": lack.part, "why": lack.why} for lack in self.missing],
            "signatures": dict(self.signatures),
        }


def or_none(value: float) -> float | None:
    """Give a value as it is, and NaN as None."""
    return value if math.isfinite(value) else None
