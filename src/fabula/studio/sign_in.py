"""Coming in by a password or by a sign-in elsewhere, and the sessions of those who did.

A session's secret is the browser's alone: the studio keeps a digest. Whether a name exists cannot
be told from an answer nor from how long it takes. Who guesses passwords waits longer and longer;
failures are counted in the database, so that all processes of a studio count together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, RowMapping, delete, insert, or_, select, update

from fabula.core.errors import Conflict, InputError, NoCapacity, NotAllowed
from fabula.studio._secrets import (
    check_password,
    digest_secret,
    hash_new_password,
    hash_password,
    is_outdated,
    make_secret,
)
from fabula.studio.database import Studio, insert_new, make_insert
from fabula.studio.people import (
    Person,
    Role,
    check_roles,
    load_person,
    make_person,
    need_other_admin,
    origin,
    write_audit,
    write_roles,
)
from fabula.studio.tables import attempts, links, now, people, sessions
from fabula.studio.tables import roles as role_rows

SESSION_DAYS = 14
# How exactly it is known when a session was used last.
_SEEN_EVERY = timedelta(minutes=5)
# Failures that cost nothing: of a name from one address, of an address, and of a name wherever it
# is tried from. The last is the highest, for anyone can spoil the sign-in of somebody they know.
_FREE_FAILURES = {"pair": 5, "address": 20, "name": 50}
_LONGEST_WAIT_S = 900.0
_FORGET_AFTER = timedelta(hours=1)
_FOREIGN_SCOPES = frozenset({"dataset", "judgement", "user_edits"})


@dataclass(frozen=True)
class Session:
    """Somebody who came in. `secret` is for a cookie, `csrf` for the forms of its pages."""

    secret: str
    csrf: str
    person: Person
    expires_at: datetime


class Throttled(NoCapacity):
    """Too many sign-ins failed; `wait_s` is how long the next has to wait."""

    def __init__(self, wait_s: float) -> None:
        super().__init__(
            "too many sign-ins have failed", f"wait {max(1, round(wait_s))} seconds, and try again"
        )
        self.wait_s = wait_s


def sign_in(studio: Studio, name: str, password: str, *, address: str = "") -> Session:
    """Let somebody in by name (or e-mail address) and password."""
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    keys = _make_attempt_keys(plain, address)
    with studio.write() as db:
        # Counted before the password is looked at: those who try many at once get no more.
        wait_s = _count_attempt(db, keys)
        row = _find_account(db, plain)
    if wait_s:
        raise Throttled(wait_s)
    if not check_password(password, row["password"] if row else None):
        raise NotAllowed("name or password is wrong", "try again, or ask for a new password")
    assert row is not None
    kept = row["password"]
    changed = hash_password(password) if is_outdated(kept) else kept
    with studio.write() as db:
        # Somebody may have changed the password, or deleted the person, meanwhile.
        again = db.execute(select(people).where(people.c.id == row["id"]).with_for_update())
        if (found := again.mappings().one_or_none()) is None or found["password"] != kept:
            raise NotAllowed("name or password is wrong", "try again, or ask for a new password")
        db.execute(update(people).where(people.c.id == row["id"]).values(password=changed))
        _forgive_attempt(db, keys)
        person = load_person(db, row["id"])
        write_audit(db, person, "sign_in", person.id)
        return open_session(db, person)


def find_session(studio: Studio, secret: str) -> Session | None:
    """Find whose session it is; None where it has ended or never was."""
    if not secret:
        return None
    with studio.read() as db:
        wanted = (
            select(sessions, people.c.name)
            .join(people, people.c.id == sessions.c.person_id)
            .where(
                sessions.c.digest == digest_secret(secret),
                sessions.c.expires_at > now(),
                people.c.deleted_at.is_(None),
            )
        )
        row = db.execute(wanted).mappings().one_or_none()
        if row is None:
            return None
        person = make_person(db, row["person_id"], row["name"], row["scopes"])
    _note_use(studio, row)
    return Session(secret, row["csrf"], person, row["expires_at"])


def _note_use(studio: Studio, row: RowMapping) -> None:
    """Note when and from where a session was used: a write at every request would cost more."""
    moment = now()
    if moment - row["seen_at"] < _SEEN_EVERY:
        return
    with studio.write() as db:
        seen = {"seen_at": moment, "network": origin.get()}
        db.execute(update(sessions).where(sessions.c.digest == row["digest"]).values(seen))
        db.execute(update(people).where(people.c.id == row["person_id"]).values(seen_at=moment))


def sign_out(studio: Studio, secret: str) -> None:
    """End a session; one that is not there has ended already."""
    with studio.write() as db:
        ended = delete(sessions).where(sessions.c.digest == digest_secret(secret))
        person_id = db.scalar(ended.returning(sessions.c.person_id))
        if person_id:
            write_audit(db, load_person(db, person_id), "sign_out", person_id)


def change_password(studio: Studio, person: Person, old: str, new: str) -> Session:
    """Change one's password; all sessions end, and a new one begins."""
    with studio.read() as db:
        kept = db.scalar(select(people.c.password).where(people.c.id == person.id))
    if not check_password(old, kept):
        raise NotAllowed("the old password is wrong", "try again, or ask for a link")
    changed = hash_new_password(new, person.name)
    with studio.write() as db:
        found = load_person(db, person.id, lock=True)
        if db.scalar(select(people.c.password).where(people.c.id == person.id)) != kept:
            raise NotAllowed("the old password is wrong", "try again, or ask for a link")
        set_password(db, person.id, changed)
        write_audit(db, found, "change_password", person.id)
        return open_session(db, found)


