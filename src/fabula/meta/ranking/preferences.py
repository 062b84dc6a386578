"""Choices between systems, from ratings or preferences, and the strengths that follow from them.

Win rates; Bradley and Terry (1952); Elo (1978). The last two are computed by evalica (Ustalov,
2025).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType

import numpy as np

from fabula.core.dataset import Preference
from fabula.core.errors import InputError, PackageMissing
from fabula.core.protocols import Progress, track
from fabula.core.story import Story
from fabula.meta.arrays import Places, Values, round_digits
from fabula.meta.resampling import draw_units, percentile_interval

# evalica stops where a step is this short, or after so many steps.
_TOLERANCE = 1e-10
_STEPS = 100_000


@dataclass(frozen=True)
class Choices:
    """Choices between two systems, one by one: who stood on either side, on which item, who won.

    `outcome` is 1 where the left one is better, -1 where the right one is, 0 for a tie.
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    item: Places  # (choices,)
    left: Places
    right: Places
    outcome: Places

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def _rows_of_items(self) -> list[Places]:
        order = np.argsort(self.item, kind="stable")
        return np.split(order, np.searchsorted(self.item[order], np.arange(1, len(self.items))))

    def draw_items(self, items: Places) -> Choices:
        """Give the choices on some items, in their order; an item drawn twice counts twice."""
        rows = np.concatenate([self._rows_of_items[item] for item in items])
        return self.take(rows)

    def take(self, rows: Places) -> Choices:
        """Give some of the choices, in the order asked for."""
        parts = (self.item[rows], self.left[rows], self.right[rows], self.outcome[rows])
        return Choices(self.systems, self.items, *parts)

    @cached_property
    def wins(self) -> Values:
        """How often the row is chosen over the column; a tie is half a win.  (systems, systems)"""
        share = (self.outcome + 1) / 2
        table = np.zeros((len(self.systems),) * 2)
        np.add.at(table, (self.left, self.right), share)
        np.add.at(table, (self.right, self.left), 1 - share)
        return table

    def net_wins(self) -> Values:
        """Mean outcome of every two systems for the first, by item; NaN where there is none.

        The pairs are those of `numpy.triu_indices`.  (pairs, items)
        """
        count = len(self.systems)
        first, second = np.triu_indices(count, 1)
        number = np.zeros((count, count), dtype=np.int64)
        number[first, second] = number[second, first] = np.arange(len(first))
        sign = np.where(self.left < self.right, 1, -1)
        sums, met = np.zeros((len(first), len(self.items))), np.zeros((len(first), len(self.items)))
        places = number[self.left, self.right], self.item
        np.add.at(sums, places, sign * self.outcome)
        np.add.at(met, places, 1)
        with np.errstate(invalid="ignore"):
            net: Values = sums / met
        return net


def choose_by_values(values: Values, systems: tuple[str, ...], items: tuple[str, ...]) -> Choices:
    """Choose between every two systems on every item by their values: (items, systems)."""
    first, second = np.triu_indices(len(systems), 1)
    rounded = round_digits(values)
    gaps = rounded[:, first] - rounded[:, second]  # (items, pairs)
    item, pair = np.nonzero(~np.isnan(gaps))
    outcome = np.sign(gaps[item, pair]).astype(np.int64)
    return Choices(systems, items, item, first[pair], second[pair], outcome)


def choose_by_preferences(preferences: Iterable[Preference], stories: Iterable[Story]) -> Choices:
    """Read choices between stories as choices between their systems.

    Choices between two stories of one system say nothing of systems and are left out. Stories
    that are compared belong to the item of the better one, or to one of their own.
    """
    known = {story.id: story for story in stories}
    systems: dict[str, int] = {}
    items: dict[str, int] = {}
    rows: list[tuple[int, int, int, int]] = []
    for choice in preferences:
        better, worse = _find_story(choice.better, known), _find_story(choice.worse, known)
        if better.system == worse.system:
            continue
        left = systems.setdefault(better.system or "", len(systems))
        right = systems.setdefault(worse.system or "", len(systems))
        name = better.item if better.item is not None else f"{choice.better} {choice.worse}"
        outcome = 0 if choice.is_tie else 1
        rows.append((items.setdefault(name, len(items)), left, right, outcome))
    if not rows:
        raise InputError("there is no choice between two systems", "give every story its system")
    item, left_side, right_side, outcome = np.array(rows, dtype=np.int64).T
    return Choices(tuple(systems), tuple(items), item, left_side, right_side, outcome)


def _find_story(name: str, known: dict[str, Story]) -> Story:
    if name not in known:
        raise InputError(f"a preference is about {name!r}, which is not a story here")
    return known[name]


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
    return fit_bradley_terry(choices.wins)


def fit_bradley_terry(wins: Values) -> Values:
    """Give the log-strengths by how often the row wins against the column: (n, n) to (n,)."""
    if not is_connected(wins):
        return np.full(len(wins), np.nan)
    evalica = _evalica()
    left, right = np.nonzero(wins)
    fitted = evalica.bradley_terry(
        left.tolist(),
        right.tolist(),
        [evalica.Winner.X] * len(left),
        weights=wins[left, right].tolist(),
        tolerance=_TOLERANCE,
        limit=_STEPS,
    )
    logs = np.log(fitted.scores.reindex(range(len(wins))).to_numpy(np.float64))
    strengths: Values = logs - logs.mean()
    return strengths


def is_connected(wins: Values) -> bool:
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
    ratings = [_elo(choices.take(rng.permutation(len(choices))), k, initial) for _ in range(orders)]
    means: Values = np.mean(ratings, axis=0)
    return means


def _elo(choices: Choices, k: float, initial: float) -> Values:
    evalica = _evalica()
    winners = {1: evalica.Winner.X, 0: evalica.Winner.Draw, -1: evalica.Winner.Y}
    fitted = evalica.elo(
        choices.left.tolist(),
        choices.right.tolist(),
        [winners[outcome] for outcome in choices.outcome.tolist()],
        initial=initial,
        k=k,
    )
    ratings: Values = fitted.scores.reindex(range(len(choices.systems))).to_numpy(np.float64)
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
    draws = np.empty((resamples, len(choices.systems)))
    for number in track(range(resamples), progress):
        drawn = choices.draw_items(draw_units(count, rng))
        # Elo depends on the order: the fixed one of the systems within an item would bias it.
        draws[number] = strength(drawn.take(rng.permutation(len(drawn))))
    return percentile_interval(draws, alpha)


def _evalica() -> ModuleType:
    try:
        import evalica
    except ImportError:
        raise PackageMissing("evalica", "meta") from None
    module: ModuleType = evalica
    return module
