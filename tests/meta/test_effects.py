from __future__ import annotations

import math

import numpy as np
import pytest

from fabula.meta.compare import cohen_dz, rank_biserial, win_rate
from fabula.meta.distributions import wilson_interval

# Student (1908), The probable error of a mean: hours of sleep gained, second drug less first.
SLEEP = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval_is_that_of_newcombes_table(
    successes: int, trials: int, low: float, high: float
) -> None:
    # Newcombe (1998), Statistics in Medicine 17, 857–872, table I, method 3.
    assert wilson_interval(successes, trials) == pytest.approx((low, high), abs=5e-5)


def test_wilsons_interval_at_another_level_is_scipy_s() -> None:
    stats = pytest.importorskip("scipy.stats")
    found = stats.binomtest(7, 19).proportion_ci(confidence_level=0.9, method="wilson")
    assert wilson_interval(7, 19, alpha=0.1) == pytest.approx((found.low, found.high), abs=1e-12)


def test_a_tie_is_half_a_win() -> None:
    wins = win_rate(np.array([1.0, -2.0, 0.0, 3.0]))
    assert wins.value == 2.5 / 4
    assert (wins.low, wins.high) == wilson_interval(2.5, 4)


def test_a_win_rate_turns_with_the_sides() -> None:
    differences = np.array([1.0, 2.0, 0.0, -1.0, 4.0])
    wins, losses = win_rate(differences), win_rate(-differences)
    assert wins.value == pytest.approx(1 - losses.value)
    assert (wins.low, wins.high) == pytest.approx((1 - losses.high, 1 - losses.low))


def test_no_items_have_no_win_rate() -> None:
    assert math.isnan(win_rate(np.array([])).value)


def test_the_standardised_effect_is_student_s_t_over_the_root_of_the_items() -> None:
    # t = 4.0621 on 9 degrees of freedom is what the books (and R's `sleep`) give.
    assert cohen_dz(SLEEP) == pytest.approx(4.0621 / 10**0.5, abs=5e-5)


@pytest.mark.parametrize("values", [[0.0, 0.0, 0.0], [0.1, 0.1, 0.1], [0.3 - 0.2, 0.1], [1.0]])
def test_where_nothing_spreads_the_effect_is_undefined_not_zero(values: list[float]) -> None:
    assert math.isnan(cohen_dz(np.array(values)))


def test_ranks_by_hand() -> None:
    # |d| 1, 2, 2, 5 have the ranks 1, 2.5, 2.5, 4: (1 + 2.5 + 4 − 2.5) / 10; 0 has none.
    assert rank_biserial(np.array([1.0, -2.0, 2.0, 0.0, 5.0])) == 0.5


def test_ranks_are_those_of_wilcoxons_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    differences = np.random.default_rng(6).normal(0.3, 1, 30).round(1)
    differences = differences[differences != 0]
    total = len(differences) * (len(differences) + 1) / 2
    found = stats.wilcoxon(differences, alternative="greater", method="asymptotic").statistic
    assert rank_biserial(differences) == pytest.approx(2 * found / total - 1)


def test_all_one_way_is_1_and_nothing_is_undefined() -> None:
    assert rank_biserial(SLEEP) == 1.0 == -rank_biserial(-SLEEP)
    assert math.isnan(rank_biserial(np.zeros(4)))