def set_password(db: Connection, person_id: str, kept: str) -> None:
    """Give a person a password that is hashed already; whoever came in by the old one is out."""
    db.execute(update(people).where(people.c.id == person_id).values(password=kept))
    db.execute(delete(sessions).where(sessions.c.person_id == person_id))


def sign_in_oidc(
    studio: Studio,
    *,
    issuer: str,
    subject: str,
    email: str | None,
    display: str,
    scopes: Iterable[str] = (),
    roles: Iterable[str] = (),
    managed: Iterable[str] = (),
) -> Session:
    """Let somebody in whom an OpenID provider vouches for; who is new becomes an author.

    A person is known by issuer and subject alone. An e-mail address never joins two accounts: a
    provider may hand out an address that is somebody else's here. Of the scopes count `dataset`,
    `judgement` and `user_edits`. Of the `managed` roles a person has those that the provider
    gives at this sign-in, and no others; what is not managed, admins give here.
    """
    if not 0 < len(issuer) <= 500 or not 0 < len(subject) <= 255:
        raise InputError("the sign-in names no issuer and subject", "look at the provider")
    known = people.c.issuer == issuer, people.c.subject == subject
    with studio.write() as db:
        person_id = db.scalar(select(people.c.id).where(*known))
        if person_id is None:
            row = {"issuer": issuer, "subject": subject, "display": " ".join(display.split())[:200]}
            person_id = _insert_guest(db, row, email)
        before = load_person(db, person_id, scopes=_FOREIGN_SCOPES & set(scopes), lock=True)
        person = _follow_provider(db, before, check_roles(roles), check_roles(managed))
        write_audit(db, person, "sign_in_oidc", person.id, scopes=sorted(person.scopes))
        return open_session(db, person)


def _follow_provider(
    db: Connection, before: Person, given: frozenset[Role], managed: frozenset[Role]
) -> Person:
    wanted = (before.roles - managed) | (given & managed)
    if "admin" in before.roles - wanted:
        try:
            need_other_admin(db, before.id)
        except Conflict:
            # The provider may not leave the studio without anyone to look after it.
            wanted |= {"admin"}
    return write_roles(db, None, before, wanted)


