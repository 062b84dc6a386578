"""Tournaments: strengths by evalica and by hand, and the pairs that say most."""

from __future__ import annotations

import evalica
import numpy as np
import pytest
import scipy.optimize

from fabula.meta.ranking.tournament import (
    Game,
    choose_pairs,
    count_wins,
    estimate_first_share,
    fit_strengths,
    list_all_pairs,
)

GAMES = [Game(0, 1, 1), Game(1, 0, 1), Game(0, 2, 1), Game(2, 0, 0), Game(1, 2, 1), Game(2, 1, 1),
         Game(0, 1, 1)]  # fmt: skip


def test_a_tie_is_half_a_win_for_both() -> None:
    wins = count_wins(3, GAMES)
    assert wins.tolist() == [[0, 2, 1.5], [1, 0, 1], [0.5, 1, 0]]


def test_without_a_prior_strengths_are_evalicas_on_the_same_pairs() -> None:
    winners = {1: evalica.Winner.X, 0: evalica.Winner.Draw, -1: evalica.Winner.Y}
    fitted = evalica.bradley_terry(  # evalica 0.4.2
        [game.first for game in GAMES], [game.second for game in GAMES],
        [winners[game.outcome] for game in GAMES], tolerance=1e-12, limit=100_000,
    )  # fmt: skip
    logs = np.log(fitted.scores.reindex(range(3)).to_numpy())
    ours = fit_strengths(count_wins(3, GAMES), prior=0)
    assert ours == pytest.approx(logs - logs.mean(), abs=1e-6)


def test_with_a_prior_strengths_are_those_of_the_penalised_likelihood() -> None:
    wins = count_wins(3, [Game(0, 1, 1), Game(1, 0, -1), Game(1, 2, 1)])

    def loss(s: np.ndarray) -> float:
        games = sum(wins[a, b] * np.logaddexp(0, s[b] - s[a]) for a in range(3) for b in range(3))
        anchor = 0.5 * (np.logaddexp(0, s) + np.logaddexp(0, -s)).sum()
        return float(games + anchor)

    best = scipy.optimize.minimize(loss, np.zeros(3), method="BFGS", tol=1e-12)  # scipy 1.17.1
    # The first has won all games, and has a strength all the same.
    assert fit_strengths(wins) == pytest.approx(best.x, abs=1e-4)
    assert np.isnan(fit_strengths(wins, prior=0)).all()


def test_everybody_plays_once_a_round_and_nobody_the_same_twice() -> None:
    games: list[Game] = []
    met = set()
    for number in range(4):
        pairs = choose_pairs(count_wins(6, games), seed=number)
        assert len({side for pair in pairs for side in pair}) == 2 * len(pairs)
        assert not met & {*pairs}
        met |= {*pairs}
        games += [Game(first, second, 1) for first, second in pairs]
    assert len(met) >= 10


def test_the_next_pair_is_the_one_that_nobody_can_foretell() -> None:
    # 0 and 1 beat 2 and 3 in every game: who of the two is better is what is left to learn.
    wins = np.zeros((4, 4))
    wins[:2, 2:] = 6.0
    assert {frozenset(pair) for pair in choose_pairs(wins)} == {
        frozenset({0, 1}),
        frozenset({2, 3}),
    }


def test_a_tournament_finds_the_order_of_true_strengths_with_few_games() -> None:
    rng, truth, games = np.random.default_rng(0), np.linspace(-3, 3, 12), list[Game]()
    for number in range(6):
        for a, b in choose_pairs(count_wins(12, games), seed=number):
            for first, second in ((a, b), (b, a)):
                won = rng.random() < 1 / (1 + np.exp(truth[second] - truth[first]))
                games.append(Game(first, second, 1 if won else -1))
    assert len(games) < 2 * len(list_all_pairs(12)) * 0.6
    strengths = fit_strengths(count_wins(12, games))
    assert np.corrcoef(strengths, truth)[0, 1] > 0.85


def test_the_first_ones_share_has_wilsons_interval() -> None:
    always = estimate_first_share(20, 20)
    assert (always.value, always.high) == (1.0, 1.0)
    assert always.low == pytest.approx(20 / (20 + 1.959964**2), abs=1e-6)  # Wilson (1927), by hand
    fair = estimate_first_share(11, 20)
    assert fair.low < 0.5 < fair.high
    assert np.isnan(estimate_first_share(0, 0).value)
