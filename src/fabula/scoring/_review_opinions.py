"""Everyone is asked: the learned metrics and the trivial baselines, through the one catalogue."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from fabula.core.errors import UserError
from fabula.core.metric import Metric
from fabula.core.score import Missing, Score, Status
from fabula.core.spec import format_spec
from fabula.core.story import Story
from fabula.learned.aspects import Aspects
from fabula.learned.rovist_c import RovistC, Transition
from fabula.scoring._review_parts import Lack, Opinions, Span, Step
from fabula.scoring.catalogue import METRICS, choose_metrics
from fabula.scoring.evaluate import evaluate
from fabula.text.sentences import sentence_spans

WEIGHTS = "reader"
PREFERENCE = "storyer"
BASELINES = "baselines"
ORDER_WEIGHTS = "order"
_READ = ("storyer", "criteria", "coherence", "aspects")
_CONFIDENCE = "confidence"
_ORDER = "rovist_c"
_FAKE = "fake"  # for tests, where no part has weights


def opinions_on(
    story: Story,
    *,
    weights: str = WEIGHTS,
    order: str = ORDER_WEIGHTS,
    cache: bool | str | Path = False,
) -> Opinions:
    """Ask everyone about a story. What cannot be had is said, with what to do."""
    parts, lacks = chosen_parts(weights, order)
    trivial = choose_metrics(BASELINES)
    table = evaluate([story], [*parts.values(), *trivial], cache=cache)
    by_spec: dict[str, dict[str, Score]] = {}
    for score in table:
        by_spec.setdefault(score.scorer, {})[score.aspect] = score
    scores = {part: by_spec[metric.spec] for part, metric in parts.items()}
    scores[BASELINES] = {
        f"{spec} {aspect}".strip(): score
        for spec in (metric.spec for metric in trivial)
        for aspect, score in by_spec[spec].items()
    }
    steps, more = _steps(story, parts.get(_ORDER), scores.get(_ORDER, {}))
    liked = scores.get(PREFERENCE, {})
    low, high = (liked[end].value if end in liked else math.nan for end in ("low", "high"))
    return Opinions(
        scores,
        steps,
        (low, high),
        (*lacks, *_absent(scores), *more),
        {metric.spec: metric.signature() for metric in (*parts.values(), *trivial)},
        usual_ratings(weights),
    )


def chosen_parts(
    weights: str, order: str = ORDER_WEIGHTS, wanted: Iterable[str] = ()
) -> tuple[dict[str, Metric], list[Lack]]:
    """Build the learned metrics of a review, or of the parts wanted; say which there are not.

    Weights that the user has named must be there.
    """
    reader = _named(weights, WEIGHTS)
    specs = {name: (name, reader) for name in _READ}
    # From the same pass as the preference, rather than from weights of their own.
    specs["criteria"] = ("criteria", {"weights": weights})
    specs["coherence"] = ("coherence", {} if weights != _FAKE else reader)
    specs[PREFERENCE] = (PREFERENCE, {**reader, "interval": True})
    specs[_CONFIDENCE] = ("aspects", {**reader, "confidence": True})
    specs[_ORDER] = (_ORDER, _named(order, ORDER_WEIGHTS))
    parts: dict[str, Metric] = {}
    lacks = []
    for part in wanted or specs:
        name, settings = specs[part]
        try:
            metric = METRICS.build(format_spec(name, settings))
            metric.signature()
            parts[part] = metric
        except UserError as error:
            if settings.get("weights", WEIGHTS) != WEIGHTS:
                raise
            lacks.append(Lack(part, str(error)))
    return parts, lacks


def _named(weights: str, usual: str) -> dict[str, object]:
    return {} if weights == usual else {"weights": weights}


def usual_ratings(weights: str) -> dict[str, float]:
    """What raters say of each aspect as a rule; nothing where the weights are not here."""
    metric = Aspects(weights)
    return metric.usual() if metric.at_hand else {}


def _absent(scores: dict[str, dict[str, Score]]) -> list[Lack]:
    """Parts whose model is not there; their notes name the command that gets it."""
    lacks = []
    for part, by_aspect in scores.items():
        first = next(iter(by_aspect.values()), None)
        if first is not None and first.status is Status.MISSING_MODEL:
            lacks.append(Lack(part, first.note))
    return lacks


def _steps(
    story: Story, metric: Metric | None, scores: dict[str, Score]
) -> tuple[tuple[Step, ...], list[Lack]]:
    known = any(score.ok for score in scores.values())
    if not known or not isinstance(metric, RovistC):
        return (), []
    try:
        found = metric.transitions(story)
    except Missing as missing:
        return (), [Lack(_ORDER, missing.note)]
    except UserError as error:
        return (), [Lack(_ORDER, str(error))]
    return placed_steps(story.text, found), []


def placed_steps(text: str, transitions: Sequence[Transition]) -> tuple[Step, ...]:
    """Give steps their places; a metric that parts sentences otherwise than we do has none."""
    spans: list[Span] = sentence_spans(text)
    if len(spans) != len(transitions) + 1:
        return ()
    return tuple(
        Step(spans[at], spans[at + 1], float(one.probability)) for at, one in enumerate(transitions)
    )