def _insert_guest(db: Connection, row: dict[str, Any], email: str | None) -> str:
    """Write a person known elsewhere, under the first name that is free."""
    address = (email or "").strip().casefold()
    taken = select(people.c.id).where(people.c.email == address)
    is_free = "@" in address and len(address) <= 254 and db.scalar(taken) is None
    row["email"] = address if is_free else None
    root = address.partition("@")[0] or row["display"].casefold()
    root = re.sub(r"[^\w.+-]+", "-", root).strip(".+-")[:80] or "guest"
    known = people.c.issuer == row["issuer"], people.c.subject == row["subject"]
    for number in range(1, 1000):
        row["name"] = root if number == 1 else f"{root}-{number}"
        if person_id := insert_new(db, people, row):
            db.execute(insert(role_rows).values(person_id=person_id, role="author"))
            write_audit(db, None, "create_person", person_id, roles=["author"])
            return person_id
        # In the way was this very person, let in by another process at this moment, or the name.
        if there := db.execute(select(people.c.id).where(*known)).one_or_none():
            return str(there.id)
    raise NoCapacity(f"a thousand people are called {root}", "ask an admin for an account")


def open_session(db: Connection, person: Person) -> Session:
    """Begin a session of somebody who has shown who they are."""
    moment = now()
    db.execute(delete(sessions).where(sessions.c.expires_at < moment))
    db.execute(delete(links).where(links.c.expires_at < moment - timedelta(days=30)))
    session = Session(make_secret(), make_secret(), person, moment + timedelta(days=SESSION_DAYS))
    db.execute(
        insert(sessions).values(
            digest=digest_secret(session.secret),
            person_id=person.id,
            csrf=session.csrf,
            scopes=sorted(person.scopes),
            expires_at=session.expires_at,
            network=origin.get(),
        )
    )
    db.execute(update(people).where(people.c.id == person.id).values(seen_at=moment))
    return replace(session, person=person)


def _find_account(db: Connection, plain: str) -> RowMapping | None:
    named = or_(people.c.name == plain, people.c.email == plain)
    wanted = select(people).where(named, people.c.deleted_at.is_(None))
    return db.execute(wanted).mappings().one_or_none()


def _make_attempt_keys(name: str, address: str) -> dict[str, str]:
    pairs = {"pair": f"{name}\n{address}", "address": address, "name": name}
    return {
        digest_secret(f"{kind}\n{key}"): kind
        for kind, key in sorted(pairs.items())
        if key or kind == "pair"
    }


def _count_attempt(db: Connection, keys: dict[str, str]) -> float:
    """Count a sign-in as failed until it succeeds, and give how long it has to wait."""
    moment, wait_s = now(), 0.0
    old = select(attempts.c.digest).where(attempts.c.last_at < moment - _FORGET_AFTER)
    unused = old.with_for_update(skip_locked=True)
    db.execute(delete(attempts).where(attempts.c.digest.in_(unused)))
    # A row to be locked is there before it is read: of many who try at once each sees the others.
    for digest in sorted(keys):
        fresh = make_insert(db, attempts).values(digest=digest, failures=0, last_at=moment)
        db.execute(fresh.on_conflict_do_nothing())
    rows = select(attempts).where(attempts.c.digest.in_(keys)).order_by(attempts.c.digest)
    for row in db.execute(rows.with_for_update()).mappings():
        excess = row["failures"] - _FREE_FAILURES[keys[row["digest"]]]
        if excess >= 0:
            due = row["last_at"] + timedelta(seconds=min(2.0 ** min(excess, 20), _LONGEST_WAIT_S))
            wait_s = max(wait_s, (due - moment).total_seconds())
    if not wait_s:
        more = {"failures": attempts.c.failures + 1, "last_at": moment}
        db.execute(update(attempts).where(attempts.c.digest.in_(keys)).values(more))
    return wait_s


def _forgive_attempt(db: Connection, keys: dict[str, str]) -> None:
    """Take back what this sign-in was counted for; a name that succeeds begins anew there."""
    for digest, kind in sorted(keys.items()):
        left = attempts.c.failures - 1 if kind != "pair" else 0
        db.execute(update(attempts).where(attempts.c.digest == digest).values(failures=left))
