from __future__ import annotations

import math
from dataclasses import replace

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics import moverscore
from fabula.metrics.moverscore import Moverscore
from fakes.factories import make_story, usual_text, value_of
from fakes.fixed_states import EAST, NORTH, SOUTH, WEST, place
from fakes.scripted_model import blind_to

pytest.importorskip("ot")
METRIC = Moverscore(model="fake()", layer=1)
STORY = "Grey boats came home."
NEAR = "Grey boats come home, slowly."
FAR = "Zebras quarrel; bishops whistle."


def placed(monkeypatch, points, **settings):
    """The metric with a model that knows these words; a metric keeps the model it has loaded."""
    place(monkeypatch, **points)
    return Moverscore(model="fake()", layer=0, **settings)


def mover(*moves):
    """The score of a plan: pairs of mass and distance."""
    return 1 / (1 + sum(mass * distance for mass, distance in moves))


def test_a_plan_by_hand(monkeypatch):
    metric = placed(monkeypatch, {"pine": NORTH, "rock": EAST, "lake": WEST})
    # Half of the mass is where it belongs, half goes a quarter of the circle.
    assert value_of(metric, "pine rock", "pine") == pytest.approx(mover((0.5, math.sqrt(2))))
    # Of the lake's third one half goes to the pine, the other to the rock.
    assert value_of(metric, "pine rock lake", "pine rock") == pytest.approx(
        mover((1 / 6, math.sqrt(2)), (1 / 6, 2.0))
    )
    assert value_of(metric, "rock", "lake") == pytest.approx(1 / 3)


def test_only_the_direction_of_a_state_counts(monkeypatch):
    metric = placed(monkeypatch, {"pine": (0.0, 7.0), "rock": (0.5, 0.0)})
    assert value_of(metric, "pine", "rock") == pytest.approx(mover((1, math.sqrt(2))))


@pytest.mark.parametrize("light", ["the", "The", "##y", "!", "“", "…"])
def test_stop_words_continuations_and_marks_weigh_nothing(monkeypatch, light):
    metric = placed(monkeypatch, {"pine": NORTH, "rock": EAST, light: WEST})
    assert value_of(metric, f"pine {light}", "rock") == value_of(metric, "pine", "rock")
    [score] = metric.score([make_story(light, "rock")])
    assert score.status is Status.UNDEFINED
    assert score.note == "no token of one of the texts has weight"


def test_stop_words_can_be_kept_or_given(monkeypatch, tmp_path):
    every = placed(monkeypatch, {"pine": NORTH, "rock": EAST, "the": WEST}, stop_words="")
    assert value_of(every, "pine the", "pine") == pytest.approx(mover((0.5, math.sqrt(2))))
    own = tmp_path / "own.txt"
    own.write_text("rock\n", encoding="utf-8")
    mine = replace(every, stop_words=str(own))
    assert value_of(mine, "pine the rock", "pine") == pytest.approx(mover((0.5, math.sqrt(2))))
    assert mine.signature() != every.signature()
    with pytest.raises(SettingError, match="cannot be read"):
        Moverscore(stop_words=str(tmp_path / "none.txt"))


def test_with_idf_each_side_is_weighed_by_its_own_texts(monkeypatch):
    metric = placed(monkeypatch, {"pine": NORTH, "rock": EAST, "lake": WEST}, idf=True)
    stories = [
        make_story("pine rock", "rock lake", id="1"),
        make_story("pine pine lake", "rock rock", id="2"),
        make_story("pine rock", "lake", id="3"),
    ]
    # All stories hold a pine, so that it weighs nothing; among the references a rock and a lake
    # weigh the same. Half of the first story's rock goes to the lake; then all does.
    expected = [mover((0.5, 2.0)), mover((1.0, 2.0)), mover((1.0, 2.0))]
    assert [score.value for score in metric.score(stories)] == pytest.approx(expected)


