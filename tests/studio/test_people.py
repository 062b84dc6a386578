"""Who is there, what they may do, and that it is written down."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.people import (
    Person,
    create_person,
    find_person,
    list_people,
    read_profile,
    set_roles,
    sign_up,
    write_audit,
)
from fabula.studio.tables import audit, people

PASSWORD = "a lantern under the stairs"


def actions(studio):
    with studio.read() as db:
        return [tuple(row) for row in db.execute(select(audit.c.action, audit.c.object))]


def test_a_person_is_found_by_name_address_and_identity(studio):
    ann = create_person(studio, None, name="Ann", email="Ann@Example.org", display="Ann  B.")
    assert ann == Person(ann.id, "ann", frozenset({"author"}))
    assert ann == find_person(studio, "ANN") == find_person(studio, "ann@example.org")
    assert ann == find_person(studio, ann.id)
    profile = read_profile(studio, ann, ann.id)
    assert (profile.email, profile.display, profile.has_password) == (
        "ann@example.org",
        "Ann B.",
        False,
    )
    assert actions(studio) == [("create_person", ann.id)]


def test_a_password_is_kept_as_an_argon2_hash(studio):
    create_person(studio, None, name="ann", password="four odd words here")
    with studio.read() as db:
        kept = db.scalar(select(people.c.password))
    assert kept.startswith("$argon2id$") and "odd" not in kept


@pytest.mark.parametrize("name", ["", " ", "a b", "ann@example.org", "-ann", "x" * 101, "a\x00"])
def test_names_that_will_not_do_are_refused(studio, name):
    with pytest.raises(InputError):
        create_person(studio, None, name=name)
    assert list_people(studio, None) == []


@pytest.mark.parametrize(
    "bad",
    [
        {"password": "too short"},
        {"password": "x" * 1001},
        {"password": "aaaaaaaaaaaa"},
        {"password": "Bartholomew"},
        {"email": "nowhere"},
        {"display": "\x1b[31m"},
        {"roles": ["king"]},
    ],
    ids=str,
)
def test_fields_that_will_not_do_are_refused(studio, bad):
    with pytest.raises(InputError):
        create_person(studio, None, name="bartholomew", **bad)


@pytest.mark.parametrize("name", ["ann", "ANN", "ａｎｎ"])
def test_names_that_look_alike_are_one(studio, author, name):
    with pytest.raises(Conflict, match="the name ann is taken"):
        create_person(studio, None, name=name)


def test_an_address_belongs_to_one_person(studio):
    create_person(studio, None, name="ann", email="a@example.org")
    with pytest.raises(Conflict, match="e-mail address is taken"):
        create_person(studio, None, name="bob", email="A@example.org")


def test_of_two_who_take_a_name_at_once_one_has_it(studio):
    def take(number):
        try:
            return create_person(studio, None, name="ann", display=str(number))
        except Conflict:
            return None

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(take, range(8)))
    assert sum(person is not None for person in done) == 1
    assert [profile.person for profile in list_people(studio, None)] == list(filter(None, done))


def test_only_admins_take_people_in_and_list_them(studio, admin, author):
    bob = create_person(studio, admin, name="bob", roles=("annotator", "researcher"))
    assert bob.may("annotator") and not bob.may("author") and admin.may("researcher")
    for act in (
        lambda: create_person(studio, author, name="eve"),
        lambda: list_people(studio, bob),
    ):
        with pytest.raises(NotAllowed):
            act()
    assert [p.person.name for p in list_people(studio, admin)] == ["ada", "ann", "bob"]
    assert [p.person.roles for p in list_people(studio, admin)][2] == bob.roles


def test_a_profile_is_for_oneself_and_admins(studio, admin, author):
    assert read_profile(studio, admin, author.id).person == author
    with pytest.raises(NotFound):
        read_profile(studio, author, admin.id)
    with pytest.raises(NotFound):
        read_profile(studio, admin, "nobody")


def test_roles_are_set_and_written_down(studio, admin, author):
    changed = set_roles(studio, admin, author.id, ["author", "researcher"])
    assert changed.roles == {"author", "researcher"} == find_person(studio, "ann").roles
    with studio.read() as db:
        last = db.execute(select(audit).order_by(audit.c.id.desc())).mappings().first()
    assert (last["action"], last["person_id"], last["object"]) == ("set_roles", admin.id, author.id)
    assert last["detail"] == {"before": ["author"], "after": ["author", "researcher"]}
    with pytest.raises(NotAllowed):
        set_roles(studio, author, author.id, ["admin"])


def test_the_last_admin_stays(studio, admin, author):
    with pytest.raises(Conflict, match="last admin"):
        set_roles(studio, admin, admin.id, ["author"])
    set_roles(studio, admin, author.id, ["admin"])
    set_roles(studio, admin, admin.id, ["author"])
    with pytest.raises(Conflict, match="last admin"):
        set_roles(studio, None, author.id, [])


def test_two_admins_who_depose_one_another_leave_one(studio, admin, author):
    author = set_roles(studio, None, author.id, ["admin"])

    def depose(pair):
        try:
            return set_roles(studio, pair[0], pair[1].id, ["author"])
        except Conflict:
            return None

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(depose, [(admin, author), (author, admin)]))
    assert sum(person is not None for person in done) == 1
    assert sum(p.person.may("admin") for p in list_people(studio, None)) == 1


def test_an_act_that_fails_is_not_in_the_log(studio, author):
    with pytest.raises(RuntimeError), studio.write() as db:
        write_audit(db, author, "publish_entry", "e1", words=3)
        raise RuntimeError
    assert ("publish_entry", "e1") not in actions(studio)


def test_who_signs_up_is_an_author_once_and_says_so_themselves(studio):
    with pytest.raises(Conflict, match="nobody looks after"):
        sign_up(studio, name="fay", password=PASSWORD)
    create_person(studio, None, name="eve", roles=["admin"])
    person = sign_up(studio, name=" FAY ", password=PASSWORD)
    assert (person.name, person.roles) == ("fay", {"author"})
    with studio.read() as db:
        row = db.execute(select(audit).where(audit.c.action == "sign_up")).mappings().one()
    assert (row["person_id"], row["object"]) == (person.id, person.id)
    with pytest.raises(Conflict, match="the name fay is taken"):
        sign_up(studio, name="fay", password=PASSWORD)
    with pytest.raises(InputError, match="password has 10"):
        sign_up(studio, name="gus", password="short")
