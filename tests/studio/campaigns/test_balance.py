"""Which task is next: balanced, counterbalanced, seeded, and never a dead end."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from fabula.studio.campaigns.balance import (
    Place,
    Seen,
    choose_task,
    find_instructed,
    list_checks_due,
    make_row,
    order_stories,
)
from fabula.studio.campaigns.definition import Checks
from fakes.open_campaign import make_campaign_definition

SYSTEMS = tuple("abcd")
KINDS = tuple((system,) for system in SYSTEMS)


def make_places(items=8, left=3):
    names = [(item, system) for item in range(items) for system in SYSTEMS]
    return [
        Place(f"t{number}", number, f"i{item}", (system,), left)
        for number, (item, system) in enumerate(names, 1)
    ]


def go_through(places, rater, definition, most):
    """What a rater is given, one after the other, out of places that others take from as well."""
    seen, left = [], {place.task_id: place for place in places if place.left}
    while len(seen) < most:
        place = choose_task(
            list(left.values()), seen, definition=definition, rater=rater, kinds=KINDS,
            tasks=len(places),
        )  # fmt: skip
        if place is None:
            break
        left.pop(place.task_id)
        seen.append(Seen(place.item, place.systems))
        yield place


def test_a_square_has_each_thing_once_in_each_position_and_each_pair_once_in_a_row():
    rows = [make_row(4, number) for number in range(4)]
    for column in zip(*rows, strict=True):
        assert sorted(column) == [0, 1, 2, 3]
    pairs = Counter(pair for row in rows for pair in pairwise(row))
    assert len(pairs) == 12 and set(pairs.values()) == {1}


def test_of_an_odd_number_of_things_both_directions_together_are_balanced():
    rows = [make_row(5, number) for number in range(10)]
    pairs = Counter(pair for row in rows for pair in pairwise(row))
    assert len(pairs) == 20 and set(pairs.values()) == {2}


def test_at_any_time_a_rater_has_seen_each_system_equally_often_give_or_take_one():
    definition = make_campaign_definition()
    for rater in range(1, 6):
        seen = Counter(dict.fromkeys(SYSTEMS, 0))
        for place in go_through(make_places(), rater, definition, 32):
            seen.update(place.systems)
            assert max(seen.values()) - min(seen.values()) <= 1


def test_no_two_stories_of_one_item_come_in_a_row():
    items = [place.item for place in go_through(make_places(), 3, make_campaign_definition(), 32)]
    assert len(items) == 32
    assert all(one != other for one, other in pairwise(items))


def test_an_item_twice_in_a_row_is_better_than_nothing():
    place = Place("t1", 1, "i1", ("a",), 1)
    only = choose_task(
        [place], [Seen("i1", ("b",))], definition=make_campaign_definition(), rater=1, kinds=KINDS,
        tasks=1,
    )  # fmt: skip
    assert only == place


def test_the_systems_that_raters_begin_with_take_turns():
    firsts = Counter(
        next(go_through(make_places(), rater, make_campaign_definition(), 1)).systems
        for rater in range(1, 9)
    )
    assert set(firsts.values()) == {2}


def test_the_same_seed_rater_and_places_give_the_same_task_and_other_seeds_others():
    places = make_places(items=40)
    chosen = [
        [place.task_id for place in go_through(places, 5, make_campaign_definition(seed=seed), 12)]
        for seed in (1, 1, 2)
    ]
    assert chosen[0] == chosen[1] != chosen[2]


def test_where_a_system_has_clearly_more_open_it_comes_first():
    places = [
        place._replace(left=9) if place.systems == ("c",) else place for place in make_places()
    ]
    for rater in range(1, 5):
        first = next(go_through(places, rater, make_campaign_definition(), 1))
        assert first.systems == ("c",)


def test_tasks_with_most_open_places_come_first_in_a_wave():
    places = [place._replace(left=1 if place.number % 2 else 2) for place in make_places()]
    first = list(go_through(places, 1, make_campaign_definition(), 4))
    assert all(place.left == 2 for place in first if place.systems in (("b",), ("d",)))


def test_what_was_given_back_comes_again_only_when_nothing_else_is_left():
    places = [place._replace(is_again=place.number == 1) for place in make_places(items=2)]
    chosen = [place.number for place in go_through(places, 1, make_campaign_definition(), 9)]
    assert chosen[-1] == 1 and len(chosen) == 8


def test_stories_of_a_task_stand_in_every_order_of_a_square_as_raters_come():
    orders = [order_stories(["x", "y"], seed=3, task=5, turn=turn) for turn in range(4)]
    assert orders[0] == orders[2] != orders[1] == orders[3]
    firsts = Counter(order_stories("abcd", seed=3, task=6, turn=turn)[0] for turn in range(8))
    assert set(firsts.values()) == {2}


@pytest.mark.parametrize("rater", range(1, 8))
def test_one_task_in_so_many_is_a_check_and_never_the_first(rater):
    definition = make_campaign_definition(checks=Checks(duplicates=5, instructed=4))
    given = Counter()
    for number in range(1, 21):
        due = list_checks_due(definition, rater=rater, number=number, given=given)
        assert number > 1 or not due
        given.update(due)
    assert given == {"duplicate": 4}
    told = [find_instructed(definition, rater=rater, number=number) for number in range(1, 21)]
    assert told[0] is None and sum(each is not None for each in told) == 5
    assert all(1 <= each.value <= 5 for each in told if each)


def test_raters_who_come_and_go_at_random_fill_every_place_each_in_balance():
    definition, draw = make_campaign_definition(most_tasks=10), random.Random(4)
    places = {place.task_id: place for place in make_places(items=30, left=2)}
    seen = {rater: [] for rater in range(1, 28)}
    had = {rater: set() for rater in seen}
    there = list(seen)
    while there:
        rater = draw.choice(there)
        # The first four leave half-way; their places are others' then.
        most = 5 if rater <= 4 else 10
        free = [each for each in places.values() if each.left and each.task_id not in had[rater]]
        place = choose_task(
            free, seen[rater], definition=definition, rater=rater, kinds=KINDS, tasks=len(places)
        )
        if place is None or len(seen[rater]) == most:
            there.remove(rater)
            continue
        places[place.task_id] = place._replace(left=place.left - 1)
        had[rater].add(place.task_id)
        seen[rater].append(Seen(place.item, place.systems))
    assert all(place.left == 0 for place in places.values())
    finished = [each for each in seen.values() if len(each) in (5, 10)]
    assert len(finished) >= 20
    for each in finished:
        counts = Counter(system for task in each for system in task.systems)
        assert max(counts.values()) - min(counts[system] for system in SYSTEMS) <= 1
        assert all(one.item != other.item for one, other in pairwise(each))
