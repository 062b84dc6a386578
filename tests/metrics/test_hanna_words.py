"""Word-vector metrics beside HANNA's columns, on prompts that no setting was chosen on."""

from __future__ import annotations

import numpy as np
import pytest

from fabula.datasets import load_dataset
from fabula.metrics.rouge_we import RougeWe
from fabula.metrics.s3 import S3
from fabula.metrics.s3_regression.regressor import OURS
from fakes.assets import need_asset

pytestmark = pytest.mark.assets


@pytest.fixture(scope="module")
def hanna(shared):
    need_asset("glove_50d")
    return load_dataset("hanna", shared / "data" / "hanna")


@pytest.fixture(scope="module")
def unseen(hanna):
    """Machine stories of prompts 48 to 95."""
    return [one for one in hanna.stories if one.system != "Human" and int(one.item) >= 48]


def agreement(hanna, stories, metric, column, aspect):
    published = {one.story: one.value for one in hanna.scores if one.scorer == column}
    found = [one for one in metric.score(stories) if one.aspect == aspect]
    pairs = np.array([(one.value, published[one.story]) for one in found])
    return np.corrcoef(pairs.T)[0, 1]


@pytest.mark.parametrize("column", RougeWe.card.published["hanna"])
def test_rouge_we_agrees_with_columns_of_other_vectors(hanna, unseen, column):
    _, aspect = RougeWe.card.published["hanna"][column]
    # Measured: recall .881, precision .856, f .776; the bar is .75.
    assert agreement(hanna, unseen, RougeWe(compat=True), column, aspect) >= 0.75


@pytest.mark.parametrize("name", OURS)
def test_our_regressors_of_s3_agree_with_the_originals(hanna, unseen, name):
    # Measured: .991 and .994.
    metric, column = S3(regressor=name), f"S3-{name.capitalize()}"
    assert agreement(hanna, unseen, metric, column, "") >= 0.99


def test_scores_of_stories_that_s3_was_fitted_on_say_so(hanna, unseen):
    metric = S3()
    fitted = [one for one in hanna.stories if metric.fitted_on(one)]
    assert {int(one.item) for one in fitted} == set(range(48))
    assert len(fitted) == 483
    assert not any(map(metric.fitted_on, unseen))
    [seen, new] = metric.score([fitted[5], unseen[5]])
    assert (seen.note, new.note) == ("the regressor was fitted on this story", "")
