"""Specs of every metric, and what any score of theirs has to be."""

from __future__ import annotations

import math
from functools import cache

import pytest

from fabula.core.metric import Metric
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.scoring.catalogue import METRICS

NAMES = METRICS.names()


def specs_of(name: str) -> list[str]:
    """The default, compat, and every spec that the card mentions."""
    card = METRICS.get(name).card
    published = [spec for columns in card.published.values() for spec, _ in columns.values()]
    wanted = [name, f"{name}(compat=True)", *card.typical, *published]
    return list(dict.fromkeys(METRICS.build(spec).spec for spec in wanted))


def marked(specs: list[str]) -> list[object]:
    """Mark the specs of metrics that need an asset: they run when it has been pulled."""
    cards = {spec: METRICS.build(spec).card for spec in specs}
    return [
        pytest.param(spec, marks=pytest.mark.assets) if cards[spec].assets else spec
        for spec in specs
    ]


EVERY = [spec for name in NAMES for spec in specs_of(name)]
SPECS = marked(EVERY)
ALONE = marked([spec for spec in EVERY if not METRICS.build(spec).card.batch])
COMPARING = marked(
    [
        spec
        for spec in EVERY
        if "reference" in METRICS.build(spec).card.needs
        and METRICS.build(spec).card.direction == "higher"
    ]
)


@cache
def metric_of(spec: str) -> Metric:
    return METRICS.build(spec)


def full_story(text: str, *references: str, id: str = "s") -> Story:
    """A story with all that any metric may need."""
    return Story(id, text, "A prompt about a dragon.", references, (), "system", "item")


def check(metric: Metric, scores: list[Score]) -> None:
    """A score is a value within the card's bounds, or it is missing and says why."""
    low, high = metric.card.low, metric.card.high
    assert len(scores) % len(metric.card.aspects) == 0
    for score in scores:
        assert score.scorer == metric.spec
        assert 0.0 <= score.coverage <= 1.0
        if score.status is Status.OK:
            assert math.isfinite(score.value)
            assert low - 1e-9 <= score.value <= high + 1e-9, score
        else:
            assert math.isnan(score.value)
            assert score.note, score
        assert score.status is not Status.FAILED
