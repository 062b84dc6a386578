"""Choices between systems: which of two is better on an item, from ratings or from preferences."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fabula.core.dataset import Preference
from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.meta.arrays import Values, round_digits

Places = np.ndarray[Any, np.dtype[np.int64]]


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

    def drawn(self, items: Places) -> Choices:
        """Give the choices on some items, in their order; an item drawn twice counts twice."""
        rows = np.concatenate([self._rows_of_items[item] for item in items])
        return self.taken(rows)

    def taken(self, rows: Places) -> Choices:
        """Give some of the choices, in the order asked for."""
        parts = (self.item[rows], self.left[rows], self.right[rows], self.outcome[rows])
        return Choices(self.systems, self.items, *parts)

    @cached_property
    def wins(self) -> Values:
        """How often the row is chosen over the column; a tie is half a win.  (systems, systems)"""
        share = (self.outcome + 1) / 2
        found = np.zeros((len(self.systems),) * 2)
        np.add.at(found, (self.left, self.right), share)
        np.add.at(found, (self.right, self.left), 1 - share)
        return found

    def net_wins(self) -> Values:
        """Mean outcome of every two systems for the first, by item; NaN where there is none.

        The pairs are those of `numpy.triu_indices`.  (pairs, items)
        """
        count = len(self.systems)
        one, other = np.triu_indices(count, 1)
        number = np.zeros((count, count), dtype=np.int64)
        number[one, other] = number[other, one] = np.arange(len(one))
        sign = np.where(self.left < self.right, 1, -1)
        sums, met = np.zeros((len(one), len(self.items))), np.zeros((len(one), len(self.items)))
        places = number[self.left, self.right], self.item
        np.add.at(sums, places, sign * self.outcome)
        np.add.at(met, places, 1)
        with np.errstate(invalid="ignore"):
            net: Values = sums / met
        return net


def choices_of_values(values: Values, systems: tuple[str, ...], items: tuple[str, ...]) -> Choices:
    """Choose between every two systems on every item by their values: (items, systems)."""
    one, other = np.triu_indices(len(systems), 1)
    steady = round_digits(values)
    gaps = steady[:, one] - steady[:, other]  # (items, pairs)
    item, pair = np.nonzero(~np.isnan(gaps))
    outcome = np.sign(gaps[item, pair]).astype(np.int64)
    return Choices(systems, items, item, one[pair], other[pair], outcome)


def choices_of_preferences(preferences: Iterable[Preference], stories: Iterable[Story]) -> Choices:
    """Read choices between stories as choices between their systems.

    Choices between two stories of one system say nothing of systems and are left out. Stories
    that are compared belong to the item of the better one, or to one of their own.
    """
    known = {story.id: story for story in stories}
    systems: dict[str, int] = {}
    items: dict[str, int] = {}
    rows: list[tuple[int, int, int]] = []
    for one in preferences:
        better, worse = _story(one.better, known), _story(one.worse, known)
        if better.system == worse.system:
            continue
        left = systems.setdefault(better.system or "", len(systems))
        right = systems.setdefault(worse.system or "", len(systems))
        name = better.item if better.item is not None else f"{one.better} {one.worse}"
        rows.append((items.setdefault(name, len(items)), left, right))
    if not rows:
        raise InputError("there is no choice between two systems", "give every story its system")
    item, left_side, right_side = np.array(rows, dtype=np.int64).T
    return Choices(
        tuple(systems), tuple(items), item, left_side, right_side, np.ones(len(rows), np.int64)
    )


def _story(name: str, known: dict[str, Story]) -> Story:
    if name not in known:
        raise InputError(f"a preference is about {name!r}, which is not a story here")
    return known[name]
