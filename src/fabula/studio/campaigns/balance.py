"""Which task a rater gets next, and in which order its stories stand. Plain arithmetic.

A decision depends on the campaign's seed, the rater's number, what the rater has seen and what is
open at that moment, and on nothing else. From the most to the least important:

1. not two stories of one item (or prompt) in a row;
2. systems that this rater has seen least often: so each is seen equally often, ± 1 at any time;
3. of these, systems with clearly more open places than others, so that the last raters still find
   all of them; and then in the order of a row of a Williams square (Williams, 1949), another row
   for each rater and for each round: every system stands equally often in each position, and
   equally often after each other system;
4. tasks from the front, a wave at a time, so that ratings of the same stories come in early and
   agreement can be seen; within a wave those with most open places, which leaves no task that only
   raters who have had it could still fill;
5. items that this rater has seen least often; and then by lot.

Where a rule leaves nothing, the next best is taken: a rater who is willing gets any place that is
open, whatever that does to the balance.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from fabula.studio.campaigns.definition import Definition

T = TypeVar("T")
Systems = tuple[str, ...]
# A repeated story comes so many tasks after the first time, or later.
DUPLICATE_GAP = 3
# One of two systems comes first if it has so much more open than the other.
_CLEARLY_MORE = 0.1
_WAVES = 8
_LEAST_WAVE = 30


class Place(NamedTuple):
    """A task with places that are open to a rater: `left` of them. `is_again` if the rater has
    given it back before. (A tuple, for thousands are made whenever a task is chosen.)"""

    task_id: str
    number: int
    item: str | None
    systems: Systems
    left: int
    is_again: bool = False


@dataclass(frozen=True)
class Seen:
    """A task that a rater has had; one that was a check counts for no system."""

    item: str | None
    systems: Systems
    is_check: bool = False


@dataclass(frozen=True)
class Instructed:
    """A question that says what to answer: `value`, out of `low` to `high`."""

    low: int
    high: int
    value: int


def choose_task(
    places: Sequence[Place],
    seen: Sequence[Seen],
    *,
    definition: Definition,
    rater: int,
    kinds: Sequence[Systems],
    tasks: int,
) -> Place | None:
    """Choose of the open places; None where there are none.

    `seen` is in the order in which the rater had it; `kinds` are all sets of systems that tasks of
    the campaign show, in a fixed order, and `tasks` is how many there are.
    """
    if not places:
        return None
    left = _keep_least(places, [place.is_again for place in places])
    last = seen[-1].item if seen else None
    left = _keep_least(left, [last is not None and place.item == last for place in left])
    rated = [each for each in seen if not each.is_check]
    exposure = Counter(system for each in rated for system in each.systems)
    weights = {systems: _weigh(exposure, systems) for systems in {each.systems for each in left}}
    left = _keep_least(left, [weights[place.systems] for place in left])
    systems = _choose_systems(left, rater + len(rated) // max(1, len(kinds)), kinds)
    left = [place for place in left if place.systems == systems]
    wave = max(-(-tasks // _WAVES), 3 * definition.most_tasks, 2 * len(kinds), _LEAST_WAVE)
    left = _keep_least(left, [((place.number - 1) // wave, -place.left) for place in left])
    items = Counter(each.item for each in seen)
    left = _keep_least(left, [items[place.item] if place.item else 0 for place in left])
    lot = random.Random(f"lot {definition.seed} {rater} {len(seen)}")
    return min(left, key=lambda place: place.number) if len(left) == 1 else lot.choice(left)


def _keep_least(values: Sequence[T], costs: Sequence[int | bool | tuple[int, ...]]) -> list[T]:
    least = min(costs)
    return [value for value, cost in zip(values, costs, strict=True) if cost == least]


def _weigh(exposure: Counter[str], systems: Systems) -> tuple[int, int]:
    """How much a task would add to what is seen too often. The sum of squares of all exposures
    grows by twice the first number and a constant: the least is the best balance."""
    counts = [exposure[system] for system in systems]
    return sum(counts), max(counts, default=0)


def _choose_systems(places: Sequence[Place], row: int, kinds: Sequence[Systems]) -> Systems:
    open_places = Counter[Systems]()
    for place in places:
        open_places[place.systems] += place.left
    enough = max(open_places.values()) * (1 - _CLEARLY_MORE)
    ranks = {kinds[column]: rank for rank, column in enumerate(make_row(len(kinds), row))}
    pressed = [systems for systems, count in open_places.items() if count >= enough]
    return min(pressed, key=lambda systems: (ranks.get(systems, len(ranks)), systems))


def make_row(size: int, number: int) -> list[int]:
    """Give a row of a Williams square: orders of `size` things, balanced for position and, one
    after the other, for what comes before what.

    A square has `size` rows; for an odd size the rows backwards belong to it as well.
    """
    if size == 0:
        return []
    rows = size if size % 2 == 0 else 2 * size
    turn = number % rows
    zigzag = [(step + 1) // 2 if step % 2 else -(step // 2) for step in range(size)]
    row = [(each + turn) % size for each in zigzag]
    return row[::-1] if turn >= size else row


def order_stories(stories: Sequence[str], *, seed: int, task: int, turn: int) -> list[str]:
    """Give the order in which a rater sees the stories of a task: a row of a square, one after the
    other for those who get the task (`turn` counts them), from a seeded beginning."""
    lot = random.Random(f"order {seed} {task}")
    shuffled = lot.sample(list(stories), len(stories))
    row = make_row(len(stories), turn + lot.randrange(2 * len(stories)))
    return [shuffled[place] for place in row]


def list_checks_due(
    definition: Definition, *, rater: int, number: int, given: Mapping[str, int]
) -> list[Literal["planted", "duplicate"]]:
    """Say which checks are due when a rater is given the task of this number, from 1.

    One in every so many tasks is one, at a place drawn by lot; `given` counts those that the rater
    has had. What could not be given when it was due stays due.
    """
    seed, checks = definition.seed, definition.checks
    every: dict[Literal["planted", "duplicate"], int] = {
        "planted": checks.planted,
        "duplicate": checks.duplicates,
    }
    return [
        kind
        for kind, count in every.items()
        if given.get(kind, 0) < _count_due(kind, seed, rater, number, count)
    ]


def find_instructed(definition: Definition, *, rater: int, number: int) -> Instructed | None:
    """Say whether a rater is told what to answer in the task of this number, and what."""
    every, seed = definition.checks.instructed, definition.seed
    due = _count_due("instructed", seed, rater, number, every)
    if due == _count_due("instructed", seed, rater, number - 1, every):
        return None
    scales = [question for question in definition.questions if question.kind == "scale"]
    low, high = (scales[0].low, scales[0].high) if scales else (1, 5)
    value = random.Random(f"value {seed} {rater} {number}").randint(low, high)
    return Instructed(low, high, value)


def choose_lot(values: Sequence[T], lot: str) -> T | None:
    """Draw one of several by a lot that has a name; None where there are none."""
    return random.Random(lot).choice(values) if values else None


def _count_due(what: str, seed: int, rater: int, number: int, every: int) -> int:
    """How many of a kind of check are due up to a rater's task of this number: one in every so
    many, and never the first task of all."""
    if not every or number < 1:
        return 0
    block, place = divmod(number - 1, every)
    lot = random.Random(f"{what} {seed} {rater} {block}")
    drawn = lot.randrange(1, every) if block == 0 else lot.randrange(every)
    return block + (place >= drawn)
