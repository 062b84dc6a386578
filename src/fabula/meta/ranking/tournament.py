"""A tournament: which two to compare next, and how strong everybody is by the games so far.

Strengths are Bradley and Terry's (1952) with a weak prior: everybody has `PRIOR` wins and as many
losses against an anchor of strength 0, so that one who has won all games has a strength, too. The
next pairs are those whose outcome is expected to say most about all strengths together (D-optimal
design; Pfeiffer, Gao, Chen, Mao and Rand, 2012, Adaptive Polling for Information Aggregation).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.distributions import wilson_interval
from fabula.meta.ranking.preferences import fit_bradley_terry
from fabula.meta.resampling import Estimate

# Wins, and losses, of everybody against the anchor.
PRIOR = 0.5


@dataclass(frozen=True)
class Game:
    """Two who were compared, by number: 1 where the first was better, -1 the second, 0 a tie."""

    first: int
    second: int
    outcome: int


def count_wins(count: int, games: Iterable[Game]) -> Values:
    """Count how often the row won against the column; a tie is half a win.  (count, count)"""
    wins = np.zeros((count, count))
    for game in games:
        wins[game.first, game.second] += (1 + game.outcome) / 2
        wins[game.second, game.first] += (1 - game.outcome) / 2
    return wins


def fit_strengths(wins: Values, prior: float = PRIOR) -> Values:
    """Give log-strengths beside an anchor at 0: one of strength s beats it by 1 / (1 + exp(-s)).

    With `prior` 0 they are those of maximal likelihood, with mean 0, and NaN where there are none.
    """
    count = len(wins)
    if not prior:
        return fit_bradley_terry(wins)
    anchored = np.full((count + 1, count + 1), prior)
    anchored[:count, :count] = wins
    anchored[count, count] = 0.0
    strengths = fit_bradley_terry(anchored)
    beside: Values = strengths[:count] - strengths[count]
    return beside


def spread_strengths(wins: Values, strengths: Values, prior: float = PRIOR) -> Values:
    """Covariance of the strengths, by the curvature of the likelihood and the prior.  (n, n)"""
    chance = _win_chance(strengths)
    weight = (wins + wins.T) * chance * (1 - chance)
    own = 1 / (1 + np.exp(-strengths))
    curvature = np.diag(weight.sum(1) + 2 * prior * own * (1 - own)) - weight
    return np.asarray(np.linalg.inv(curvature), dtype=np.float64)


def choose_pairs(wins: Values, prior: float = PRIOR, seed: int = 0) -> list[tuple[int, int]]:
    """Choose the pairs of the next round: everybody at most once, none that met before.

    The gain of a pair is the growth of the information's log-determinant, log(1 + p (1 - p) v) with
    v the variance of the difference of strengths; the largest is taken, then the next of those who
    are left. Where gains are alike, chance decides.
    """
    count = len(wins)
    strengths = fit_strengths(wins, prior)
    covariance = spread_strengths(wins, strengths, prior)
    chance, own = _win_chance(strengths), np.diag(covariance)
    gains = np.log1p(chance * (1 - chance) * (own[:, None] + own[None, :] - 2 * covariance))
    first, second = np.triu_indices(count, 1)
    new = (wins + wins.T)[first, second] == 0
    first, second = first[new], second[new]
    shuffled = np.random.default_rng(seed).permutation(len(first))
    ranked = shuffled[np.argsort(-gains[first, second][shuffled].round(9), kind="stable")]
    free, pairs = set(range(count)), []
    for place in ranked:
        pair = int(first[place]), int(second[place])
        if {*pair} <= free:
            free -= {*pair}
            pairs.append(pair)
    return pairs


def list_all_pairs(count: int) -> list[tuple[int, int]]:
    """Give all pairs of so many."""
    first, second = np.triu_indices(count, 1)
    return list(zip(first.tolist(), second.tolist(), strict=True))


def estimate_first_share(chosen_first: int, decided: int) -> Estimate:
    """Estimate how often the first of two is chosen, with Wilson's (1927) interval of 95 %.

    A judge without a bias, which sees every pair in both orders, chooses it half the time.
    """
    if not decided:
        return Estimate()
    low, high = wilson_interval(chosen_first, decided)
    return Estimate(chosen_first / decided, low, high, decided)


def _win_chance(strengths: Values) -> Values:
    chance: Values = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return chance
