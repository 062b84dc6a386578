"""Tokens of programs, and links that work once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.links import find_link, is_empty, make_link, use_link
from fabula.studio.people import create_person, find_person, list_people, set_roles
from fabula.studio.sign_in import find_session, sign_in
from fabula.studio.tables import links, now, tokens
from fabula.studio.tokens import find_token, list_tokens, make_token, revoke_token

PASSWORD = "some other words"


def test_a_token_acts_for_its_owner_until_it_is_revoked(studio, author):
    token_id, secret = make_token(studio, author, "my script")
    assert secret.startswith("fab_") and find_token(studio, secret) == author
    [token] = list_tokens(studio, author)
    assert (token.id, token.name, token.revoked_at) == (token_id, "my script", None)
    with studio.read() as db:
        assert secret not in str(db.execute(select(tokens)).all())
    revoke_token(studio, author, token_id)
    revoke_token(studio, author, token_id)
    assert find_token(studio, secret) is None and list_tokens(studio, author)[0].revoked_at


def test_what_is_no_token_is_nobody(studio, author):
    _, secret = make_token(studio, author, "a")
    with studio.read() as db:
        digest = db.scalar(select(tokens.c.digest))
    for wrong in ("", "fab_", secret[4:], secret + "x", digest, f"fab_{digest}"):
        assert find_token(studio, wrong) is None


def test_scopes_are_given_by_those_who_may(studio, author, admin):
    with pytest.raises(NotAllowed):
        make_token(studio, author, "a", scopes=["dataset"])
    with pytest.raises(InputError, match="did you mean 'dataset'"):
        make_token(studio, admin, "a", scopes=["datasets"])
    reader = create_person(studio, None, name="rea", roles=["researcher"])
    with pytest.raises(NotAllowed):
        make_token(studio, reader, "a", scopes=["backend"])
    _, secret = make_token(studio, reader, "a", scopes=["dataset", "user_edits"])
    assert find_token(studio, secret).scopes == {"dataset", "user_edits"}
    set_roles(studio, None, reader.id, ["author"])
    assert find_token(studio, secret).scopes == frozenset()


def test_a_token_expires(studio, author):
    _, secret = make_token(studio, author, "a", days=1)
    [token] = list_tokens(studio, author)
    assert abs(token.expires_at - token.created_at - timedelta(days=1)) < timedelta(minutes=1)
    with studio.write() as db:
        db.execute(update(tokens).values(expires_at=now() - timedelta(seconds=1)))
    assert find_token(studio, secret) is None
    for days in (0, -1, 1e9):
        with pytest.raises(InputError):
            make_token(studio, author, "b", days=days)


def test_use_is_noted_once_a_minute(studio, author):
    _, secret = make_token(studio, author, "a")
    assert list_tokens(studio, author)[0].used_at is None
    find_token(studio, secret)
    first = list_tokens(studio, author)[0].used_at
    find_token(studio, secret)
    assert list_tokens(studio, author)[0].used_at == first
    with studio.write() as db:
        db.execute(update(tokens).values(used_at=first - timedelta(seconds=61)))
    find_token(studio, secret)
    assert list_tokens(studio, author)[0].used_at > first


def test_a_name_is_that_of_one_living_token(studio, author, admin):
    token_id, _ = make_token(studio, author, "a")
    with pytest.raises(Conflict):
        make_token(studio, author, " a ")
    make_token(studio, admin, "a")
    revoke_token(studio, author, token_id)
    assert make_token(studio, author, "a")
    with pytest.raises(InputError):
        make_token(studio, author, "  ")


def test_a_token_is_revoked_by_its_owner_or_an_admin(studio, author, admin):
    token_id, secret = make_token(studio, admin, "a")
    with pytest.raises(NotFound):
        revoke_token(studio, author, token_id)
    assert find_token(studio, secret) == admin
    token_id, secret = make_token(studio, author, "a")
    revoke_token(studio, admin, token_id)
    assert find_token(studio, secret) is None


def test_an_empty_studio_is_entered_by_its_first_link(studio):
    assert is_empty(studio)
    with pytest.raises(InputError):
        make_link(studio, None, purpose="first", roles=["author"])
    secret = make_link(studio, None, purpose="first")
    assert find_link(studio, secret).purpose == "first"
    ada = use_link(studio, secret, name="Ada", password=PASSWORD)
    assert ada.roles == {"admin", "author"} and not is_empty(studio)
    assert sign_in(studio, "ada", PASSWORD).person == ada
    assert find_link(studio, secret) is None
    with pytest.raises(Conflict):
        make_link(studio, None, purpose="first", roles=["admin"])


def test_first_links_make_one_person(studio):
    secrets = [make_link(studio, None, purpose="first", roles=["admin"]) for _ in range(4)]
    use_at_once(studio, [(secret, f"p{n}") for n, secret in enumerate(secrets)])
    assert len(list_people(studio, None)) == 1


def test_a_link_that_is_used_many_times_at_once_works_once(studio, admin):
    secret = make_link(studio, admin, purpose="invite", roles=["author"])
    use_at_once(studio, [(secret, f"p{number}") for number in range(6)])
    assert len(list_people(studio, None)) == 2


def use_at_once(studio, uses):
    def use(pair):
        try:
            return use_link(studio, pair[0], name=pair[1], password=PASSWORD)
        except NotFound:
            return None

    with ThreadPoolExecutor(len(uses)) as pool:
        done = list(pool.map(use, uses))
    assert sum(person is not None for person in done) == 1


def test_a_name_that_is_taken_leaves_the_invitation(studio, admin, author):
    secret = make_link(studio, admin, purpose="invite", roles=["annotator"])
    with pytest.raises(Conflict):
        use_link(studio, secret, name="ann", password=PASSWORD)
    with pytest.raises(InputError):
        use_link(studio, secret, name="bob", password="short")
    assert use_link(studio, secret, name="bob", password=PASSWORD).roles == {"annotator"}


def test_a_new_password_ends_what_the_old_one_began(studio, admin, author):
    session = sign_in(studio, "ann", "four odd words here")
    secret = make_link(studio, admin, purpose="password", person_id=author.id)
    assert find_link(studio, secret).name == "ann"
    assert use_link(studio, secret, password=PASSWORD) == author
    assert find_session(studio, session.secret) is None
    assert sign_in(studio, "ann", PASSWORD).person == find_person(studio, "ann")


def test_links_expire_and_only_admins_make_them(studio, admin, author):
    secret = make_link(studio, admin, purpose="invite", roles=["author"], hours=1)
    with studio.write() as db:
        db.execute(update(links).values(expires_at=now() - timedelta(seconds=1)))
    with pytest.raises(NotFound, match="expired"):
        use_link(studio, secret, name="bob", password=PASSWORD)
    with pytest.raises(NotAllowed):
        make_link(studio, author, purpose="invite", roles=["admin"])
    with pytest.raises(NotAllowed):
        make_link(studio, admin, purpose="first", roles=["admin"])


@pytest.mark.parametrize(
    "wrong",
    [
        {"purpose": "fun"},
        {"purpose": "invite", "roles": ["king"]},
        {"purpose": "invite", "person_id": "x"},
        {"purpose": "password"},
        {"purpose": "invite", "hours": 0},
        {"purpose": "invite", "hours": 1e6},
    ],
    ids=str,
)
def test_links_that_make_no_sense_are_refused(studio, admin, wrong):
    with pytest.raises(InputError):
        make_link(studio, admin, **wrong)
