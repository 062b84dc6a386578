from __future__ import annotations

import json
import os
import sys
from dataclasses import replace

import numpy as np
import pytest

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.core.story import Story
from fabula.metrics._soft_grams import Lexis
from fabula.metrics.s3 import S3
from fabula.metrics.s3_regression import regressor
from fabula.metrics.s3_regression.features import s3_features
from fabula.metrics.s3_regression.regressor import Regressor, fit, load_regressor
from fabula.models import load_model
from fakes.factories import usual_text

SMALL = Regressor(
    target="by hand",
    features=1,
    vectors="told",
    threshold=0.8,
    means=(0.0,) * 6,
    scales=(1.0, 1.0, 2.0, 1.0, 1.0, 1.0),
    support=((0.0,) * 6, (1.0,) + (0.0,) * 5),
    coefficients=(3.0, -2.0),
    gamma=0.5,
    intercept=0.25,
    fitted=(),
)


def made_stories(count=48):
    """Stories that share more or less with their references: four an item."""
    for number in range(count):
        reference = usual_text(400, seed=1000 + number // 4).split()
        own = usual_text(400, seed=number).split()
        kept = len(reference) * (number % 4) // 4
        text = " ".join([*reference[:kept], *own[kept:]])
        yield Story(str(number), text, references=(" ".join(reference),), item=str(number // 4))


STORIES = list(made_stories())
TARGETS = [0.2 + (number % 4) / 4 + number % 5 / 100 for number in range(len(STORIES))]


@pytest.fixture(scope="module")
def fitted():
    pytest.importorskip("sklearn")
    pytest.importorskip("snowballstemmer")
    return fit(STORIES, TARGETS, seed=0, target="made up", model="fake()")


def test_a_prediction_is_a_sum_of_bells():
    # At 0: 3 · 1 − 2 · e^(−1/2) + 1/4. At (1, 0, 2, 0, 0, 0), whose third is scaled to 1:
    # 3 · e^(−2/2) − 2 · e^(−1/2) + 1/4.
    bell = np.exp(-0.5)
    points = np.array([[0.0] * 6, [1.0, 0.0, 2.0, 0.0, 0.0, 0.0]])
    expected = [3 - 2 * bell + 0.25, 3 * bell**2 - 2 * bell + 0.25]
    np.testing.assert_allclose(SMALL.predict(points), expected)


def test_a_fitted_regressor_predicts_what_scikit_learn_s_machine_does(fitted, monkeypatch):
    kept = []

    def keep(*arguments):
        kept.append(best(*arguments))
        return kept[-1]

    best = regressor._choose_machine
    monkeypatch.setattr(regressor, "_choose_machine", keep)
    assert fit(STORIES, TARGETS, seed=0, target="made up", model="fake()") == fitted
    lexis = Lexis.of([t for s in STORIES for t in (s.text, *s.references)], load_model("fake()"))
    points = np.array(
        [s3_features(s.text, s.references[0], lexis=lexis, threshold=0.8) for s in STORIES]
    )
    # The file keeps nine digits.
    theirs = kept[0].predict((points - points.mean(axis=0)) / points.std(axis=0))
    np.testing.assert_allclose(fitted.predict(points), theirs, atol=1e-5)
    assert np.corrcoef(theirs, TARGETS)[0, 1] > 0.9


def test_stories_of_an_item_stay_together_and_the_seed_deals_them_out():
    items = [story.item for story in STORIES]
    folds = regressor._folds(items, 0)
    assert len(set(zip(items, folds.tolist(), strict=True))) == len(set(items))
    assert set(folds.tolist()) == set(range(6))
    assert folds.tolist() != regressor._folds(items, 1).tolist()


def test_what_is_saved_comes_back_and_is_a_regressor_of_s3(fitted, tmp_path):
    path = tmp_path / "own.json"
    fitted.save(path)
    assert load_regressor(str(path)) == fitted
    metric = S3("fake()", regressor=str(path))
    [score] = metric.score([STORIES[1]])
    assert score.ok
    assert score.note == "the regressor was fitted on this story"
    assert metric.fitted_on(STORIES[1])
    [other] = metric.score([replace(STORIES[1], text="Another text altogether.")])
    assert other.note == ""


def test_a_file_that_was_written_anew_is_read_anew(tmp_path):
    path = tmp_path / "own.json"
    SMALL.save(path)
    first = load_regressor(str(path)).digest
    replace(SMALL, intercept=7.0).save(path)
    os.utime(path, ns=(1, 1))
    assert load_regressor(str(path)).digest != first


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"features": 99}, "features of version 99"),
        ({"coefficients": [1.0]}, "do not go together"),
        ({"means": [0.0]}, "do not go together"),
        ({"support": [[1.0], [1.0, 2.0]]}, "do not go together"),
        ({"support": [["x"] * 6] * 2}, "no regressor"),
        ({"more": 1}, "no regressor"),
    ],
    ids=str,
)
def test_a_file_that_is_no_regressor_is_refused(tmp_path, change, problem):
    path = tmp_path / "own.json"
    SMALL.save(path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change), encoding="utf-8")
    with pytest.raises(SettingError, match=problem):
        load_regressor(str(path))


@pytest.mark.parametrize("text", ["", "[]", "3", "{", "{}"])
def test_a_file_that_is_no_object_is_refused(tmp_path, text):
    path = tmp_path / "own.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match="cannot be read"):
        load_regressor(str(path))


@pytest.mark.parametrize(
    ("stories", "targets", "problem"),
    [
        (STORIES, TARGETS[1:], "48 stories, 47 targets"),
        (STORIES, [float("nan"), *TARGETS[1:]], "story '0': the target is nan"),
        ([Story("x", "text"), *STORIES[1:]], TARGETS, "story 'x' has no text or reference"),
        (STORIES[:8], TARGETS[:8], "too few items"),
        (STORIES, [1.0] * 48, "all targets are the same"),
    ],
    ids=["lengths", "nan", "reference", "items", "constant"],
)
def test_what_cannot_be_fitted_is_refused(stories, targets, problem):
    with pytest.raises(InputError, match=problem):
        fit(stories, targets, seed=0, model="fake()")


def test_too_few_support_vectors_are_said_to_be(monkeypatch):
    pytest.importorskip("sklearn")
    with pytest.raises(InputError, match="at most 1 support vectors"):
        fit(STORIES, TARGETS, seed=0, model="fake()", most_vectors=1)


def test_without_scikit_learn_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    with pytest.raises(PackageMissing, match=r"pip install .*\[train\]"):
        fit(STORIES, TARGETS, seed=0, model="fake()")
