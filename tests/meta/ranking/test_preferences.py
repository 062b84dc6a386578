from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from fabula.core.errors import PackageMissing
from fabula.meta.ranking.preferences import (
    Choices,
    average_win_rate,
    bradley_terry,
    choose_by_values,
    elo,
    is_connected,
    strength_intervals,
    win_rates,
)


def made_up(seed: int, items: int = 30, systems: int = 4) -> Choices:
    rng = np.random.default_rng(seed)
    values = np.round(rng.normal(size=(items, systems)) + np.arange(systems) / 3)
    return choose_by_values(values, tuple("abcdef"[:systems]), tuple(map(str, range(items))))


def games(*rows: tuple[int, int, int], systems: int = 3) -> Choices:
    left, right, outcome = np.array(rows).T
    item = np.arange(len(rows))
    return Choices(tuple("abc"[:systems]), tuple(map(str, item)), item, left, right, outcome)


def likeliest(wins: np.ndarray) -> np.ndarray:
    """Log-strengths of maximal likelihood, by scipy's BFGS on the likelihood itself."""

    def loss(x: np.ndarray) -> float:
        return float((wins * np.logaddexp(0, x[None, :] - x[:, None])).sum()) + x.mean() ** 2

    found = minimize(loss, np.zeros(len(wins)), method="BFGS", options={"gtol": 1e-9}).x
    return found - found.mean()


def test_win_rates_by_hand() -> None:
    found = games((0, 1, 1), (0, 1, 1), (1, 0, 1), (0, 1, 0), (0, 2, 1))
    # a beats b twice, loses once and ties once: 2.5 of 4; a beats c; b and c never meet.
    rates = win_rates(found)
    assert rates[0, 1] == 0.625 and rates[1, 0] == 0.375 and rates[0, 2] == 1
    assert np.isnan(rates[1, 2]) and np.isnan(rates[0, 0])
    assert average_win_rate(found).tolist() == [(0.625 + 1) / 2, 0.375, 0]


def test_two_systems_have_the_log_odds_between_them() -> None:
    found = bradley_terry(games((0, 1, 1), (0, 1, 1), (0, 1, 1), (0, 1, -1), systems=2))
    assert found == pytest.approx([np.log(3) / 2, -np.log(3) / 2], abs=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_bradley_terry_is_the_likeliest(seed: int) -> None:
    choices = made_up(seed)
    assert bradley_terry(choices) == pytest.approx(likeliest(choices.wins), abs=1e-5)


def test_strengths_that_do_not_exist_are_missing() -> None:
    always = games((0, 1, 1), (0, 2, 1), (1, 2, 1), (1, 2, -1))
    assert np.isnan(bradley_terry(always)).all()
    assert not is_connected(always.wins) and is_connected(made_up(0).wins)


def test_elo_by_hand() -> None:
    # 1: a beats b, both at 1000: +2, -2.
    # 2: b (998) and c (1000) tie: b expects 1 / (1 + 10 ** (2 / 400)) = 0.4971218.
    # 3: c beats a (1002).
    found = elo(games((0, 1, 1), (1, 2, 0), (2, 0, 1)))
    b_gain = 4 * (0.5 - 1 / (1 + 10 ** (2 / 400)))
    c = 1000 - b_gain
    c_gain = 4 * (1 - 1 / (1 + 10 ** ((1002 - c) / 400)))
    assert found == pytest.approx([1002 - c_gain, 998 + b_gain, c + c_gain], abs=1e-9)


def test_a_system_without_a_game_has_no_elo() -> None:
    assert np.isnan(elo(games((0, 1, 1)))[2])


def test_elo_over_many_orders_depends_on_the_seed_alone() -> None:
    choices = made_up(1)
    one, again, other = (elo(choices, orders=20, seed=seed) for seed in (1, 1, 2))
    assert one.tolist() == again.tolist() != other.tolist()
    assert one.sum() == pytest.approx(4000)


def test_intervals_hold_the_estimate_and_repeat() -> None:
    choices = made_up(2, items=60)
    low, high = strength_intervals(choices, bradley_terry, resamples=200)
    assert (low < bradley_terry(choices)).all() and (bradley_terry(choices) < high).all()
    assert low.tolist() == strength_intervals(choices, bradley_terry, resamples=200)[0].tolist()


def test_one_item_has_no_interval() -> None:
    low, high = strength_intervals(made_up(0, items=1), average_win_rate)
    assert np.isnan(low).all() and np.isnan(high).all()


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.permutations(range(4)), st.permutations(range(12)))
def test_order_only_names_the_systems_anew(seed: int, order: list[int], rows: list[int]) -> None:
    values = np.random.default_rng(seed).integers(0, 4, (12, 4)).astype(float)
    items = tuple(map(str, range(12)))
    one = choose_by_values(values, tuple("abcd"), items)
    other = choose_by_values(values[rows][:, order], tuple("abcd"), items)
    for strength in (average_win_rate, bradley_terry):
        expected = strength(one)[order]
        assert strength(other) == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_without_evalica_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "evalica", None)
    with pytest.raises(PackageMissing, match=r"evalica is not installed; run: pip install -e "):
        bradley_terry(made_up(0))
