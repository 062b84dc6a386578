from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics.masked_entropy import MaskedEntropy
from fabula.models import load_model
from fakes.factories import usual_text
from fakes.scripted_model import blind_to, tell, told_logs


def test_entropy_and_surprisal_are_means_in_bits(monkeypatch):
    # Guesses among 4 and among 16 words that are alike have 2 and 4 bits.
    entropies = np.log([4.0, 16.0])
    model = tell(monkeypatch, told_logs(("One", 1 / 2), (" day", 1 / 32), entropies=entropies))
    entropy, surprisal = MaskedEntropy(model="fake()").score([Story("s", "One day", "A prompt.")])
    assert entropy.value == pytest.approx(3.0)
    assert surprisal.value == pytest.approx(3.0)
    assert surprisal.aspect == "surprisal"
    assert model.asked == ["One day"]


def test_the_fake_s_logs_and_entropies_give_the_value():
    text = "The old boat came home."
    [found] = load_model("fake()").masked_logs([text])
    entropy, surprisal = MaskedEntropy(model="fake()").score([Story("s", text)])
    assert entropy.value == pytest.approx(found.entropies.mean() / math.log(2))
    assert surprisal.value == pytest.approx(-found.logs.mean() / math.log(2))


def test_a_model_that_gives_no_entropies_leaves_the_score_undefined(monkeypatch):
    tell(monkeypatch, told_logs(("One", 1 / 2)))
    scores = MaskedEntropy(model="fake()").score([Story("s", "One")])
    assert {score.status for score in scores} == {Status.UNDEFINED}


def test_a_text_without_a_token_is_undefined(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    scores = MaskedEntropy(model="fake()").score([Story("s", "\u200b")])
    assert {score.status for score in scores} == {Status.UNDEFINED}


def test_a_long_text_is_read_whole_by_windows():
    story = Story("s", usual_text(20_000, seed=1))
    scores = MaskedEntropy(model="fake(window=64)").score([story])
    assert all(score.ok and score.coverage == 1.0 for score in scores)
