"""Every metric on texts that no author writes: a value within its bounds, or a reason; no more.

`make fuzz` goes on for longer; `FABULA_FUZZ_SEED` draws others.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator

import pytest

from fabula.core.score import Score
from fabula.core.story import Story
from fabula.scoring.catalogue import METRICS
from fakes.contract_specs import (
    ASKED,
    EVERY,
    NAMES,
    check,
    faked,
    marked,
    metric_of,
    settings_of,
)
from fakes.fuzzing import rounds, seeded
from fakes.odd_texts import odd_story

TEXTS = 300
# Stories that are scored together; metrics of a batch take them for a run.
TOGETHER = 50
# Other settings of a metric that asks a model read one of so many texts.
FEWER = 10
# What carries tokens or depths from one text to another reads short ones.
SLOW = ("baryscore", "depthscore", "moverscore", "infolm")
SHORT, USUAL = 60, 400
# What a text has beside itself, where it has a value at all; compat has accidents of releases.
PERFECT = {
    "bleu": 100.0,
    "chrf": 100.0,
    "rouge": 1.0,
    "rouge_we": 1.0,
    "bertscore": 1.0,
    "moverscore": 1.0,
    "wmd": 0.0,
    "infolm": 0.0,
    "depthscore": 0.0,
}
DEFAULTS = {faked(METRICS.build(name)).spec for name in NAMES}
ALIKE = [spec for spec in EVERY if METRICS.build(spec).name in PERFECT and "compat" not in spec]


def odd_batches(spec: str) -> Iterator[list[Story]]:
    """Give the stories that a metric reads, some at a time."""
    metric, draw = metric_of(spec), seeded(f"metrics {spec}")
    variant = settings_of(metric) & ASKED and spec not in DEFAULTS
    count = rounds(TEXTS) // (FEWER if variant else 1)
    longest = SHORT if metric.name in SLOW else USUAL
    for start in range(0, count, TOGETHER):
        numbers = range(start, min(start + TOGETHER, count))
        yield [odd_story(draw, number, longest) for number in numbers]


def said(scores: list[Score]) -> dict[tuple[str, str], tuple[str, str, str, str]]:
    """What must be the same again, by story and aspect."""
    return {
        (score.story, score.aspect): (
            repr(score.value), score.status, repr(score.coverage), score.note
        )
        for score in scores
    }  # fmt: skip


@pytest.mark.parametrize("spec", marked(EVERY))
def test_any_text_has_a_value_within_bounds_or_a_reason_whatever_the_order(spec):
    metric = metric_of(spec)
    for stories in odd_batches(spec):
        scores = metric.score(stories)
        check(metric, scores)
        shuffled = random.Random(len(stories)).sample(stories, len(stories))
        assert said(metric.score(shuffled)) == said(scores)


@pytest.mark.parametrize("spec", marked(ALIKE))
def test_a_text_beside_itself_has_the_best_value_or_none(spec):
    metric, wanted = metric_of(spec), PERFECT[metric_of(spec).name]
    for stories in odd_batches(spec):
        alike = [Story(s.id, s.text, None, (s.text,), (), s.system, s.item) for s in stories]
        for score in metric.score(alike):
            close = math.isclose(score.value, wanted, rel_tol=1e-6, abs_tol=1e-6)
            assert close or not score.ok, (score, alike[int(score.story) % TOGETHER])
