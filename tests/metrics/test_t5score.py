from __future__ import annotations

import pytest

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics.bartscore import Bartscore
from fabula.metrics.t5score import T5score
from fabula.models import load_model
from fakes.assets import need_asset

STORY = "A sailor repairs his net in the harbour before a storm."
HUMAN = "The old sailor mended his net by the harbour while the storm came closer."
FAR = "The bakery sells its warm bread in the city before noon."
ITEM = Story("s", STORY, "Write about a sailor and a storm.", (HUMAN,))


def test_it_is_bartscore_s_rule_under_its_own_name() -> None:
    [ours], [theirs] = (kind(model="fake()").score([ITEM]) for kind in (T5score, Bartscore))
    assert ours.value == theirs.value
    assert (ours.scorer, theirs.scorer) == ("t5score(model='fake')", "bartscore(model='fake')")


def test_it_claims_no_published_column() -> None:
    assert T5score.card.published == {}
    assert "not BARTScore" in T5score.card.quirks[0]


def test_compat_cuts_nothing() -> None:
    long = Story("s", f"{STORY} {FAR} " * 60, "p", (HUMAN,))
    [plain], [compat] = (T5score(model="fake()", compat=one).score([long]) for one in (False, True))
    assert (plain.value, plain.coverage) == (compat.value, compat.coverage)


@pytest.fixture(scope="module")
def weights() -> None:
    need_asset("t5_titles")


@pytest.mark.assets
@pytest.mark.usefixtures("weights")
def test_it_is_the_mean_of_the_model_s_logs_with_that_of_the_end() -> None:
    [logs] = load_model("embedded('t5_titles')").logs([(HUMAN, STORY)])  # type: ignore[attr-defined]
    [score] = T5score().score([ITEM])
    assert len(logs.added) == 1
    expected = (logs.logs.sum() + logs.added[0]) / (len(logs.logs) + 1)
    assert score.value == pytest.approx(expected, abs=1e-9)
    assert score.status is Status.OK


@pytest.mark.assets
@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize("use", ["HS", "SH"])
def test_a_paraphrase_scores_above_what_is_unrelated(use: str) -> None:
    far = Story("f", FAR, references=(HUMAN,))
    near, other = T5score(use=use).score([ITEM, far])  # type: ignore[arg-type]
    assert near.value > other.value + 0.5
