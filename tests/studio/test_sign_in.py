"""Passwords, sessions, and those who guess."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from argon2 import PasswordHasher
from sqlalchemy import select, update

from fabula.core.errors import InputError, NotAllowed
from fabula.studio import _secrets
from fabula.studio import sign_in as module
from fabula.studio.people import create_person, find_person, list_people, set_roles
from fabula.studio.sign_in import (
    Throttled,
    change_password,
    find_session,
    sign_in,
    sign_in_oidc,
    sign_out,
)
from fabula.studio.tables import attempts, now, people, sessions

PASSWORD = "four odd words here"


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when it is told to."""

    class Clock:
        moment = now()

        def wait(self, **much):
            self.moment += timedelta(**much)

    told = Clock()
    monkeypatch.setattr(module, "now", lambda: told.moment)
    return told


def test_a_session_is_found_by_its_secret_until_it_ends(studio, author):
    session = sign_in(studio, "Ann", PASSWORD)
    assert find_session(studio, session.secret) == session and session.person == author
    assert len({session.secret, session.csrf, sign_in(studio, "ann", PASSWORD).secret}) == 3
    sign_out(studio, session.secret)
    sign_out(studio, session.secret)
    assert find_session(studio, session.secret) is None


def test_nothing_in_the_database_lets_anyone_in(studio, author):
    session = sign_in(studio, "ann", PASSWORD)
    with studio.read() as db:
        digest = db.scalar(select(sessions.c.digest))
    assert digest != session.secret and find_session(studio, digest) is None
    assert find_session(studio, "") is None


def test_a_session_ends_after_a_fortnight(studio, author, clock):
    session = sign_in(studio, "ann", PASSWORD)
    clock.wait(days=13, hours=23)
    assert find_session(studio, session.secret)
    clock.wait(hours=2)
    assert find_session(studio, session.secret) is None
    sign_in(studio, "ann", PASSWORD)
    with studio.read() as db:
        assert len(db.execute(select(sessions)).all()) == 1


def test_a_session_has_the_roles_of_the_moment(studio, author):
    session = sign_in(studio, "ann", PASSWORD)
    set_roles(studio, None, author.id, ["researcher"])
    assert find_session(studio, session.secret).person.roles == {"researcher"}


def test_name_and_password_that_are_wrong_get_one_answer(studio, author):
    create_person(studio, None, name="guest")
    for name, password in (
        ("ann", "wrong"), ("nobody", PASSWORD), ("guest", ""), ("", ""), ("ann", "x" * 5000),
    ):  # fmt: skip
        with pytest.raises(NotAllowed, match="name or password is wrong"):
            sign_in(studio, name, password)


def test_a_name_that_no_database_holds_is_refused(studio, author):
    for name in ("ann\0", "ann\ud800"):
        with pytest.raises(InputError):
            sign_in(studio, name, PASSWORD)
    with pytest.raises(NotAllowed):
        sign_in(studio, "ann", "half \ud800 and zero \0")


def test_an_unknown_name_costs_a_hash_too(studio, author, monkeypatch):
    verified = []

    class Counting(PasswordHasher):
        def verify(self, kept, password):
            verified.append(kept)
            return super().verify(kept, password)

    monkeypatch.setattr(_secrets, "hasher", Counting(time_cost=1, memory_cost=8, parallelism=1))
    for name in ("ann", "nobody"):
        with pytest.raises(NotAllowed):
            sign_in(studio, name, "wrong")
    assert len(verified) == 2 and all(kept.startswith("$argon2id$") for kept in verified)


def test_a_password_is_the_same_however_it_is_composed(studio):
    create_person(studio, None, name="bob", password="e\u0301clair du matin")
    assert sign_in(studio, "bob", "\u00e9clair du matin")


def test_an_address_is_as_good_as_a_name(studio):
    create_person(studio, None, name="bob", email="bob@example.org", password=PASSWORD)
    assert sign_in(studio, " BOB@example.org", PASSWORD).person.name == "bob"


def test_a_hash_of_other_parameters_is_made_anew(studio, author, monkeypatch):
    dearer = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    monkeypatch.setattr(_secrets, "hasher", dearer)
    sign_in(studio, "ann", PASSWORD)
    with studio.read() as db:
        kept = db.scalar(select(people.c.password))
    assert "m=16,t=2,p=1" in kept and dearer.verify(kept, PASSWORD)
    assert sign_in(studio, "ann", PASSWORD)


