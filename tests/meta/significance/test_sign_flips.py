from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from fabula.meta.significance import sign_flips
from fabula.meta.significance.sign_flips import exact_p, least_p, sign_flip_p, swap_ps

# Darwin's maize, crossed less self-fertilised, in eighths of an inch (Fisher, 1935, chapter III).
DARWIN = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)


def brute_p(differences: np.ndarray) -> float:
    """The definition: all signs, one by one."""
    observed = abs(sum(differences))
    sums = [
        abs(sum(sign * one for sign, one in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    return sum(total >= observed - 1e-9 for total in sums) / len(sums)


@pytest.mark.parametrize("count", [1, 2, 5, 9, 12])
@pytest.mark.parametrize("digits", [0, 6])
def test_few_items_have_the_p_of_brute_force(count: int, digits: int) -> None:
    differences = np.random.default_rng(count).normal(0.4, 1, count).round(digits)
    assert sign_flip_p(differences) == brute_p(differences)


def test_darwins_maize_has_fishers_p() -> None:
    # Fisher (1935), section 21: of 32,768 signs 1,726 give a sum as far from 0 as 314.
    assert exact_p(DARWIN) == 1726 / 32768


def test_many_items_have_the_p_of_all_signs_but_for_chance() -> None:
    found = sign_flip_p(DARWIN, resamples=200_000, seed=1)
    spread = (exact_p(DARWIN) * (1 - exact_p(DARWIN)) / 200_000) ** 0.5
    assert abs(found - exact_p(DARWIN)) < 4 * spread


def test_student_s_sleep_has_the_p_of_nine_heads_or_nine_tails() -> None:
    # Student (1908): ten patients, nine sleep longer with the second drug, one the same.
    sleep = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    assert sign_flip_p(sleep) == 2 / 2**9


def test_scipy_agrees() -> None:
    stats = pytest.importorskip("scipy.stats")
    found = stats.permutation_test(
        (DARWIN[:12],), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_p(DARWIN[:12]) == pytest.approx(found.pvalue, abs=1e-12)


@pytest.mark.parametrize("count", [0, 3, 500])
def test_no_difference_anywhere_has_p_1(count: int) -> None:
    assert sign_flip_p(np.zeros(count)) == 1.0


def test_p_is_never_0_and_says_how_small_it_could_be() -> None:
    ones = np.ones(40)
    assert sign_flip_p(ones, resamples=99) == 1 / 100 == least_p(ones, resamples=99)
    assert sign_flip_p(ones[:5]) == 2 / 32 == least_p(ones[:5])
    assert least_p(np.zeros(5)) == 1.0


@pytest.mark.parametrize("count", [8, 30])
def test_the_other_way_round_keeps_p(count: int) -> None:
    differences = np.random.default_rng(2).normal(0.2, 1, count)
    assert sign_flip_p(differences) == sign_flip_p(-differences)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e200])
def test_the_unit_does_not_matter(scale: float) -> None:
    assert exact_p(DARWIN * scale) == exact_p(DARWIN)


def test_chunks_and_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sign_flip_p(DARWIN, seed=3)
    assert whole == sign_flip_p(DARWIN, seed=3)
    monkeypatch.setattr(sign_flips, "_CELLS", 15 * 128)
    assert sign_flip_p(DARWIN, seed=3) == pytest.approx(whole, abs=0.015)


@pytest.mark.parametrize("count", [10, 30])
def test_where_nothing_differs_few_p_are_small(count: int) -> None:
    rng = np.random.default_rng(count)
    # Skewed values of two equal systems: their differences are symmetric, as the test wants them.
    trials = rng.exponential(1, (1_500, count)) - rng.exponential(1, (1_500, count))
    p = np.array([sign_flip_p(one, resamples=399, seed=i) for i, one in enumerate(trials)])
    # 4 standard errors of a share of 0.05 among 1,500.
    assert abs(np.mean(p <= 0.05) - 0.05) < 4 * (0.05 * 0.95 / 1_500) ** 0.5


def _trade(values: list[tuple[int, int, float]], groups: int) -> tuple[np.ndarray, np.ndarray]:
    sums, sizes = np.zeros((2, groups, 2, 1))
    for group, system, value in values:
        sums[group, system, 0] += value
        sizes[group, system, 0] += 1
    return sums, sizes


def test_groups_that_trade_places_have_the_p_of_brute_force() -> None:
    # Groups of one system each, of both, and of unlike sizes.
    values = [
        (0, 0, 5.0), (0, 0, 4.0), (1, 0, 3.0), (2, 1, 1.0), (2, 1, 2.0), (3, 1, 2.5),
        (4, 0, 4.5), (4, 1, 1.5), (4, 1, 0.5),
    ]  # fmt: skip

    def difference(swapped: tuple[int, ...]) -> float | None:
        sides: tuple[list[float], list[float]] = ([], [])
        for group, system, value in values:
            sides[system ^ swapped[group]].append(value)
        if not all(sides):
            return None
        return float(np.mean(sides[0]) - np.mean(sides[1]))

    drawn = [difference(swapped) for swapped in product((0, 1), repeat=5)]
    known = [abs(each) for each in drawn if each is not None]
    observed = abs(difference((0,) * 5) or 0.0)
    expected = sum(each >= observed - 1e-12 for each in known) / len(known)
    [p] = swap_ps(*_trade(values, 5))
    assert p == pytest.approx(expected)


def test_groups_that_all_have_both_systems_are_flipped_as_signs_are() -> None:
    rng = np.random.default_rng(4)
    pairs = rng.normal(size=(9, 2)) + np.array([0.8, 0.0])
    sums, sizes = pairs[:, :, None], np.ones((9, 2, 1))
    [p] = swap_ps(sums, sizes)
    assert p == pytest.approx(sign_flip_p(pairs[:, 0] - pairs[:, 1]))
    many = rng.normal(size=(200, 2, 3))
    sampled = swap_ps(many, np.ones((200, 2, 3)), resamples=4000)
    for column in range(3):
        alone = sign_flip_p(many[:, 0, column] - many[:, 1, column], resamples=4000, seed=1)
        assert sampled[column] == pytest.approx(alone, abs=0.04)


def test_a_system_without_a_value_has_no_p() -> None:
    sums, sizes = _trade([(0, 0, 1.0), (1, 0, 2.0)], 2)
    assert np.isnan(swap_ps(sums, sizes)).all()
    assert swap_ps(np.zeros((0, 2, 3)), np.zeros((0, 2, 3))).shape == (3,)


def test_very_many_items_flip_in_groups_and_the_test_keeps_its_level() -> None:
    # By the central limit theorem p is that of a normal deviate, within what 2,000 flips tell.
    rng = np.random.default_rng(2)
    for shift in (0.0, 0.004, 0.008):
        differences = rng.normal(shift, 1.0, size=60_000)
        deviate = abs(differences.sum()) / np.sqrt((differences**2).sum())
        expected = math.erfc(deviate / math.sqrt(2))
        found = sign_flip_p(differences, resamples=2000)
        assert found == pytest.approx(expected, abs=0.04)
