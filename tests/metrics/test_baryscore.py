from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.metrics import _sinkhorn, baryscore
from fabula.metrics.baryscore import STRENGTHS, Baryscore
from fabula.models import load_model
from fakes.factories import make_story, usual_text, values_of
from fakes.fixed_states import EAST, NORTH, WEST, PlacedModel
from fakes.scripted_model import blind_to

ot = pytest.importorskip("ot")
pytest.importorskip("scipy")
METRIC = Baryscore(model="fake()", last=3)
STORY = "Grey boats came home in the rain, one by one."
NEAR = "Grey boats come home, slowly."
FAR = "Zebras quarrel; bishops whistle."


def middle(text, *, added=False, weights=None):
    """POT's barycentre of the fake's three layers, from zeros as in the original."""
    [found] = load_model("fake()").states([text], [0, 1, 2])
    clouds = found.states if added else found.states[:, 1:-1]
    clouds = clouds / np.linalg.norm(clouds, axis=2, keepdims=True)
    size = clouds.shape[1]
    each = np.full(size, 1 / size) if weights is None else np.array(weights) / sum(weights)
    start = np.zeros(clouds.shape[1:]) if weights is None else clouds.mean(axis=0)
    return ot.lp.free_support_barycenter(list(clouds), [each] * 3, start, numItermax=1000)


def by_pot(left, right, strengths=STRENGTHS[:6]):
    """W and SD of two clouds; POT's sweeps converge down to 0.01 where sizes differ."""
    sides = [np.full(len(one), 1 / len(one)) for one in (left, right)]
    costs = ot.dist(left, right)
    plans = [
        ot.sinkhorn(*sides, costs, r, method="sinkhorn_log", numItermax=50_000, stopThr=1e-11)
        for r in strengths
    ]
    return [float(ot.emd2(*sides, costs)), *(float((plan * costs).sum()) for plan in plans)]


@pytest.mark.parametrize("reference", [NEAR, FAR])
def test_w_and_sd_equal_pot_on_short_texts(reference):
    expected = by_pot(middle(STORY), middle(reference))
    assert values_of(METRIC, STORY, reference)[:7] == pytest.approx(expected, abs=1e-7)


def test_compat_counts_the_tokens_that_the_model_adds():
    expected = by_pot(middle(STORY, added=True), middle(NEAR, added=True))
    found = values_of(replace(METRIC, compat=True), STORY, NEAR)
    assert found[:7] == pytest.approx(expected, abs=1e-7)


def placed(monkeypatch, points, **settings):
    model = PlacedModel(points, layers=len(next(iter(points.values()))))
    monkeypatch.setattr("fabula.metrics.model_metric.load_model", lambda spec: model)
    return Baryscore(model="fake()", **settings)


def test_layers_meet_in_the_middle_by_hand(monkeypatch):
    metric = placed(monkeypatch, {"pine": [NORTH, EAST], "rock": [EAST, EAST]}, last=2)
    # The pine's middle is (½, ½), the rock's (1, 0): a square of ½ apart, with or without entropy.
    assert values_of(metric, "pine", "rock") == pytest.approx([0.5] * 8)
    assert values_of(replace(metric, last=1), "pine", "rock") == pytest.approx([0.0] * 8, abs=1e-9)


def test_two_tokens_by_hand(monkeypatch):
    metric = placed(monkeypatch, {"pine": [NORTH], "rock": [EAST]}, last=1)
    found = dict(zip(metric.card.aspects, values_of(metric, "pine rock", "rock pine"), strict=True))
    assert found["w"] == pytest.approx(0, abs=1e-12)
    # Costs are 0 and 2; the share that crosses is 1 / (1 + exp(2 / r)).
    for r in STRENGTHS:
        crossing = 2 / (1 + math.exp(min(2 / r, 700)))
        assert found[f"sd_{r:g}"] == pytest.approx(crossing, abs=1e-8)


def test_more_layers_than_there_are_means_all_of_them():
    many = replace(METRIC, last=5)
    assert values_of(many, STORY, NEAR) == values_of(METRIC, STORY, NEAR)
    assert many.layers_wanted() == (0, 1, 2)
    assert replace(METRIC, last=2).layers_wanted() == (1, 2)
    with pytest.raises(SettingError, match="at least 1"):
        Baryscore(last=0)


@pytest.mark.parametrize("text", [STORY, "Boats", usual_text(900, seed=4)])
def test_a_text_beside_itself_costs_nothing_but_entropy(text):
    found = values_of(METRIC, text, text)
    assert found[0] == pytest.approx(0, abs=1e-12)
    assert found[-1] < 1e-3
    assert list(found[1:]) == sorted(found[1:], reverse=True)


