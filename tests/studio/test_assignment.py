"""Who writes for whom: balanced, sticky, under quotas, and the same again from the record."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from fabula.core.errors import NoCapacity, NotFound
from fabula.studio.assignment import (
    Assignment,
    AssignmentEvent,
    assign_machine,
    read_assignments,
    replay_assignments,
)
from fabula.studio.database import open_studio
from fabula.studio.machines import change_machine
from fabula.studio.tables import assignments, machines, suggestions


def offer(studio, *names, **other):
    with studio.write() as db:
        for name in names:
            db.execute(
                machines.insert().values(**{"name": name, "spec": "x", "status": "active"} | other)
            )


def assign(studio, story, **other):
    """Ask for a suggestion for a story, as an author does."""
    with studio.write() as db:
        machine = assign_machine(db, story, **other)
        number = db.scalar(select(func.count()).select_from(suggestions))
        db.execute(
            suggestions.insert().values(
                key=f"{story} {number}", machine_id=machine.id, context={}, wanted="", seed=0
            )
        )
    return machine.name


def recorded(studio):
    with studio.read() as db:
        return [(a.story, a.machine, a.reason) for _, a in read_assignments(db)]


def test_without_machines_there_is_no_capacity(studio):
    offer(studio, "asleep", status="inactive")
    offer(studio, "leaving", status="draining")
    offer(studio, "other", kind="summary")
    with pytest.raises(NoCapacity):
        assign(studio, "s")
    assert recorded(studio) == []


def test_a_story_keeps_its_machine_and_stories_are_spread_evenly(studio):
    offer(studio, "a", "b", "c")
    first = {f"story {n}": assign(studio, f"story {n}") for n in range(20)}
    assert sorted(Counter(first.values()).values()) == [6, 7, 7]
    assert {story: assign(studio, story) for story in first} == first
    assert len(recorded(studio)) == 20


def test_ties_are_broken_by_seed_and_story_not_by_name(studio):
    offer(studio, *"abcdefgh")
    chosen = [assign(studio, f"story {n}", seed=1) for n in range(8)]
    assert sorted(chosen) == list("abcdefgh") and chosen != sorted(chosen)


def test_a_quota_of_minus_one_is_never_used_up(studio):
    offer(studio, "a", "b")
    machine = assign(studio, "s")
    assert {assign(studio, "s") for _ in range(12)} == {machine}
    assert len(recorded(studio)) == 1


def test_a_machine_writes_as_much_as_its_quota_says_and_then_another_does(studio):
    offer(studio, "small", quota=3)
    assert [assign(studio, "s") for _ in range(3)] == ["small"] * 3
    with pytest.raises(NoCapacity):
        assign(studio, "s")
    offer(studio, "large")
    assert assign(studio, "s") == assign(studio, "t") == "large"
    assert recorded(studio) == [("s", "small", "first"), ("s", "large", "quota"),
                                ("t", "large", "first")]  # fmt: skip


def test_a_quota_of_nothing_gives_nothing(studio):
    offer(studio, "closed", quota=0)
    with pytest.raises(NoCapacity):
        assign(studio, "s")


def test_an_inactive_machine_loses_its_stories_when_they_are_asked_for(studio):
    offer(studio, "a")
    assign(studio, "s"), assign(studio, "t")
    offer(studio, "b")
    change_machine(studio, None, "a", status="inactive")
    assert assign(studio, "s") == "b"
    assert recorded(studio)[-1] == ("s", "b", "inactive")
    change_machine(studio, None, "a", status="active")
    assert (assign(studio, "s"), assign(studio, "t")) == ("b", "a")


def test_a_draining_machine_keeps_its_stories_and_gets_no_others(studio):
    offer(studio, "a")
    assign(studio, "s")
    offer(studio, "b")
    change_machine(studio, None, "a", status="draining")
    assert [assign(studio, story) for story in ("s", "t", "u", "s")] == ["a", "b", "b", "a"]
    with pytest.raises(NoCapacity):
        assign(studio, "v", machine="a")
    assert assign(studio, "s", machine="a") == "a"


def test_a_machine_that_was_chosen_writes_once_and_the_story_keeps_its_own(studio):
    offer(studio, "a", "b")
    first = assign(studio, "s")
    other = "b" if first == "a" else "a"
    assert [assign(studio, "s", machine=other), assign(studio, "s")] == [other, first]
    assert recorded(studio) == [("s", first, "first"), ("s", other, "chosen")]
    # It counts as nobody's story: the next one goes to the machine that has none.
    assert assign(studio, "t", machine=first) == first
    assert assign(studio, "u") == other
    assert assign(studio, "t") in (first, other)
    assert recorded(studio)[-1][2] == "first"
    with pytest.raises(NotFound):
        assign(studio, "s", machine="nobody")


def test_a_decision_can_be_made_by_hand():
    """Counts first: b has no story when the second comes; c is full, so b has the third too."""
    free = {"a": "free"}
    events = [
        AssignmentEvent("s1", free),
        AssignmentEvent("s2", {"a": "free", "b": "free", "c": "full"}),
        AssignmentEvent("s3", {"a": "draining", "b": "free", "c": "full"}),
        AssignmentEvent("s1", {"a": "draining", "b": "free"}),
        AssignmentEvent("s1", {"a": "full", "b": "inactive"}),
        AssignmentEvent("s1", {"a": "full", "b": "free"}),
    ]
    assert [(a.machine, a.reason) for a in replay_assignments(events, 0)] == [
        ("a", "first"), ("b", "first"), ("b", "first"), ("b", "quota"),
    ]  # fmt: skip


@pytest.mark.parametrize("seed", [0, 7])
def test_a_random_history_replayed_is_what_was_recorded(studio, seed):
    draw = random.Random(seed)
    offer(studio, "a", "b", "c")
    offer(studio, "d", quota=4)
    for _ in range(110):
        if draw.random() < 0.15:
            name, status = draw.choice("abcd"), draw.choice(["active", "draining", "inactive"])
            change_machine(studio, None, name, status=status)
            change_machine(studio, None, draw.choice("abcd"), quota=draw.choice([-1, -1, 12]))
            continue
        wish = draw.choice("abcd") if draw.random() < 0.2 else None
        try:
            assign(studio, f"story {draw.randrange(25)}", seed=seed, machine=wish)
        except NoCapacity:
            continue
    with studio.read() as db:
        history = read_assignments(db)
        turns = list(db.scalars(select(assignments.c.turn).order_by(assignments.c.turn)))
    given = [assignment for _, assignment in history]
    assert len({assignment.reason for assignment in given}) >= 3
    assert replay_assignments([event for event, _ in history], seed) == given
    assert replay_assignments([event for event, _ in history], seed + 1) != given
    assert turns == list(range(1, len(turns) + 1))


def test_stories_asked_for_at_once_are_spread_evenly_and_none_gets_two_machines(
    database_url, studio
):
    offer(studio, "a", "b", "c")

    def ask(worker):
        own = open_studio(database_url)
        given = [(f"story {n}", assign(own, f"story {n}")) for n in range(worker % 4, 40, 4)]
        own.close()
        return given

    with ThreadPoolExecutor(8) as pool:
        answers = {pair for given in pool.map(ask, range(8)) for pair in given}
    assert len(answers) == len(recorded(studio)) == 40
    assert sorted(Counter(machine for _, machine in answers).values()) == [13, 13, 14]
    with studio.read() as db:
        history = read_assignments(db)
    given = [assignment for _, assignment in history]
    assert replay_assignments([event for event, _ in history], 0) == given
    assert isinstance(given[0], Assignment)


def test_a_quota_is_exact_when_many_ask_at_once(studio):
    """One of two stories is the small machine's, until its five are used up."""
    offer(studio, "small", quota=5)
    offer(studio, "large")

    def ask(number):
        return assign(studio, f"story {number % 2}")

    with ThreadPoolExecutor(8) as pool:
        assert Counter(pool.map(ask, range(40))) == {"small": 5, "large": 35}
