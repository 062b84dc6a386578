from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.core.errors import SettingError
from fabula.meta.coefficients import correlate
from fabula.meta.raters.ceiling import noise_ceiling, single_reliability
from fabula.meta.raters.icc import one_way, spearman_brown


def pooled(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return correlate(x.reshape(len(x), -1), y.reshape(len(y), -1))


def by_item(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.nanmean(correlate(x, y), axis=-1)


def by_system(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return correlate(np.nanmean(x, axis=1), np.nanmean(y, axis=1))


def simulated(raters: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """True scores of items × systems, and ratings with noise."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(150, 12)) + 0.3 * rng.normal(size=12)
    return true, true + 1.5 * rng.normal(size=(raters, 150, 12))


@pytest.mark.parametrize("raters", [2, 3, 4, 5])
@pytest.mark.parametrize("level", [pooled, by_item, by_system])
def test_the_ceiling_is_what_the_true_scores_reach(raters: int, level) -> None:
    gaps = []
    for seed in range(5):
        true, ratings = simulated(raters, seed)
        found = noise_ceiling(ratings, level, splits=40, seed=seed)
        gaps.append(found.ceiling - level(true[None], ratings.mean(axis=0)[None])[0])
    assert abs(np.mean(gaps)) < 0.02


@pytest.mark.parametrize("raters", [2, 3, 6])
def test_pooled_reliability_is_the_icc_of_the_mean(raters: int) -> None:
    _, ratings = simulated(raters, 9)
    found = noise_ceiling(ratings, pooled, splits=60)
    expected = one_way(ratings.reshape(raters, -1).T)[1].value
    assert found.reliability == pytest.approx(expected, abs=0.02)
    assert found.ceiling == pytest.approx(math.sqrt(found.reliability))


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 2), (2, 2), (2, 3), (1.3, 1.7)])
@pytest.mark.parametrize("single", [0.05, 0.4, 0.9, -0.1])
def test_the_correlation_of_halves_gives_back_the_single_rating(
    a: float, b: float, single: float
) -> None:
    r = single * math.sqrt(a * b / ((1 + (a - 1) * single) * (1 + (b - 1) * single)))
    assert single_reliability(r, a, b) == pytest.approx(single)


def test_equal_halves_are_stepped_up_by_spearman_and_brown() -> None:
    assert spearman_brown(single_reliability(0.6, 2, 2), 4) == pytest.approx(2 * 0.6 / 1.6)


def test_ratings_may_be_missing() -> None:
    true, ratings = simulated(4, 1)
    ratings[3, ::2] = np.nan
    ratings[:3, 0, 0] = np.nan
    found = noise_ceiling(ratings, pooled, splits=60)
    gold = np.nanmean(ratings[:, 1:], axis=0)
    assert found.ceiling == pytest.approx(pooled(true[1:][None], gold[None])[0], abs=0.03)


def test_one_rater_has_no_ceiling() -> None:
    found = noise_ceiling(np.random.default_rng(0).normal(size=(1, 9, 3)), pooled)
    assert all(map(math.isnan, (found.reliability, found.ceiling)))


def test_raters_who_contradict_each_other_have_no_ceiling() -> None:
    first = np.random.default_rng(0).normal(size=(1, 30, 3))
    found = noise_ceiling(np.concatenate([first, -first]), pooled, splits=10)
    assert math.isnan(found.ceiling) and found.reliability < 0


def test_raters_who_are_one_mind_have_a_ceiling_of_one() -> None:
    same = np.repeat(np.random.default_rng(0).normal(size=(1, 30, 3)), 3, axis=0)
    found = noise_ceiling(same, pooled, splits=10)
    assert (found.reliability, found.ceiling) == pytest.approx((1, 1))


def test_the_seed_decides() -> None:
    _, ratings = simulated(3, 2)
    once, again, other = (noise_ceiling(ratings, pooled, splits=5, seed=s) for s in (1, 1, 2))
    assert once == again != other


def test_no_splits_will_not_do() -> None:
    with pytest.raises(SettingError, match="splits=0"):
        noise_ceiling(np.ones((2, 3, 3)), pooled, splits=0)


def strict(raters: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The same people rate all stories, each as strictly as it is their way."""
    true, ratings = simulated(raters, seed)
    ways = 1.5 * np.random.default_rng(seed + 100).normal(size=(raters, 1, 1))
    return true, ratings + ways


def gaps_of(make, level, **how) -> float:
    """How far ceilings lie above what the true scores reach, on average over data sets."""
    found = []
    for seed in range(5):
        true, ratings = make(seed)
        gold = np.nansum(ratings, axis=0) / (~np.isnan(ratings)).sum(axis=0)
        ceiling = noise_ceiling(ratings, level, splits=30, **how).ceiling
        found.append(ceiling - level(true[None], gold[None])[0])
    return float(np.mean(found))


@pytest.mark.parametrize("raters", [4, 5, 6])
@pytest.mark.parametrize("level", [pooled, by_item])
def test_by_rater_whoever_is_strict_with_all_does_no_harm(raters: int, level) -> None:
    def make(seed: int) -> tuple[np.ndarray, np.ndarray]:
        return strict(raters, seed)

    assert abs(gaps_of(make, level, by_rater=True)) < 0.02
    assert gaps_of(make, level) < -0.06


def test_by_rater_stories_may_have_unlike_numbers_of_ratings() -> None:
    def make(seed: int) -> tuple[np.ndarray, np.ndarray]:
        true, ratings = simulated(5, seed)
        rng = np.random.default_rng(seed)
        lazy = np.linspace(0, 0.6, 5)[:, None, None]
        return true, np.where(rng.random(ratings.shape) < lazy, np.nan, ratings)

    for level in (pooled, by_item, by_system):
        assert abs(gaps_of(make, level, by_rater=True)) < 0.03


def few_each(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Eighty people, three of whom rate all stories of an item: five or six items each."""
    rng = np.random.default_rng(seed)
    true = rng.normal(size=(150, 10))
    ways, ratings = rng.normal(size=80), np.full((80, 150, 10), np.nan)
    for item in range(150):
        who = rng.choice(80, 3, replace=False)
        ratings[who, item] = true[item] + ways[who, None] + 1.2 * rng.normal(size=(3, 10))
    return true, ratings


def test_by_rater_people_who_rate_few_stories_each_are_whole_people_too() -> None:
    assert abs(gaps_of(few_each, by_item, by_rater=True)) < 0.03
    assert gaps_of(few_each, by_item) < -0.08
    # Over all stories the three people of an item are noise, however they are split.
    for by_rater in (True, False):
        assert abs(gaps_of(few_each, pooled, by_rater=by_rater)) < 0.03


def test_by_rater_the_order_of_raters_does_not_matter_but_for_chance() -> None:
    _, ratings = strict(6, 3)
    one, other = (
        noise_ceiling(r, pooled, by_rater=True, splits=80) for r in (ratings, ratings[::-1])
    )
    assert one.ceiling == pytest.approx(other.ceiling, abs=0.01)


def test_by_rater_two_people_can_be_split_in_one_way() -> None:
    _, ratings = strict(2, 4)
    r = np.corrcoef(ratings.reshape(2, -1))[0, 1]
    found = noise_ceiling(ratings, pooled, by_rater=True, splits=7)
    assert found.reliability == pytest.approx(2 * r / (1 + r))


def test_by_rater_people_who_never_met_have_no_ceiling() -> None:
    ratings = np.random.default_rng(0).normal(size=(2, 9, 3))
    ratings[0, ::2] = ratings[1, 1::2] = np.nan
    assert math.isnan(noise_ceiling(ratings, pooled, by_rater=True).ceiling)
