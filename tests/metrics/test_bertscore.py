from __future__ import annotations

import math

import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics import _vectors
from fabula.metrics.bertscore import Bertscore
from fabula.models import load_model
from fakes.factories import make_story, usual_text, values_of
from fakes.fixed_states import EAST, NORTH, WEST, place
from fakes.scripted_model import blind_to

METRIC = Bertscore(model="fake()", layer=1)
STORY = "The old boat came home in winter."
NEAR = "An old boat comes home."
FAR = "Zebras quarrel, mostly."


def cosine(left, right):
    dot = sum(a * b for a, b in zip(left, right, strict=True))
    return dot / math.sqrt(sum(a * a for a in left) * sum(b * b for b in right))


def by_hand(text, reference):
    """Share of the nearest: added tokens can be matched, but only those of the text count."""
    left, right = (one.states[0] for one in load_model("fake()").states([text, reference], [1]))
    precision = [max(cosine(one, other) for other in right) for one in left[1:-1]]
    recall = [max(cosine(one, other) for other in left) for one in right[1:-1]]
    p, r = sum(precision) / len(precision), sum(recall) / len(recall)
    return p, r, 2 * p * r / (p + r)


@pytest.mark.parametrize("reference", [NEAR, FAR])
def test_the_fake_s_states_give_the_value(reference):
    assert values_of(METRIC, STORY, reference) == pytest.approx(by_hand(STORY, reference))


@pytest.mark.parametrize("text", [STORY, "Once", usual_text(3000, seed=4)])
def test_a_text_beside_itself_has_1(text):
    assert values_of(METRIC, text, text) == pytest.approx((1, 1, 1), abs=1e-6)


def test_precision_and_recall_change_places_with_the_texts():
    forth, back = values_of(METRIC, STORY, NEAR), values_of(METRIC, NEAR, STORY)
    assert (forth[1], forth[0], forth[2]) == pytest.approx(back)
    assert forth[0] != pytest.approx(forth[1])


def test_the_reference_with_the_best_f_counts_and_blank_ones_do_not():
    best = values_of(METRIC, STORY, NEAR)
    assert best[2] > values_of(METRIC, STORY, FAR)[2]
    assert values_of(METRIC, STORY, FAR, NEAR) == values_of(METRIC, STORY, NEAR, " ", FAR) == best


def test_a_text_without_a_token_is_undefined_but_another_reference_may_serve(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    for pair in [("\u200b", STORY), (STORY, "\u200b")]:
        scores = METRIC.score([make_story(*pair)])
        assert {score.status for score in scores} == {Status.UNDEFINED}
    assert values_of(METRIC, STORY, "\u200b", NEAR) == values_of(METRIC, STORY, NEAR)


def test_a_layer_that_the_model_does_not_have_is_one_line():
    with pytest.raises(SettingError, match="layer 3; take 0 to 2"):
        Bertscore(model="fake()").score([make_story(STORY, NEAR)])


def test_a_long_text_is_read_whole_by_windows():
    text = usual_text(5_000, seed=1)
    windowed = Bertscore(model="fake(window=64)", layer=1)
    scores = windowed.score([make_story(text, usual_text(5_000, seed=2))])
    assert all(score.ok and score.coverage == 1.0 for score in scores)


def test_compat_cuts_texts_at_the_window_and_says_so():
    compat = Bertscore(model="fake(window=16)", layer=1, compat=True)
    # Sixteen tokens with a beginning and an end: fourteen words of one letter.
    head, tail = "a b c d e f g h i j k l m n", " o p q r s t u v w x y z"
    [precision, _, _] = compat.score([make_story(head + tail, head + " 1 2 3")])
    assert precision.value == pytest.approx(1.0)
    assert precision.coverage == pytest.approx(len(head) / len(head + tail))
    whole = Bertscore(model="fake(window=16)", layer=1).score([make_story(head + tail, head)])
    assert whole[0].value < 0.999
    assert whole[0].coverage == 1.0


def test_pairs_over_the_limit_are_too_long_and_blocks_change_nothing(monkeypatch):
    whole = values_of(METRIC, STORY, NEAR)
    monkeypatch.setattr(_vectors, "BLOCK_PAIRS", 10)
    assert values_of(METRIC, STORY, NEAR) == pytest.approx(whole, rel=1e-12)
    monkeypatch.setattr(_vectors, "MOST_PAIRS", 10)
    [score, *_] = METRIC.score([make_story(STORY, NEAR)])
    assert score.status is Status.TOO_LONG
    # Seven words and a dot, five and a dot; each with a beginning and an end.
    assert score.note == "10 × 8 tokens: over the limit of 10 pairs"


def test_with_idf_both_sides_are_weighed_by_the_references_alone(monkeypatch):
    place(monkeypatch, pine=NORTH, rock=(0.6, 0.8), lake=WEST)
    metric = Bertscore(model="fake()", layer=0, idf=True)
    stories = [
        make_story("pine rock", "rock lake", id="1"),
        make_story("lake lake", "rock", id="2"),
        make_story("rock", "rock lake", id="3"),
    ]
    # Of three references three hold a rock (weight 0), two a lake and none a pine, whatever the
    # stories hold. The pine's best cosine is the rock's .8; the lake's the pine's 0.
    precision, recall, f = (score.value for score in metric.score(stories)[:3])
    assert (precision, recall, f) == pytest.approx((0.8, 0.0, 0.0))


def test_with_idf_a_mean_is_weighed(monkeypatch):
    place(monkeypatch, pine=NORTH, rock=(0.6, 0.8), lake=EAST)
    metric = Bertscore(model="fake()", layer=0, idf=True)
    stories = [make_story("pine lake", "rock", id="1"), make_story("rock", "lake", id="2")]
    # The pine is in none of two references (log 3), the lake in one (log 3/2). Best cosines: .8
    # with the rock; 1 with the beginning, which points east too.
    pine, lake = math.log(3), math.log(1.5)
    expected = (0.8 * pine + 1.0 * lake) / (pine + lake)
    assert metric.score(stories)[0].value == pytest.approx(expected)


def test_alone_in_its_run_a_story_has_no_weights_by_idf():
    scores = Bertscore(model="fake()", layer=1, idf=True).score([make_story(STORY, STORY)])
    assert {score.status for score in scores} == {Status.UNDEFINED}
    assert scores[0].note == "all tokens are in every reference: none has weight"
