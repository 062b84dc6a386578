from __future__ import annotations

import numpy as np
import pytest

from fabula.meta.raters.weighting import quotient, spreads_of, story_weights, value_of
from fabula.meta.resampling import bootstrap_interval

VALUES = np.random.default_rng(5).normal(3, 1, 40)


def mean(weights: np.ndarray) -> np.ndarray:
    return weights @ VALUES / weights.sum(axis=1)


def test_every_resample_draws_as_many_stories_as_there_are() -> None:
    [weights] = story_weights(7, resamples=50, seed=1)
    assert weights.shape == (50, 7) and (weights.sum(axis=1) == 7).all()


def test_weights_give_the_interval_that_drawing_gives() -> None:
    found = spreads_of({"mean": mean}, 40, resamples=4000, seed=2)["mean"]
    drawn = bootstrap_interval(VALUES, resamples=4000, seed=3)
    assert (found.low, found.high) == pytest.approx(drawn, abs=0.03)
    assert value_of(mean, 40) == pytest.approx(VALUES.mean())


def test_undefined_resamples_are_counted_and_left_out() -> None:
    def sometimes(weights: np.ndarray) -> np.ndarray:
        return np.where(weights[:, 0] > 0, 1.0, np.nan)

    found = spreads_of({"it": sometimes}, 5, resamples=400, seed=0)["it"]
    assert (found.low, found.high) == (1, 1)
    # A story is not drawn with probability (4/5)^5 = 0.33.
    assert 100 < found.undefined < 165


def test_dividing_by_nothing_is_undefined() -> None:
    assert np.isnan(quotient(np.array([1.0]), np.array([0.0]))).all()
