"""The parts of a review: what is said of a story, and where in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.learned.comments.evidence import Evidence

Span = tuple[int, int]


@dataclass(frozen=True)
class Step:
    """The step from one sentence to the next: their places, and how likely it is."""

    first: Span
    second: Span
    probability: float


@dataclass(frozen=True)
class Repeated:
    """Words that come again: as they are first written, and all their places."""

    text: str
    places: tuple[Span, ...]

    @property
    def count(self) -> int:
        """How often they are said."""
        return len(self.places)


@dataclass(frozen=True)
class Lack:
    """A part that cannot be had: why, and what to do."""

    part: str
    why: str


@dataclass(frozen=True)
class Opinions:
    """What everyone says of a story: scores by part and aspect, steps, and what is lacking.

    `interval` are the percentiles between which the preference lies, `usual` what raters give each
    aspect as a rule.
    """

    scores: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    interval: tuple[float, float] = (math.nan, math.nan)
    lacks: tuple[Lack, ...] = ()
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
        found = self.evidence
        quoted = {
            "quote": found.quote,
            "start": found.start,
            "end": found.end,
            "how": found.how,
            "words": list(found.words),
        }
        return {
            "name": self.name,
            "confidence": or_none(self.confidence),
            "rating": or_none(self.rating),
            "usual": self.usual,
            "comment": self.comment or None,
            "by": self.by or None,
            "evidence": quoted if found.found else None,
            "reason": found.reason or None,
        }


@dataclass(frozen=True)
class Review:
    """One story and every opinion on it; what is not there is NaN, and `lacks` says why."""

    story: Story
    preference: float
    percentile: float
    interval: tuple[float, float]
    coherence: float
    criteria: Mapping[str, float]
    aspects: tuple[AspectReview, ...]
    steps: tuple[Step, ...]
    weakest: int | None
    repetition: tuple[Repeated, ...]
    statistics: Mapping[str, float]
    warnings: tuple[str, ...]
    lacks: tuple[Lack, ...]
    signatures: Mapping[str, str]

    def plain(self) -> dict[str, Any]:
        """Write it as plain values, as JSON wants them; what is not there is None."""
        low, high = map(or_none, self.interval)
        return {
            "story": self.story.id,
            "preference": or_none(self.preference),
            "percentile": or_none(self.percentile),
            "interval": None if low is None or high is None else [low, high],
            "coherence": or_none(self.coherence),
            "criteria": dict(self.criteria),
            "aspects": [one.plain() for one in self.aspects],
            "transitions": [self._step(one) for one in self.steps],
            "weakest": self.weakest,
            "repetition": [
                {"text": one.text, "count": one.count, "places": [list(at) for at in one.places]}
                for one in self.repetition
            ],
            "statistics": dict(self.statistics),
            "warnings": list(self.warnings),
            "missing": [{"part": one.part, "why": one.why} for one in self.lacks],
            "signatures": dict(self.signatures),
        }

    def _step(self, one: Step) -> dict[str, Any]:
        text = self.story.text
        return {
            "first": text[slice(*one.first)],
            "second": text[slice(*one.second)],
            "probability": or_none(one.probability),
        }


def or_none(value: float) -> float | None:
    """Give a value as it is, and NaN as None."""
    return value if math.isfinite(value) else None