def test_debiased_it_is_the_sinkhorn_divergence():
    strengths = STRENGTHS[:4]
    left, right = middle(STORY), middle(NEAR)

    def value(one, other, r):
        sides = [np.full(len(side), 1 / len(side)) for side in (one, other)]
        costs = ot.dist(one, other)
        plan = ot.sinkhorn(
            *sides, costs, r, method="sinkhorn_log", numItermax=50_000, stopThr=1e-11
        )
        return float((plan * costs).sum() + r * (plan * np.log(plan * plan.size)).sum())

    found = values_of(replace(METRIC, debiased=True), STORY, NEAR)
    assert found[0] == values_of(METRIC, STORY, NEAR)[0]
    for r, divergence in zip(strengths, found[1:], strict=False):
        own = (value(left, left, r) + value(right, right, r)) / 2
        assert divergence == pytest.approx(value(left, right, r) - own, abs=1e-7)


def test_debiased_a_text_beside_itself_has_0():
    same = values_of(replace(METRIC, debiased=True), STORY, STORY)
    assert same == pytest.approx([0] * 8, abs=1e-8)
    other = values_of(replace(METRIC, debiased=True), STORY, FAR)
    assert min(other) > 0.01


def test_idf_weighs_the_points_that_the_middle_lies_between():
    stories = [make_story(STORY, NEAR, id="1"), make_story("Grey cats came.", FAR, id="2")]
    tokens = load_model("fake()").tokens([STORY, NEAR])
    # Of two stories two hold `Grey`, `came` and a dot, one holds the rest; the comma and the dot
    # of the references too are in one or both.
    own = [math.log(3 / (3 if one in ("Grey", "came", ".") else 2)) for one in tokens[0]]
    others = [math.log(3 / (3 if one == "." else 2)) for one in tokens[1]]
    expected = by_pot(middle(STORY, weights=own), middle(NEAR, weights=others))
    found = replace(METRIC, idf=True).score(stories)[:7]
    assert [one.value for one in found] == pytest.approx(expected, abs=1e-7)


def test_idf_has_no_weights_for_a_text_alone_and_no_part_in_compat():
    scores = replace(METRIC, idf=True).score([make_story(STORY, STORY)])
    assert {one.status for one in scores} == {Status.UNDEFINED}
    assert scores[0].note == "no token of one of the texts has weight"
    with pytest.raises(SettingError, match="idf never took effect"):
        Baryscore(idf=True, compat=True)


def test_the_reference_with_the_smallest_w_counts_and_blank_ones_do_not():
    best = values_of(METRIC, STORY, NEAR)
    assert best[0] < values_of(METRIC, STORY, FAR)[0]
    assert values_of(METRIC, STORY, FAR, NEAR) == values_of(METRIC, STORY, NEAR, " ", FAR) == best


def test_either_order_gives_the_same():
    forth, back = values_of(METRIC, STORY, NEAR), values_of(METRIC, NEAR, STORY)
    assert forth == pytest.approx(back, abs=1e-9)


def test_a_text_without_a_token_is_undefined_but_another_reference_may_serve(monkeypatch):
    blind_to(monkeypatch, "\u200b")
    for pair in [("\u200b", STORY), (STORY, "\u200b")]:
        scores = METRIC.score([make_story(*pair)])
        assert {score.status for score in scores} == {Status.UNDEFINED}
    assert values_of(METRIC, STORY, "\u200b", NEAR) == values_of(METRIC, STORY, NEAR)


def test_a_text_over_the_limit_is_too_long(monkeypatch):
    monkeypatch.setattr(baryscore, "_MOST_TOKENS", 6)
    scores = METRIC.score([make_story("Rain.", STORY)])
    assert {score.status for score in scores} == {Status.TOO_LONG}
    assert scores[0].note == "a text has 12 tokens: over the limit of 6"


def test_compat_cuts_texts_at_the_window_and_says_so():
    compat = Baryscore(model="fake(window=16)", compat=True)
    head, tail = "b c d e f g h i j k l m n o", " p q r u v w x y z"
    score = compat.score([make_story(head + tail, head + " 1 2 3")])[0]
    assert score.value == pytest.approx(0, abs=1e-9)
    assert score.coverage == pytest.approx(len(head) / len(head + tail))


def test_what_does_not_converge_is_undefined_and_not_wrong(monkeypatch):
    monkeypatch.setattr(_sinkhorn, "_MOST_STEPS", 0)
    monkeypatch.setattr(_sinkhorn, "_MOST_SWEEPS", 1)
    scores = METRIC.score([make_story(STORY, NEAR)])
    assert {score.status for score in scores} == {Status.UNDEFINED}
    assert scores[0].note == "no convergence at r = 10"


def test_states_that_point_the_same_way_everywhere_cost_nothing(monkeypatch):
    metric = placed(monkeypatch, {"pine": [WEST, WEST], "rock": [WEST, WEST]})
    assert values_of(metric, "pine pine rock", "rock") == pytest.approx([0] * 8, abs=1e-12)
