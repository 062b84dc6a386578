"""What surface features are worth: the same as scikit-learn finds."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fabula.learned.reader.config import standardise_features
from fabula.learned.training.examples import fold_of_items
from fabula.learned.training.surface import (
    CLIP,
    fit_ranking,
    fit_surface,
    surface_parts,
    surface_values,
)
from fabula.text.features import FEATURE_NAMES
from fakes.tiny_tasks import pair_examples, rating_examples


def scaled(one):
    means, deviations = one.features.mean(0, dtype=float), one.features.std(0, dtype=float)
    return standardise_features(one.features, means, np.maximum(deviations, 1e-9), CLIP)


def test_ratings_are_fitted_as_by_ridge():
    linear = pytest.importorskip("sklearn.linear_model")
    one = rating_examples()
    y = one.targets[:, 1].astype(float)
    wanted = linear.Ridge(alpha=10, fit_intercept=False).fit(scaled(one), (y - y.mean()) / y.std())
    np.testing.assert_allclose(fit_surface([(one, 1)])[2], wanted.coef_, atol=1e-6)


def test_preferences_are_fitted_as_by_logistic_regression():
    linear = pytest.importorskip("sklearn.linear_model")
    one = pair_examples()
    first, second = one.members.T
    gaps = scaled(one)[first] - scaled(one)[second]
    # Both ways round, as it wants two classes: every pair counts twice, so C is 1 / (2 · 10).
    found = linear.LogisticRegression(C=1 / 20, fit_intercept=False, tol=1e-10, max_iter=1000)
    found.fit(np.concatenate([gaps, -gaps]), [1] * len(gaps) + [0] * len(gaps))
    np.testing.assert_allclose(fit_surface([(one, None)])[2], found.coef_[0], atol=1e-6)


def test_a_ridge_may_be_said_for_every_feature():
    rng = np.random.default_rng(0)
    gaps = rng.normal(size=(50, 3)) + np.array([1.0, 1.0, 0.0])
    even, uneven = fit_ranking(gaps, 5.0), fit_ranking(gaps, np.array([5.0, 1e6, 5.0]))
    np.testing.assert_allclose(fit_ranking(gaps, np.full(3, 5.0)), even)
    assert abs(uneven[1]) < 1e-4 < even[1]


def test_features_that_are_not_looked_at_have_no_weight():
    one = rating_examples()
    weights = fit_surface([(one, 0)], ["log_words", "commas"])[2]
    names = [name for name, weight in zip(FEATURE_NAMES, weights, strict=True) if weight == 0]
    assert {"log_words", "commas"} <= set(names)
    assert "word_length" not in names


def test_ratings_that_nobody_gave_are_left_out():
    one = rating_examples()
    targets = one.targets.copy()
    targets[:5, 0] = np.nan
    some = replace(one, targets=targets)
    found = fit_surface([(some, 0)])[2]
    np.testing.assert_allclose(found, fit_surface([(one, 0)], rows=[np.arange(5, 30)])[2])


def test_features_far_out_are_clipped():
    rows = np.array([[100.0], [-100.0], [1.0]]).repeat(len(FEATURE_NAMES), axis=1)
    rows[:, 0] = 5.0
    means = np.zeros(len(FEATURE_NAMES))
    means[0] = 5.0
    found = standardise_features(rows, means, np.ones(len(FEATURE_NAMES)), CLIP)
    assert found[:, 1:].tolist() == [[one] * (len(FEATURE_NAMES) - 1) for one in (3.0, -3.0, 1.0)]


def test_in_a_few_words_all_but_their_number_is_faint():
    # Three deviations below the mean: e³ − 1 = 19.09 words.
    means, deviations = np.zeros(len(FEATURE_NAMES)), np.ones(len(FEATURE_NAMES))
    means[0], deviations[0] = 6.0, 1.0
    rows = np.ones((2, len(FEATURE_NAMES)))
    rows[:, 0] = math.log1p(6), math.log1p(20)
    few, enough = standardise_features(rows, means, deviations, CLIP)
    share = 6 / math.expm1(3)
    assert few[0] == -3.0 and few[1] == 1.0
    np.testing.assert_allclose(few[2:], share)
    np.testing.assert_allclose(enough[1:], 1.0)


def test_the_surface_of_a_text_is_told_without_its_fold():
    one = rating_examples()
    parts = fold_of_items(one.items, 3, 1)
    folds = np.array([[parts[item] for item in one.items]])
    found = surface_parts(one, folds, opinions=[(one, 0)], folds=[folds], own=[True])
    for fold in range(3):
        fitted = fit_surface([(one, 0)], rows=[np.flatnonzero(folds[0] != fold)])
        there = folds[0] == fold
        np.testing.assert_allclose(found[0, there], surface_values(one.features[there], fitted))
    # Opinions on other data sets count in full.
    whole = surface_parts(one, folds, opinions=[(one, 0)], folds=[folds], own=[False])
    wanted = surface_values(one.features, fit_surface([(one, 0)]))
    np.testing.assert_allclose(whole[0], wanted)


def test_a_text_of_no_fold_has_no_value():
    one = rating_examples()
    folds = np.zeros((1, 30), dtype=int)
    folds[0, 3] = -1
    found = surface_parts(one, folds, opinions=[(one, 0)], folds=[folds], own=[False])
    assert np.flatnonzero(np.isnan(found[0])).tolist() == [3]
