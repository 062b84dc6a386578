"""What a judge says of the story of a review, with what its certificate says of the judge."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fabula.core.errors import SettingError, UnknownName
from fabula.core.metric import Metric
from fabula.core.score import Score, Status
from fabula.core.settings import format_spec, parse_spec
from fabula.judges.judge_metric import JudgeMetric
from fabula.models import MODELS
from fabula.scoring.catalogue import METRICS
from fabula.scoring.certificates import find_certificates, verdict_words
from fabula.scoring.evaluate import evaluate
from fabula.scoring.review.parts import MissingPart, Review, or_none


@dataclass(frozen=True)
class JudgedAspect:
    """A judge's value on one criterion, or why there is none, and what a certificate says of it."""

    name: str
    value: float
    verdict: str
    why: str = ""


@dataclass(frozen=True)
class JudgedStory:
    """A judge's opinion of a story: who it is, its scale, and what it says on each criterion.

    `scale` are the ends of the rubric's numbers, (0, 1) for shares; NaN for a judge of others.
    """

    judge: str
    signature: str
    scale: tuple[float, float]
    aspects: tuple[JudgedAspect, ...]
    note: str = ""
    coverage: float = 1.0

    def plain(self) -> dict[str, Any]:
        """Write it as plain values; what is not there is None."""
        aspects = [vars(aspect) | {"value": or_none(aspect.value)} for aspect in self.aspects]
        scale = [or_none(end) for end in self.scale]
        return vars(self) | {"aspects": aspects, "scale": scale}


def choose_judge(spec: str) -> Metric:
    """Make the judge that a spec names; of the spec of a model, one that rates by HANNA's rubric.

    Those that need other stories to compare with say nothing of one alone.
    """
    name = parse_spec(spec)[0]
    if name not in METRICS and name in MODELS:
        spec = format_spec("judge", {"model": spec})
    elif name not in METRICS:
        raise UnknownName(f"no judge or model is called {name!r}", "try judge(model='embedded()')")
    judge = METRICS.build(spec)
    if judge.card.family != "judge" or judge.batch:
        raise SettingError(f"{name} is no judge of one story", "name one: judge, judge_checklist")
    return judge


def add_judge(review: Review, spec: str, *, cache: bool | str | Path = False) -> Review:
    """Ask a judge about the story of a review; a model that cannot be had is missing."""
    judge = choose_judge(spec)
    scores = {score.aspect: score for score in evaluate([review.story], judge, cache=cache)}
    first = next(iter(scores.values()))
    if first.status is Status.MISSING_MODEL:
        return replace(review, missing=(*review.missing, MissingPart("judge", first.note)))
    signatures = {**review.signatures, judge.spec: judge.signature()}
    return replace(review, judged=_describe(judge, scores), signatures=signatures)


def _describe(judge: Metric, scores: Mapping[str, Score]) -> JudgedStory:
    certificates = find_certificates([judge.spec], {judge.spec: judge.identity})[judge.spec]
    aspects = tuple(
        JudgedAspect(
            name or judge.name,
            score.value,
            verdict_words(certificates, name),
            "" if score.ok else str(score.status).replace("_", " "),
        )
        for name, score in scores.items()
    )
    first = next(iter(scores.values()))
    ends = judge.ends if isinstance(judge, JudgeMetric) else (math.nan, math.nan)
    coverage = min((score.coverage for score in scores.values() if score.ok), default=0.0)
    return JudgedStory(judge.spec, judge.signature(), ends, aspects, first.note, coverage)
