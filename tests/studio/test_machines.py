"""Machines on offer: who may change what, and what is left as it is."""

from __future__ import annotations

import pytest

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound, UserError
from fabula.studio.machines import add_machine, change_machine, list_machines
from fabula.studio.people import Person
from fabula.studio.tables import now, suggestions

ADMIN = Person("1" * 32, "ann", frozenset({"admin"}))
RESEARCHER = Person("3" * 32, "rae", frozenset({"researcher"}))
AUTHOR = Person("2" * 32, "ben", frozenset({"author"}))


def test_a_machine_added_twice_is_one_and_another_of_its_name_is_refused(studio, scripted):
    made = add_machine(studio, ADMIN, name="one", spec=scripted)
    assert add_machine(studio, None, name="one", spec=" scripted() ") == made
    assert (made.status, made.quota, made.spec) == ("active", -1, "scripted")
    with pytest.raises(Conflict, match="scripted"):
        add_machine(studio, ADMIN, name="one", spec="scripted(pause_s=0.5)")


def test_a_change_leaves_what_it_does_not_name(studio, scripted):
    add_machine(studio, ADMIN, name="one", spec=scripted, quota=7, decoding={"top_k": 5})
    changed = change_machine(studio, ADMIN, "one", status="draining")
    assert (changed.status, changed.quota, changed.decoding) == ("draining", 7, {"top_k": 5})
    changed = change_machine(studio, ADMIN, changed.id, quota=-1)
    assert (changed.status, changed.quota, changed.decoding) == ("draining", -1, {"top_k": 5})


BAD_SETTINGS = [
    {"name": ""},
    {"name": " one"},
    {"name": "x" * 101},
    {"status": "asleep"},
    {"quota": -2},
    {"quota": 2**31},
    {"spec": "nobody"},
    {"spec": "scripted(pause='x')"},
    {"decoding": {"top_q": 1}},
    {"decoding": {"top_k": "many"}},
]


def test_what_will_not_do_is_refused_and_changes_nothing(studio, scripted):
    for settings in BAD_SETTINGS:
        with pytest.raises(UserError):
            add_machine(studio, ADMIN, **{"name": "one", "spec": scripted} | settings)
    assert list_machines(studio, ADMIN) == []


def test_only_admins_change_machines_and_authors_see_no_specs(studio, scripted):
    for person in (AUTHOR, RESEARCHER):
        with pytest.raises(NotAllowed):
            add_machine(studio, person, name="one", spec=scripted)
    add_machine(studio, ADMIN, name="one", spec=scripted)
    with pytest.raises(NotAllowed):
        change_machine(studio, AUTHOR, "one", quota=3)
    assert [m.spec for m in list_machines(studio, AUTHOR)] == [""]
    assert [m.spec for m in list_machines(studio, RESEARCHER)] == ["scripted"]


def test_an_unknown_machine_is_named_with_its_neighbour(studio, scripted):
    add_machine(studio, ADMIN, name="gilda", spec=scripted)
    with pytest.raises(NotFound, match="gilda"):
        change_machine(studio, ADMIN, "gilde", quota=3)


def test_machines_are_listed_by_name_with_what_they_wrote_this_month(studio, scripted):
    add_machine(studio, ADMIN, name="b", spec=scripted, status="inactive")
    a = add_machine(studio, ADMIN, name="a", spec=scripted)
    past = now().replace(year=2020)
    with studio.write() as db:
        for number, (asked, status) in enumerate(
            [(now(), "done"), (now(), "pending"), (now(), "failed"), (past, "done")]
        ):
            db.execute(
                suggestions.insert().values(
                    key=str(number), machine_id=a.id, context={}, wanted="words=0-9", seed=0,
                    asked_at=asked, status=status,
                )
            )  # fmt: skip
    assert [(m.name, m.used) for m in list_machines(studio, None)] == [("a", 2), ("b", 0)]
    assert [m.name for m in list_machines(studio, None, status="inactive")] == ["b"]
    with pytest.raises(InputError):
        list_machines(studio, None, status="gone")
