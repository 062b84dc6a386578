"""What metrics that ask a model promise with real weights: the contract in a shorter form."""

from __future__ import annotations

import pytest

from fabula.core.metric import Metric
from fabula.core.story import Story
from fakes.assets import need_asset
from fakes.contract_specs import EMBEDDED, OTHER, SHORT, check, full_story, metric_of

pytestmark = pytest.mark.assets
KINDS = ("empty", "one letter", "marks", "emoji", "lone surrogate", "lines")
STORIES = [full_story(SHORT[kind], OTHER, id=kind) for kind in KINDS]


@pytest.fixture(autouse=True)
def weights(spec: str) -> None:
    for name in metric_of(spec).card.assets:
        need_asset(name)


def checked_values(metric: Metric, stories: list[Story]) -> dict[tuple[str, str], float]:
    scores = metric.score(stories)
    check(metric, scores)
    return {(one.story, one.aspect): one.value for one in scores}


@pytest.mark.parametrize("spec", EMBEDDED)
def test_any_text_has_a_value_or_a_reason_whatever_the_order_and_the_company(spec):
    metric = metric_of(spec)
    forth = checked_values(metric, STORIES)
    # Batches of other lengths round otherwise in the last bits of 32.
    for key, value in checked_values(metric, [STORIES[5], STORIES[2]]).items():
        assert value == pytest.approx(forth[key], rel=1e-4, abs=1e-5, nan_ok=True)


@pytest.mark.parametrize("spec", EMBEDDED)
def test_an_ordinary_text_has_a_value_and_the_model_is_in_the_signature(spec):
    metric = metric_of(spec)
    # No word vector stands for signs of another script.
    text = OTHER.replace("今日 ", "")
    scores = metric.score([full_story(text, "A dragon slept. It was the end.")])
    assert all(score.ok and score.coverage == 1.0 for score in scores)
    asset = metric.card.assets[0]
    assert f"|model:embedded,{asset}@" in metric.signature()