def test_with_idf_shares_are_those_of_the_weights(monkeypatch):
    metric = placed(monkeypatch, {"pine": NORTH, "rock": EAST, "stray": SOUTH}, idf=True)
    stories = [
        make_story("pine rock", "rock", id="1"),
        make_story("rock", "pine", id="2"),
        make_story("stray", "pine", id="3"),
    ]
    # One of three stories holds a pine, two a rock.
    pine, rock = math.log(4 / 2), math.log(4 / 3)
    expected = mover((pine / (pine + rock), math.sqrt(2)))
    assert metric.score(stories)[0].value == pytest.approx(expected)


def test_alone_in_its_run_a_text_has_no_weights_by_idf():
    [score] = replace(METRIC, idf=True).score([make_story(STORY, NEAR)])
    assert score.status is Status.UNDEFINED


def test_compat_counts_added_tokens_and_knows_ascii_marks_alone(monkeypatch):
    points = {"pine": NORTH, "rock": EAST, "“": WEST, "!": WEST}
    compat = placed(monkeypatch, points, compat=True)
    # A beginning and an end, both east, on either side: of three thirds one has to go.
    assert value_of(compat, "pine", "rock") == pytest.approx(mover((1 / 3, math.sqrt(2))))
    assert value_of(compat, "pine !", "rock") == value_of(compat, "pine", "rock")
    # Of four quarters three are where they belong.
    assert value_of(compat, "rock “", "rock") == pytest.approx(mover((1 / 4, 2.0)))


def test_compat_with_idf_gives_added_tokens_no_weight():
    compat = Moverscore(model="fake()", layer=1, idf=True, compat=True, stop_words="")
    plain = replace(compat, compat=False)
    stories = [make_story(STORY, NEAR, id="1"), make_story(FAR, STORY, id="2")]
    assert [s.value for s in compat.score(stories)] == [s.value for s in plain.score(stories)]


def test_compat_cuts_texts_at_the_window_and_says_so():
    compat = Moverscore(model="fake(window=16)", layer=1, compat=True, stop_words="")
    head, tail = "b c d e f g h i j k l m n o", " p q r u v w x y z"
    [score] = compat.score([make_story(head + tail, head + " 1 2 3")])
    assert score.value == pytest.approx(1.0, abs=1e-6)
    assert score.coverage == pytest.approx(len(head) / len(head + tail))
    [whole] = replace(compat, compat=False).score([make_story(head + tail, head)])
    assert (whole.value < 0.999, whole.coverage) == (True, 1.0)


@pytest.mark.parametrize("text", [STORY, "Boats", usual_text(2000, seed=4)])
def test_a_text_beside_itself_has_1_and_either_order_gives_the_same(text):
    assert value_of(METRIC, text, text) == pytest.approx(1, abs=1e-6)
    assert value_of(METRIC, text, NEAR) == pytest.approx(value_of(METRIC, NEAR, text), abs=1e-9)


def test_the_best_reference_counts_and_blank_ones_do_not():
    best = value_of(METRIC, STORY, NEAR)
    assert best > value_of(METRIC, STORY, FAR)
    assert value_of(METRIC, STORY, FAR, NEAR) == value_of(METRIC, STORY, NEAR, " ", FAR) == best


def test_a_text_without_a_token_is_undefined_but_another_reference_may_serve(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    for pair in [("\u200b", STORY), (STORY, "\u200b")]:
        [score] = METRIC.score([make_story(*pair)])
        assert (score.status, score.note) == (
            Status.UNDEFINED,
            "the model sees no token in one of the texts",
        )
    assert value_of(METRIC, STORY, "\u200b", NEAR) == value_of(METRIC, STORY, NEAR)


def test_pairs_over_the_limit_are_too_long(monkeypatch):
    monkeypatch.setattr(moverscore, "_MOST_PAIRS", 10)
    [score] = METRIC.score([make_story(STORY, NEAR)])
    assert score.status is Status.TOO_LONG
    assert score.note == "4 × 5 tokens: over the limit of 10 pairs"


def test_a_layer_that_the_model_does_not_have_is_one_line():
    with pytest.raises(SettingError, match="layer 6; take 0 to 2"):
        Moverscore(model="fake()").score([make_story(STORY, NEAR)])
