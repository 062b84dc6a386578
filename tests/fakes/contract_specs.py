"""Specs of every metric, and what any score of theirs has to be."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fabula.core.metric import Metric
from fabula.core.score import Score, Status
from fabula.core.story import Story
from fabula.scoring.catalogue import METRICS
from fakes.factories import usual_text

NAMES = METRICS.names()
SHORT = {
    "empty": "",
    "blanks": " \t\r\n\u3000\u2029 ",
    "one word": "Once",
    "one letter": "a",
    "marks": "... !? -- ''",
    "emoji": "😀 👩‍👩‍👧‍👦 🇫🇷 👍🏽",
    "combining marks": "Cafe\u0301 na\u0308ive Z\u0351\u036b\u0343a\u030alg\u0301o \u0301",
    "right to left": "שלום עולם! مرحبا بالعالم، كيف الحال؟",
    "chinese and japanese": "今日は雨だ。明天会下雨吗？カメラ",
    "thai": "สวัสดีชาวโลก วันนี้ฝนตก",
    "nul bytes": "once\x00upon a\x00 time \x00\x00",
    "lone surrogate": "once \ud800 upon \udfff a time",
    "markup": "<p>Once &amp; again</p> <unk> <skipped>",
    "controls": "\u200b\u202eonce\ufeff \x1b[31mupon\x07 \x85 a time",
    "lines": "Once upon.\n\n\nA time.\r\nThe end.",
    "usual": usual_text(600, seed=3),
}
# Settings that name what is loaded: a model, a grounder, the weights of a learned metric.
ASKED = {"model", "weights", "grounder"}
PICTURES = tuple(
    str(Path(__file__).parents[2] / "examples" / "pictures" / "late_train" / name)
    for name in ("1.png", "4.png")
)
OTHER = "Once upon a time, 今日 a dragon slept. The end."


def specs_of(name: str) -> list[str]:
    """The default, compat, and every spec that the card mentions; models are the fake one."""
    card = METRICS.get(name).card
    published = [spec for columns in card.published.values() for spec, _ in columns.values()]
    wanted = [name, f"{name}(compat=True)", *card.typical, *published]
    return list(dict.fromkeys(faked(METRICS.build(spec)).spec for spec in wanted))


def settings_of(metric: Metric | type[Metric]) -> set[str]:
    return {one.name for one in fields(metric)}


def faked(metric: Metric) -> Metric:
    """The metric with a model or a reader that is instant and needs no weights, if it asks one."""
    fakes: dict[str, Any] = {
        "model": "fake()",
        "weights": "fake",
        "grounder": "fake",
        "layer": 1,
        "entities": "capitals",
        "directions": 200,
    }
    if not settings_of(metric) & ASKED:
        return metric
    return replace(metric, **{key: fakes[key] for key in fakes if key in settings_of(metric)})


def marked(specs: list[str]) -> list[object]:
    """Mark the specs of metrics that need an asset: they run when it has been pulled."""
    return [
        pytest.param(spec, marks=pytest.mark.assets) if needs_asset(spec) else spec
        for spec in specs
    ]


def needs_asset(spec: str) -> bool:
    metric = METRICS.build(spec)
    return bool(metric.card.assets) and not settings_of(metric) & ASKED


EVERY = [spec for name in NAMES for spec in specs_of(name)]
SPECS = marked(EVERY)
ALONE = marked([spec for spec in EVERY if not METRICS.build(spec).batch])
COMPARING = marked(
    [
        spec
        for spec in EVERY
        if "reference" in METRICS.build(spec).card.needs
        and METRICS.build(spec).card.direction == "higher"
    ]
)

# The defaults of metrics that ask a model, with its real weights. A short text took
# smollm2 about 3 s on two busy cores, so that these run in a shorter contract
# (test_real_models.py) and never on texts of 100,000 characters. A judge asks six questions about
# each: its real model is asked one in tests/judges.
WITH_WEIGHTS = [
    name
    for name in NAMES
    if "model" in settings_of(METRICS.get(name)) and METRICS.get(name).card.family != "judge"
]
EMBEDDED = [name for name in WITH_WEIGHTS if "embedded(" in str(vars(METRICS.build(name))["model"])]


@cache
def metric_of(spec: str) -> Metric:
    return METRICS.build(spec)


def full_story(text: str, *references: str, id: str = "s") -> Story:
    """A story with all that any metric may need."""
    return Story(id, text, "A prompt about a dragon.", references, PICTURES, "system", "item")


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
