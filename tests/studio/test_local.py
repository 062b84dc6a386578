"""A studio that is one person's, without a password."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from fabula.core.errors import NotAllowed, NotFound
from fabula.studio.links import make_link, use_link
from fabula.studio.local import end_own_sessions, open_own_session, welcome_owner
from fabula.studio.people import ROLES, create_person, read_profile
from fabula.studio.privacy import delete_person
from fabula.studio.sign_in import find_session
from fabula.studio.tables import audit

PASSWORD = "a lantern under the stairs"


def test_the_owner_is_made_once_with_all_roles_and_no_password(studio):
    owner = welcome_owner(studio, "Ida Lind")
    assert owner.name == "ida-lind"
    assert owner.roles == set(ROLES)
    assert not read_profile(studio, None, owner.id).has_password
    # The system may call its user otherwise by then.
    assert welcome_owner(studio, "somebody") == owner


@pytest.mark.parametrize(
    ("name", "kept"), [("", "me"), ("...", "me"), ("CORP\\ida", "corp-ida"), ("日本", "日本")]
)
def test_whatever_the_system_calls_its_user_there_is_a_name(studio, name, kept):
    assert welcome_owner(studio, name).name == kept


def test_a_session_of_the_owner_is_one_as_any_other(studio):
    owner = welcome_owner(studio, "ida")
    session = open_own_session(studio)
    assert find_session(studio, session.secret).person == owner
    with studio.read() as db:
        actions = list(db.scalars(select(audit.c.action).order_by(audit.c.id)))
    assert actions == ["create_person", "sign_in_local"]


def test_without_an_owner_nobody_comes_in(studio):
    create_person(studio, None, name="eve", roles=["admin"])
    with pytest.raises(NotFound):
        open_own_session(studio)


def test_a_studio_of_others_is_refused_and_left_as_it_was(studio):
    eve = create_person(studio, None, name="eve", password=PASSWORD, roles=["admin"])
    with pytest.raises(NotAllowed, match=r"people who sign in \(1\)"):
        welcome_owner(studio, "eve")
    delete_other = create_person(studio, None, name="dan", roles=["admin"])
    delete_person(studio, None, eve.id)
    with pytest.raises(NotAllowed):
        welcome_owner(studio, "dan")
    assert delete_other.name == "dan"


def test_somebody_taken_in_later_closes_the_door(studio):
    welcome_owner(studio, "ida")
    other = create_person(studio, None, name="ann", password=PASSWORD)
    with pytest.raises(NotAllowed):
        welcome_owner(studio, "ida")
    delete_person(studio, None, other.id)
    assert welcome_owner(studio, "ida").name == "ida"


def test_what_was_opened_without_a_password_ends_before_others_come(studio):
    assert end_own_sessions(studio) is None
    owner = welcome_owner(studio, "ida")
    session = open_own_session(studio)
    assert end_own_sessions(studio) == owner
    assert find_session(studio, session.secret) is None
    # With a password of their own they come in by it, and stay.
    secret = make_link(studio, None, purpose="password", person_id=owner.id)
    use_link(studio, secret, password=PASSWORD)
    assert end_own_sessions(studio) is None
    assert welcome_owner(studio, "ida") == owner