def test_who_guesses_waits_longer_and_longer(studio, author, clock):
    for _ in range(5):
        with pytest.raises(NotAllowed):
            sign_in(studio, "ann", "a wrong one", address="192.0.2.1")
    waits = []
    for _ in range(4):
        with pytest.raises(Throttled) as refused:
            sign_in(studio, "ann", PASSWORD, address="192.0.2.1")
        waits.append(round(refused.value.wait_s))
        clock.wait(seconds=refused.value.wait_s)
        with pytest.raises(NotAllowed):
            sign_in(studio, "ann", "a wrong one", address="192.0.2.1")
    assert waits == [1, 2, 4, 8]
    assert sign_in(studio, "ann", PASSWORD, address="192.0.2.7")
    clock.wait(seconds=16)
    assert sign_in(studio, "ann", PASSWORD, address="192.0.2.1")
    for _ in range(4):
        with pytest.raises(NotAllowed):
            sign_in(studio, "ann", "a wrong one", address="192.0.2.1")


def test_an_unknown_name_is_throttled_like_any_other(studio):
    for _ in range(5):
        with pytest.raises(NotAllowed):
            sign_in(studio, "nobody", "x", address="192.0.2.1")
    with pytest.raises(Throttled):
        sign_in(studio, "nobody", "x", address="192.0.2.1")


def test_an_address_that_tries_many_names_waits_too(studio, author):
    for number in range(20):
        with pytest.raises(NotAllowed):
            sign_in(studio, f"name{number}", "x", address="192.0.2.1")
    with pytest.raises(Throttled):
        sign_in(studio, "ann", PASSWORD, address="192.0.2.1")


def test_guesses_are_forgotten_after_an_hour_and_hold_no_name(studio, author, clock):
    for _ in range(5):
        with pytest.raises(NotAllowed):
            sign_in(studio, "ann", "wrong", address="192.0.2.1")
    with studio.read() as db:
        kept = list(db.scalars(select(attempts.c.digest)))
    assert len(kept) == 3 and all(len(digest) == 64 for digest in kept)
    clock.wait(hours=1, seconds=1)
    assert sign_in(studio, "ann", PASSWORD, address="192.0.2.1")


def test_many_guesses_at_once_are_no_more_than_one_after_the_other(studio, author, clock):
    def guess(number):
        with pytest.raises((NotAllowed, Throttled)) as refused:
            sign_in(studio, "ann", f"guess {number}", address="192.0.2.1")
        return refused.type

    with ThreadPoolExecutor(16) as pool:
        done = list(pool.map(guess, range(16)))
    assert done.count(NotAllowed) == 5


def test_a_password_is_changed_and_ends_all_sessions(studio, author):
    session = sign_in(studio, "ann", PASSWORD)
    with pytest.raises(NotAllowed):
        change_password(studio, author, "not that one", "some other words")
    with pytest.raises(InputError):
        change_password(studio, author, PASSWORD, "short")
    fresh = change_password(studio, author, PASSWORD, "some other words")
    assert find_session(studio, session.secret) is None
    assert find_session(studio, fresh.secret) == fresh
    assert sign_in(studio, "ann", "some other words")
    with pytest.raises(NotAllowed):
        sign_in(studio, "ann", PASSWORD)


def enter(studio, subject="s1", email="ann@lab.example", **other):
    about = {"issuer": "https://lab.example", "display": "Ann B.", "scopes": ["dataset", "backend"]}
    return sign_in_oidc(studio, subject=subject, email=email, **about | other)


def test_who_signs_in_elsewhere_is_known_by_issuer_and_subject(studio):
    session = enter(studio)
    assert session.person.roles == {"author"} and session.person.scopes == {"dataset"}
    assert find_session(studio, session.secret) == session
    again = enter(studio, email="renamed@lab.example", scopes=())
    assert again.person.id == session.person.id and again.person.scopes == frozenset()
    assert enter(studio, issuer="https://other.example").person.id != session.person.id
    with pytest.raises(NotAllowed):
        sign_in(studio, "ann", "")


def test_an_address_elsewhere_does_not_open_an_account_here(studio):
    ours = create_person(studio, None, name="ann", email="ann@lab.example", roles=["admin"])
    theirs = enter(studio).person
    assert theirs.id != ours.id and theirs.name == "ann-2" and not theirs.may("admin")
    assert find_person(studio, "ann@lab.example") == ours


def test_one_who_enters_many_times_at_once_is_one_person(studio):
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda _: enter(studio).person.id, range(6)))
    assert len(set(done)) == 1 and len(list_people(studio, None)) == 1


def test_a_deleted_person_is_out_at_once(studio, author):
    session = sign_in(studio, "ann", PASSWORD)
    with studio.write() as db:
        db.execute(update(people).values(deleted_at=now()))
    assert find_session(studio, session.secret) is None
    with pytest.raises(NotAllowed):
        sign_in(studio, "ann", PASSWORD)
