from __future__ import annotations

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics import depthscore
from fabula.metrics._depth import directions
from fabula.metrics.depthscore import Depthscore
from fabula.models import load_model
from fakes.direct_depth import direct_distance
from fakes.factories import make_story, usual_text, value_of
from fakes.scripted_model import blind_to

SMALL = {"model": "fake()", "layer": 1, "directions": 300}
METRIC = Depthscore(**SMALL)
COMPAT = Depthscore(**SMALL, compat=True)
STORY = "The old boat came home in winter, and nobody was there to see it."
NEAR = "An old boat comes home in winter."
FAR = "Zebras quarrel, mostly."


def by_hand(text, reference, *, signed=False):
    """The definition, in 64 bits, on all the fake's tokens."""
    states = [one.states[0] for one in load_model("fake()").states([reference, text], [1])]
    clouds = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in states]
    return direct_distance(*clouds, directions(300, 16, 0).astype(float), signed=signed)


@pytest.mark.parametrize("reference", [NEAR, FAR, usual_text(900, seed=4)])
def test_the_fake_s_states_give_the_value(reference):
    assert value_of(METRIC, STORY, reference) == pytest.approx(by_hand(STORY, reference), abs=1e-6)


@pytest.mark.parametrize("text", [STORY, "Once", usual_text(3000, seed=4)])
@pytest.mark.parametrize("metric", [METRIC, COMPAT], ids=["default", "compat"])
def test_a_text_beside_itself_has_0(metric, text):
    assert value_of(metric, text, text) == 0.0


def test_which_text_is_the_story_changes_the_value_only_where_gaps_have_a_sign():
    assert value_of(METRIC, STORY, NEAR) == value_of(METRIC, NEAR, STORY) > 0
    forth, back = value_of(COMPAT, STORY, NEAR), value_of(COMPAT, NEAR, STORY)
    assert forth != pytest.approx(back, rel=1e-3)
    assert forth == pytest.approx(by_hand(STORY, NEAR, signed=True), abs=1e-6)


def test_a_negative_mean_of_signed_gaps_is_undefined_and_says_so():
    # On one direction what is a gap for the one is its negative for the other.
    single = Depthscore(model="fake()", layer=1, directions=1, compat=True)
    scores = [single.score([make_story(*pair)])[0] for pair in [(STORY, FAR), (FAR, STORY)]]
    [bad] = [score for score in scores if not score.ok]
    assert bad.status is Status.UNDEFINED
    assert bad.note == "the mean of the signed gaps is negative"


def test_the_nearest_reference_counts_and_blank_ones_do_not():
    near, far = sorted((NEAR, FAR), key=lambda one: value_of(METRIC, STORY, one))
    best = value_of(METRIC, STORY, near)
    assert best < value_of(METRIC, STORY, far)
    assert value_of(METRIC, STORY, far, near) == value_of(METRIC, STORY, near, " ", far) == best


def test_a_text_without_a_token_is_undefined_but_another_reference_may_serve(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    for pair in [("\u200b", STORY), (STORY, "\u200b")]:
        [score] = METRIC.score([make_story(*pair)])
        assert score.status is Status.UNDEFINED
    assert value_of(METRIC, STORY, "\u200b", NEAR) == value_of(METRIC, STORY, NEAR)


def test_a_text_over_the_limit_is_too_long_and_says_how_long_it_may_be(monkeypatch):
    monkeypatch.setattr(depthscore, "_MOST_PLACES", 3_000)
    [score] = METRIC.score([make_story(STORY, NEAR)])
    assert score.status is Status.TOO_LONG
    # Fourteen words, a comma and a full stop, with a beginning and an end.
    assert score.note == "18 tokens: over the limit of 10 for 300 directions"


def test_every_text_is_worked_out_once(monkeypatch):
    found = []
    kept = depthscore.supports
    monkeypatch.setattr(depthscore, "supports", lambda *some: found.append(1) or kept(*some))
    METRIC.score([make_story(text, STORY, id=text) for text in (STORY, NEAR, FAR)])
    assert len(found) == 3


def test_compat_cuts_texts_at_the_window_and_says_so():
    compat = Depthscore(model="fake(window=16)", layer=1, directions=50, compat=True)
    # Sixteen tokens with a beginning and an end: fourteen words of one letter.
    head, tail = "a b c d e f g h i j k l m n", " o p q r s t u v w x y z"
    [score] = compat.score([make_story(head + tail, head)])
    assert score.value == pytest.approx(0.0, abs=1e-6)
    assert score.coverage == pytest.approx(len(head) / len(head + tail))
    whole = Depthscore(model="fake(window=16)", layer=1, directions=50)
    [score] = whole.score([make_story(head + tail, head)])
    assert score.value > 0.01
    assert score.coverage == 1.0


def test_another_seed_gives_another_value_about_as_large():
    first, other = (value_of(Depthscore(**SMALL, seed=seed), STORY, FAR) for seed in (0, 1))
    assert first != other
    assert first == pytest.approx(other, rel=0.3)


@pytest.mark.parametrize("bad", [{"directions": 0}, {"seed": -1}, {"layer": -1}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(SettingError, match="depthscore"):
        Depthscore(**bad)


def test_a_layer_that_the_model_does_not_have_is_one_line():
    with pytest.raises(SettingError, match="layer 4; take 0 to 2"):
        Depthscore(model="fake()").score([make_story(STORY, NEAR)])
