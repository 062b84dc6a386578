"""Tasks of stories: what is rated at once, by the unit of a campaign, in a seeded order.

A task of the unit `story` shows one story; `pair` any two of one item; `group` as many as `size`
says, of one item; with `within` `all` stories are dealt to groups whatever their item. An item
with more stories than a group shows is covered by a cyclic design: as many groups as it has
stories, each story in as many groups as a group has places, and pairs of stories together as evenly
as that allows.

Tasks are numbered so that any run of them holds all systems in proportion: raters who go through
them from the front meet each system as often as the others.
"""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeVar

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.studio.campaigns.definition import Definition

Group = TypeVar("Group", bound=Hashable)
# More than this in one campaign is a mistake: all pairs of too many stories.
MOST_TASKS = 200_000
_LONGEST_ITEM = 500


@dataclass(frozen=True)
class PlannedTask:
    """Stories to be rated at once, by their places in the list of all; the item they share, and
    the systems they are of. `wanted` is 0 for a planted one: each rater has a place of its own."""

    stories: tuple[int, ...]
    item: str | None
    systems: tuple[str, ...]
    wanted: int
    kind: Literal["story", "planted"] = "story"


def name_item(story: Story) -> str | None:
    """What stories of one task for writers share: their item, or else their prompt; a long one is
    called by its beginning and its digest."""
    item = story.item if story.item is not None else story.prompt
    if item is None or len(item) <= _LONGEST_ITEM:
        return item
    return f"{item[:100]}… {hashlib.sha256(item.encode()).hexdigest()}"


def plan_tasks(
    definition: Definition, stories: Sequence[Story], planted: Sequence[Story] = ()
) -> list[PlannedTask]:
    """Make the tasks of a campaign, in the order of their numbers; planted ones come last.

    Places of planted stories follow those of the others.
    """
    rng = random.Random(f"tasks {definition.seed}")
    sets = _choose_sets(definition, stories, rng)
    if len(sets) > MOST_TASKS:
        raise InputError(
            f"these stories make {len(sets):,} tasks, at most {MOST_TASKS:,} will do",
            "ask about fewer stories of an item, or by unit = 'group'",
        )
    tasks = _want(definition, _interleave([_make_task(stories, places) for places in sets], rng))
    company = [task.stories for task in tasks] or [()]
    for number in range(len(planted)):
        # A planted story stands among as many others as any, so that nothing tells it apart.
        others = company[number % len(company)][: max(0, definition.shown - 1)]
        shown = (*others, len(stories) + number)
        systems = tuple(sorted({stories[place].system or "" for place in others} - {""}))
        tasks.append(PlannedTask(shown, name_item(planted[number]), systems, 0, "planted"))
    return tasks


def _make_task(stories: Sequence[Story], places: Sequence[int]) -> PlannedTask:
    items = {name_item(stories[place]) for place in places}
    systems = sorted({stories[place].system or "" for place in places} - {""})
    item = items.pop() if len(items) == 1 else None
    return PlannedTask(tuple(places), item, tuple(systems), 1)


def _choose_sets(
    definition: Definition, stories: Sequence[Story], rng: random.Random
) -> list[tuple[int, ...]]:
    """Which stories are shown together."""
    if definition.unit == "story":
        return [(place,) for place in range(len(stories))]
    kinds = {question.kind: question.compares for question in definition.questions}
    least = 3 if "best_worst" in kinds else 2 if any(kinds.values()) else 1
    if definition.within == "all":
        return _cut(rng.sample(range(len(stories)), len(stories)), definition.shown, least)
    items: dict[str, list[int]] = {}
    for place, story in enumerate(stories):
        if (item := name_item(story)) is None:
            raise InputError(
                f"story {story.id!r} has no item and no prompt, and tasks compare stories of one",
                "give every story an item",
            )
        items.setdefault(item, []).append(place)
    sets: list[tuple[int, ...]] = []
    for item, places in items.items():
        if len(places) < least:
            raise InputError(
                f"item {item[:80]!r} has {len(places)} of the {least} stories that a task compares",
                "add stories to it, or leave it out",
            )
        if definition.unit == "pair":
            sets += combinations(places, 2)
        else:
            sets += _design_groups(rng.sample(places, len(places)), definition.size)
    return sets


def _cut(places: list[int], size: int, least: int) -> list[tuple[int, ...]]:
    """Cut a list into groups; a last one that is too small to compare is filled from the front."""
    groups = [places[start : start + size] for start in range(0, len(places), size)]
    if len(places) < least:
        raise InputError(f"{len(places)} stories are too few to compare", f"give {least} or more")
    if len(groups[-1]) < least:
        groups[-1] += places[: least - len(groups[-1])]
    return [tuple(group) for group in groups]


def _design_groups(places: list[int], size: int) -> list[tuple[int, ...]]:
    """Cover the stories of an item by groups: a cyclic design (John & Williams, 1995).

    The first group is chosen so that the distances within it repeat as little as possible; the
    others are the same, moved on by one story each time.
    """
    count = len(places)
    if count <= size:
        return [tuple(places)]
    block, distances = [0], Counter[int]()

    def count_repeats(candidate: int) -> tuple[int, int]:
        gaps = [min((candidate - each) % count, (each - candidate) % count) for each in block]
        return sum(distances[gap] for gap in gaps) + len(gaps) - len(set(gaps)), candidate

    while len(block) < size:
        chosen = min((place for place in range(count) if place not in block), key=count_repeats)
        distances.update(min((chosen - each) % count, (each - chosen) % count) for each in block)
        block.append(chosen)
    return [tuple(places[(start + step) % count] for step in block) for start in range(count)]


def _interleave(tasks: list[PlannedTask], rng: random.Random) -> list[PlannedTask]:
    """Shuffle tasks so that those of every system are spread evenly over the whole."""
    by_systems: dict[tuple[str, ...], list[PlannedTask]] = {}
    for task in tasks:
        by_systems.setdefault(task.systems, []).append(task)
    ranked: list[tuple[float, float, PlannedTask]] = []
    for systems in sorted(by_systems):
        group = by_systems[systems]
        rng.shuffle(group)
        ranked += [
            ((rank + 0.5) / len(group), rng.random(), task) for rank, task in enumerate(group)
        ]
    return [task for _, _, task in sorted(ranked, key=lambda each: each[:2])]


def _want(definition: Definition, tasks: list[PlannedTask]) -> list[PlannedTask]:
    """Say how many raters each task is for: `overlap` of those of every system are for all."""
    wanted: dict[int, int] = {}
    order = sorted(range(len(tasks)), key=lambda number: (tasks[number].systems, number))
    for rank, number in enumerate(order):
        is_shared = int((rank + 1) * definition.overlap + 1e-9) > int(
            rank * definition.overlap + 1e-9
        )
        wanted[number] = definition.raters if is_shared else 1
    return [replace(task, wanted=wanted[number]) for number, task in enumerate(tasks)]
