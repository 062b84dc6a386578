from __future__ import annotations

import math

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics.infolm import Infolm
from fakes.factories import make_story, usual_text, value_of
from fakes.scripted_filler import tell_filler
from fakes.scripted_model import blind_to

FAKE = Infolm(model="fake()")
STORY = "The old boat came home in winter."
NEAR = "An old boat comes home in the winter."
FAR = "Zebras quarrel, mostly; zebras quarrel. Zebras!"

# What the told model guesses where a word stands, over a vocabulary of two.
CHANCES = {"a": (1.0, 0.0), "b": (0.0, 1.0), "c": (0.25, 0.75)}


@pytest.fixture
def told(monkeypatch):
    return tell_filler(monkeypatch, chances=CHANCES)


def test_texts_are_compared_by_the_means_of_their_guesses(told):
    # P(story) = (½, ½), P(reference) = (¼, ¾): an angle of π/12, twice.
    assert value_of(Infolm(), "a b", "c c c") == pytest.approx(math.pi / 6)
    assert value_of(Infolm(measure="kl"), "a b", "c") == pytest.approx(math.log(4 / 3) / 2)
    assert value_of(Infolm(measure="l1"), "a b", "c") == pytest.approx(1 / 2)


def test_order_turns_the_arguments_round_or_takes_the_mean_of_both_ways(told):
    forth, back = math.log(4 / 3) / 2, (math.log(1 / 2) + 3 * math.log(3 / 2)) / 4
    assert value_of(Infolm(measure="kl", order="back"), "a b", "c") == pytest.approx(back)
    both = value_of(Infolm(measure="kl", order="mean"), "a b", "c")
    assert both == pytest.approx((forth + back) / 2)


def test_the_three_published_columns_are_one():
    orders = ("forth", "back", "mean")
    found = [value_of(Infolm(model="fake()", order=one), STORY, NEAR) for one in orders]
    assert found[0] > 0
    assert found == [found[0]] * 3


def test_alpha_and_beta_are_settings(told):
    assert value_of(Infolm(measure="renyi", alpha=2), "a b", "c") == pytest.approx(math.log(4 / 3))
    beta = value_of(Infolm(measure="beta", beta=1), "a b", "c")
    assert beta == pytest.approx(math.log(5 / 4) / 2)


def test_a_measure_without_bound_is_undefined(told):
    [score] = Infolm(measure="kl").score([make_story("a b", "a")])
    assert score.status is Status.UNDEFINED
    assert score.note == "kl is infinite for these texts"


def test_idf_weighs_the_words_of_stories_and_of_references_apart(told):
    stories = [make_story("a b", "c"), make_story("a a", "a", id="t")]
    # Among two stories `a` is in both: log 3/3 = 0. So only `b` counts: P(story) = (0, 1).
    # Among the references `c` is in one: its weight cancels, P(reference) = (¼, ¾).
    first, second = Infolm(idf=True).score(stories)
    assert first.value == pytest.approx(2 * math.acos(math.sqrt(3 / 4)))
    assert second.status is Status.UNDEFINED
    assert second.note == "the model sees no token with any weight in one of the texts"


def test_compat_counts_the_first_510_tokens_and_says_how_much_that_is(told):
    text = "a " * 510 + "b " * 90
    [score] = Infolm(compat=True).score([make_story(text, "a")])
    assert score.value == 0
    assert score.coverage == pytest.approx(510 / 600)
    [whole] = Infolm().score([make_story(text, "a")])
    assert whole.value > 0.5
    assert whole.coverage == 1.0


def test_a_text_is_guessed_at_once_however_many_stories_share_it(told):
    Infolm().score([make_story("a", "c", id="s"), make_story("b", "c", "a", id="t")])
    assert sorted(told.asked) == ["a", "b", "c"]


@pytest.mark.parametrize("text", [STORY, "Once", usual_text(2000, seed=4)])
def test_a_text_beside_itself_has_0(text):
    assert value_of(FAKE, text, text) == pytest.approx(0, abs=1e-9)


def test_the_nearest_reference_counts_and_blank_ones_do_not():
    near, far = value_of(FAKE, STORY, NEAR), value_of(FAKE, STORY, FAR)
    assert near < far
    assert value_of(FAKE, STORY, FAR, " ", NEAR) == near


def test_a_text_without_a_token_is_undefined_but_another_reference_may_serve(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    for pair in [("\u200b", STORY), (STORY, "\u200b")]:
        [score] = FAKE.score([make_story(*pair)])
        assert score.status is Status.UNDEFINED
        assert score.note == "the model sees no token in one of the texts"
    assert value_of(FAKE, STORY, "\u200b", NEAR) == value_of(FAKE, STORY, NEAR)


def test_a_lower_temperature_sharpens_the_guesses():
    sharp = value_of(Infolm(model="fake()", temperature=0.1), STORY, FAR)
    assert sharp > value_of(Infolm(model="fake()", temperature=2.0), STORY, FAR)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"measure": "alpha", "alpha": 1}, "alpha=1 divides by zero; take another"),
        ({"measure": "renyi", "alpha": 1}, "alpha=1 gives no divergence"),
        ({"measure": "beta", "beta": 0}, "beta=0 divides by zero"),
        ({"measure": "ab", "alpha": 0.5, "beta": -0.5}, "nor their sum may be 0"),
        ({"measure": "cosine"}, "measure='cosine' will not do"),
        ({"temperature": 0}, "temperature=0 will not do"),
    ],
)
def test_settings_that_will_not_do_are_refused(settings, words):
    with pytest.raises(SettingError, match=words):
        Infolm(**settings)


def test_a_model_that_fills_no_gaps_is_refused(tmp_path):
    words = tmp_path / "vectors.txt"
    words.write_text("boat 1 2\nhome 2 1\n")
    with pytest.raises(SettingError, match="filler of gaps"):
        Infolm(model=f"word_vectors({str(words)!r})").score([make_story(STORY, NEAR)])
