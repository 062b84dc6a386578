from __future__ import annotations

import math
import sys
from collections import Counter

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.metrics import _soft_grams
from fabula.metrics.s3 import S3
from fabula.metrics.s3_regression import features as s3_module
from fabula.metrics.s3_regression.features import FEATURES, content_counts, divergence, s3_features
from fabula.metrics.s3_regression.regressor import OURS, load_regressor, pair_digest
from fabula.models import load_model
from fakes.factories import make_story, usual_text, value_of

pytest.importorskip("snowballstemmer")
METRIC = S3("fake()")
TEXT = "The sailors were sailing home."
REFERENCE = "A sailor sailed to the old home."


def features(text, reference, threshold=0.9):
    lexis = _soft_grams.Lexis.of([text, reference], load_model("fake()"))
    found = s3_features(text, reference, lexis=lexis, threshold=threshold)
    return dict(zip(FEATURES, found, strict=True))


def test_features_stand_in_the_order_of_their_names():
    assert sorted(FEATURES) == list(FEATURES)


def test_recall_is_of_stems():
    # Stems: the sailor were sail home; a sailor sail to the old home.
    found = features(TEXT, REFERENCE)
    assert found["ROUGE_1_R"] == pytest.approx(4 / 7)
    assert found["ROUGE_2_R"] == 0.0
    # "sailors" is no "sailor" without stems and with a threshold that only its like reaches.
    assert features(TEXT, REFERENCE, threshold=1.0)["ROUGE_1_R_WE"] == pytest.approx(2 / 7)
    assert features("sailors", "sailor man", threshold=0.5)["ROUGE_1_R_WE"] == pytest.approx(1 / 2)


def test_the_divergence_is_of_content_stems():
    # {sailor, sail, home} and {sailor, sail, old, home}: thirds against quarters.
    third, quarter = 1 / 3, 1 / 4
    mean = (third + quarter) / 2
    left = 3 * third * math.log(third / mean)
    right = 3 * quarter * math.log(quarter / mean) + quarter * math.log(2)
    assert features(TEXT, REFERENCE)["JS_eval_1"] == pytest.approx((left + right) / 2)


def test_pairs_with_one_content_word_are_kept():
    found = content_counts("The old sea and the sky", 2)
    # "and the" has none.
    expected = [("the", "old"), ("old", "sea"), ("sea", "and"), ("the", "sky")]
    assert found == Counter(expected)


def test_the_divergence_equals_scipy_s():
    distance = pytest.importorskip("scipy.spatial.distance")
    chance = np.random.default_rng(3)
    for _ in range(5):
        counts = chance.integers(0, 4, size=(2, 12))
        left, right = (
            Counter({(str(i),): int(n) for i, n in enumerate(row) if n}) for row in counts
        )
        expected = distance.jensenshannon(counts[0], counts[1]) ** 2
        assert divergence(left, right) == pytest.approx(expected)


def test_texts_without_a_content_word_diverge_from_all_but_each_other():
    some = Counter({("sea",): 1})
    assert divergence(Counter(), some) == divergence(some, Counter()) == math.log(2)
    assert divergence(Counter(), Counter()) == 0.0


@pytest.mark.parametrize(("name", "published"), [("pyramid", 1.3908), ("responsiveness", 1.8441)])
def test_a_text_beside_itself_has_nearly_what_hanna_publishes(name, published):
    text = usual_text(800, seed=2)
    assert list(features(text, text).values()) == [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    assert value_of(S3("fake()", regressor=name), text, text) == pytest.approx(published, abs=0.02)


@pytest.mark.parametrize("name", OURS)
def test_more_of_the_reference_gives_more(name):
    reference, other = usual_text(1_200, seed=5).split(), usual_text(1_200, seed=6).split()
    half = len(reference) // 2
    mixed = [" ".join([*reference[:n], *other[n:]]) for n in (0, half // 2, half, len(reference))]
    metric = S3("fake()", regressor=name)
    found = [value_of(metric, text, " ".join(reference)) for text in mixed]
    assert found == sorted(found)


def test_of_several_references_the_best_counts():
    text = usual_text(300, seed=1)
    best = value_of(METRIC, text, text)
    assert value_of(METRIC, text, "Zebras quarrel, mostly.", " ", text) == best


def test_a_text_without_enough_words_is_undefined():
    for text, reference, note in [
        ("...", "two words", "there is no word in the story"),
        ("two words", "one", "the reference has fewer than two words"),
    ]:
        [score] = METRIC.score([make_story(text, reference)])
        assert (score.status, score.note) == (Status.UNDEFINED, note)


def test_pairs_over_the_limit_are_too_long(monkeypatch):
    monkeypatch.setattr(_soft_grams, "MOST_PAIRS", 5)
    [score] = METRIC.score([make_story("one two three", "four five")])
    assert score.status is Status.TOO_LONG
    assert "limit of 5" in score.note


def test_other_word_vectors_than_the_regressor_s_are_noted():
    [score] = METRIC.score([make_story(TEXT, REFERENCE)])
    assert score.note == "the regressor was fitted with other word vectors"


def test_the_regressor_is_in_the_signature():
    assert f"|regressor:{load_regressor('pyramid').digest}|" in METRIC.signature()


@pytest.mark.parametrize("name", ["", "pyramids", "\0", "."])
def test_a_regressor_that_cannot_be_read_is_refused(name):
    with pytest.raises(SettingError, match=r"s3: regressor=.* cannot be read"):
        S3(regressor=name)


def test_without_a_stemmer_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    for cached in (s3_module._stemmer, s3_module.stems):
        cached.cache_clear()
    [score] = METRIC.score([make_story(TEXT, REFERENCE)])
    assert score.status is Status.MISSING_MODEL
    assert "pip install -e '.[nlp]'" in score.note


def test_our_regressors_hold_numbers_and_digests_alone():
    for name in OURS:
        found = load_regressor(name)
        assert len(found.support) <= 200
        assert found.target.startswith("HANNA S3-")
        assert len(found.fitted) == 483
        assert all(set(one) <= set("0123456789abcdef") for one in found.fitted)


def test_a_story_that_a_regressor_was_fitted_on_is_known_by_its_text_and_reference():
    assert not METRIC.fitted_on(make_story(TEXT, REFERENCE))
    assert pair_digest("a", "b") != pair_digest("ab", "")
    assert pair_digest("\ud800", "b") != pair_digest("", "b")
    assert not METRIC.fitted_on(Story("s", TEXT))
