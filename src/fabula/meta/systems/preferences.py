"""Strengths of systems from choices between them: win rates, Bradley–Terry and Elo.

Bradley and Terry (1952); Elo (1978). The last two are computed by evalica (Ustalov, 2025).
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.core.protocols import Progress, track
from fabula.meta.arrays import Values
from fabula.meta.resampling import percentile_interval
from fabula.meta.systems.choices import Choices

# evalica stops where a step is this short, or after so many steps.
_TOLERANCE = 1e-10
_STEPS = 100_000


def win_rates(choices: Choices) -> Values:
    """Share of its choices against the column that the row wins: NaN where they never meet.

    A tie is half a win.  (systems, systems)
    """
    met = choices.wins + choices.wins.T
    with np.errstate(invalid="ignore"):
        rates: Values = choices.wins / met
    return rates


def average_win_rate(choices: Choices) -> Values:
    """Mean win rate of each system against those that it meets; NaN where it meets none."""
    rates = win_rates(choices)
    met = ~np.isnan(rates)
    with np.errstate(invalid="ignore"):
        means: Values = np.where(met, rates, 0.0).sum(1) / met.sum(1)
    return means


def bradley_terry(choices: Choices) -> Values:
    """Log-strengths of the systems, of maximal likelihood and with mean 0.

    One of strength a beats one of strength b with probability 1 / (1 + exp(b - a)). A tie is half
    a win. NaN for all where they do not exist: some systems never win against any of the others.
    """
    if not connected(choices.wins):
        return np.full(len(choices.systems), np.nan)
    evalica = _evalica()
    left, right = np.nonzero(choices.wins)
    found = evalica.bradley_terry(
        left.tolist(),
        right.tolist(),
        [evalica.Winner.X] * len(left),
        weights=choices.wins[left, right].tolist(),
        tolerance=_TOLERANCE,
        limit=_STEPS,
    )
    logs = np.log(found.scores.reindex(range(len(choices.systems))).to_numpy(np.float64))
    strengths: Values = logs - logs.mean()
    return strengths


def connected(wins: Values) -> bool:
    """Whether from every system a chain of wins leads to every other."""
    reach = (wins > 0) | np.eye(len(wins), dtype=bool)
    for middle in range(len(wins)):
        reach |= np.outer(reach[:, middle], reach[middle])
    return bool(reach.all())


def elo(
    choices: Choices,
    *,
    k: float = 4.0,
    initial: float = 1000.0,
    orders: int = 1,
    seed: int = 0,
) -> Values:
    """Elo ratings after all choices, in the order they stand in; NaN for a system without any.

    Ratings depend on that order. With more than one of `orders`, they are the means over so many
    orders drawn by chance.
    """
    if orders == 1:
        return _elo(choices, k, initial)
    rng = np.random.default_rng(seed)
    found = [_elo(choices.taken(rng.permutation(len(choices))), k, initial) for _ in range(orders)]
    means: Values = np.mean(found, axis=0)
    return means


def _elo(choices: Choices, k: float, initial: float) -> Values:
    evalica = _evalica()
    winners = {1: evalica.Winner.X, 0: evalica.Winner.Draw, -1: evalica.Winner.Y}
    found = evalica.elo(
        choices.left.tolist(),
        choices.right.tolist(),
        [winners[one] for one in choices.outcome.tolist()],
        initial=initial,
        k=k,
    )
    ratings: Values = found.scores.reindex(range(len(choices.systems))).to_numpy(np.float64)
    return ratings


def strength_intervals(
    choices: Choices,
    strength: Callable[[Choices], Values],
    *,
    resamples: int = 1000,
    seed: int = 0,
    alpha: float = 0.05,
    progress: Progress | None = None,
) -> tuple[Values, Values]:
    """Ends of percentile intervals of a strength, the items being drawn again.

    The choices of a draw stand in random order. Draws in which a strength does not exist are left
    out; NaN where more than half do not, or where there are fewer than two items.
    """
    count = len(choices.items)
    if count < 2:
        missing = np.full(len(choices.systems), np.nan)
        return missing, missing
    rng = np.random.default_rng(seed)
    found = np.empty((resamples, len(choices.systems)))
    for number in track(range(resamples), progress):
        drawn = choices.drawn(rng.integers(0, count, count))
        # Elo depends on the order: the fixed one of the systems within an item would bias it.
        found[number] = strength(drawn.taken(rng.permutation(len(drawn))))
    return percentile_interval(found, alpha)


def _evalica() -> ModuleType:
    try:
        import evalica
    except ImportError:
        raise PackageMissing("evalica", "meta") from None
    found: ModuleType = evalica
    return found
