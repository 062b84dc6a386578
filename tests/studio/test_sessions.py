"""Where somebody is signed in, as they see it, and their profile as they change it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from fabula.core.errors import Conflict, InputError, NotFound
from fabula.studio.people import change_profile, create_person, origin, read_profile
from fabula.studio.sessions import end_other_sessions, end_session, list_sessions
from fabula.studio.sign_in import find_session, sign_in
from fabula.studio.tables import audit, now, sessions

PASSWORD = "a lantern under the stairs"


@pytest.fixture
def ann(studio):
    return create_person(studio, None, name="ann", password=PASSWORD)


def read_actions(studio):
    with studio.read() as db:
        return list(db.scalars(select(audit.c.action).order_by(audit.c.id)))


def test_sessions_are_listed_without_their_secrets(studio, ann):
    first, second = (sign_in(studio, "ann", PASSWORD) for _ in range(2))
    listed = list_sessions(studio, ann, second.secret)
    assert [session.is_current for session in listed] == [True, False]
    assert len({session.id for session in listed}) == 2
    assert all(len(session.id) == 32 for session in listed)
    assert not any(find_session(studio, session.id) for session in listed)
    assert not any(session.is_current for session in list_sessions(studio, ann))
    assert first.secret not in str(listed)


def test_it_is_noted_when_and_from_which_network_a_session_was_used(studio, ann):
    session = sign_in(studio, "ann", PASSWORD)
    long_ago = now() - timedelta(days=3)
    with studio.write() as db:
        db.execute(update(sessions).values(seen_at=long_ago))
    token = origin.set("203.0.113.0/24")
    assert find_session(studio, session.secret)
    origin.reset(token)
    [listed] = list_sessions(studio, ann, session.secret)
    assert listed.network == "203.0.113.0/24"
    assert now() - listed.seen_at < timedelta(minutes=1)
    assert read_profile(studio, ann, ann.id).seen_at == listed.seen_at
    # Not at every request.
    find_session(studio, session.secret)
    assert list_sessions(studio, ann)[0].seen_at == listed.seen_at


def test_a_session_is_ended_by_its_owner_alone(studio, ann):
    ben = create_person(studio, None, name="ben")
    session = sign_in(studio, "ann", PASSWORD)
    [listed] = list_sessions(studio, ann)
    for who, which in ((ben, listed.id), (ann, "0" * 32), (ann, listed.id[:8]), (ann, "%" * 32)):
        with pytest.raises(NotFound):
            end_session(studio, who, which)
    end_session(studio, ann, listed.id)
    assert find_session(studio, session.secret) is None
    assert read_actions(studio)[-1] == "end_session"


def test_all_others_end_and_this_one_stays(studio, ann):
    ben = create_person(studio, None, name="ben", password=PASSWORD)
    own, *others = (sign_in(studio, "ann", PASSWORD) for _ in range(3))
    theirs = sign_in(studio, "ben", PASSWORD)
    assert end_other_sessions(studio, ann, own.secret) == 2
    assert end_other_sessions(studio, ann, own.secret) == 0
    assert [bool(find_session(studio, each.secret)) for each in (own, *others, theirs)] == [
        True, False, False, True,
    ]  # fmt: skip
    assert read_actions(studio).count("end_sessions") == 1
    assert end_other_sessions(studio, ben) == 1


def test_a_profile_is_changed_in_part_and_said_once(studio, ann):
    changed = change_profile(studio, ann, display=" Ann  B. ", email="Ann@Example.org")
    assert (changed.display, changed.email) == ("Ann B.", "ann@example.org")
    assert change_profile(studio, ann, display="Ann B.").email == "ann@example.org"
    assert sign_in(studio, "ann@example.org", PASSWORD).person.id == ann.id
    assert change_profile(studio, ann, email="").email is None
    assert change_profile(studio, ann).display == "Ann B."
    with studio.read() as db:
        rows = db.execute(select(audit.c.detail).where(audit.c.action == "change_profile"))
        details = [row.detail for row in rows]
    # By their names alone: what stands in the log cannot be taken out again.
    assert details == [{"fields": ["display", "email"]}, {"fields": ["email"]}]


def test_an_address_that_is_somebody_elses_is_refused_and_nothing_changes(studio, ann):
    create_person(studio, None, name="ben", email="ben@example.org")
    with pytest.raises(Conflict, match="cannot be yours"):
        change_profile(studio, ann, display="Ben", email="BEN@example.org")
    with pytest.raises(InputError, match="no e-mail address"):
        change_profile(studio, ann, email="nobody")
    with pytest.raises(InputError, match="200 printable"):
        change_profile(studio, ann, display="x" * 201)
    profile = read_profile(studio, ann, ann.id)
    assert (profile.display, profile.email) == ("", None)
