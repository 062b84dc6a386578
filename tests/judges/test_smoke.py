"""The embedded model as a judge: a smoke test, which says that it is one."""

from __future__ import annotations

import pytest

from fabula.core.story import Story
from fabula.judges.judge import Judge


@pytest.mark.assets
def test_the_embedded_model_gives_a_mean_by_its_own_probabilities_and_calls_itself_a_smoke_test():
    story = Story("s", "Once a door opened. Nobody came in, and the lamp went out.")
    judge = Judge(criterion="coherence", value="expected")
    [score] = judge.score([story])
    assert 1 <= score.value <= 5
    assert "a smoke test: this model is too small to judge" in score.note
    assert "model:embedded,smollm2@" in judge.signature()
