"""Personal tokens, by which a person's programs come in.

A token acts with the roles that its owner has at that moment. Its scopes open what a role alone
does not, and count only while the owner might give them. Its secret is shown once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, func, insert, or_, select, update

from fabula.core.errors import Conflict, InputError, NotFound, closest
from fabula.studio._secrets import digest_secret, make_secret
from fabula.studio.database import Studio
from fabula.studio.people import SCOPES, Person, load_person, write_audit
from fabula.studio.tables import new_id, now, people, tokens
from fabula.studio.tables import roles as role_rows

PREFIX = "fab_"
MOST_TOKENS = 50
# How exactly it is known when a token was used last: a write at every request would cost more.
_USED_EVERY = timedelta(minutes=1)


@dataclass(frozen=True)
class Token:
    """A token as its owner sees it, without its secret."""

    id: str
    person_id: str
    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    used_at: datetime | None
    expires_at: datetime | None
    revoked_at: datetime | None


def make_token(
    studio: Studio,
    person: Person,
    name: str,
    *,
    scopes: Iterable[str] = (),
    days: float | None = None,
) -> tuple[str, str]:
    """Make a token and give its identity and its secret, which nobody can see again.

    It works for so many days, or until it is revoked. A name is that of one token at a time.
    """
    label, wanted = " ".join(name.split()), sorted(set(scopes))
    if not 0 < len(label) <= 100 or not label.replace(" ", "").isprintable():
        raise InputError("a token has a name of 1 to 100 characters", "say what it is for")
    if days is not None and not 0 < days <= 3660:
        raise InputError("a token works for up to 3,660 days", "leave the days out for no end")
    for scope in wanted:
        if scope not in SCOPES:
            raise InputError(f"there is no scope {scope!r}", closest(scope, SCOPES))
        person.need(*SCOPES[scope])
    secret, moment = make_secret(PREFIX), now()
    row = {"id": new_id(), "name": label, "digest": digest_secret(secret), "scopes": wanted}
    with studio.write() as db:
        owner = load_person(db, person.id, lock=True)
        live = (tokens.c.person_id == person.id) & _is_live(moment)
        if db.scalar(select(tokens.c.id).where(live, tokens.c.name == label)):
            raise Conflict(f"you have a token called {label}", "revoke it, or choose another name")
        if (db.scalar(select(func.count()).where(live)) or 0) >= MOST_TOKENS:
            raise Conflict(f"you have {MOST_TOKENS} tokens", "revoke one that is not needed")
        expires_at = moment + timedelta(days=days) if days is not None else None
        db.execute(insert(tokens).values(**row, person_id=owner.id, expires_at=expires_at))
        write_audit(db, owner, "make_token", str(row["id"]), scopes=wanted)
    return str(row["id"]), secret


def find_token(studio: Studio, secret: str) -> Person | None:
    """Find whose token it is; None where it was revoked, has expired or never was."""
    if not secret.startswith(PREFIX):
        return None
    moment = now()
    with studio.read() as db:
        shown = {"digest": digest_secret(secret), "moment": moment}
        rows = db.execute(_FIND_TOKEN, shown).mappings().all()
    if not rows:
        return None
    row, roles = rows[0], frozenset(each["role"] for each in rows if each["role"])
    person = Person(row["person_id"], row["owner"] or "", roles)
    if row["used_at"] is None or moment - row["used_at"] >= _USED_EVERY:
        stale = or_(tokens.c.used_at.is_(None), tokens.c.used_at <= moment - _USED_EVERY)
        with studio.write() as db:
            db.execute(update(tokens).where(tokens.c.id == row["id"], stale).values(used_at=moment))
    scopes = frozenset(scope for scope in row["scopes"] if person.may(*SCOPES[scope]))
    return Person(person.id, person.name, person.roles, scopes)


# Asked with every request of a program: put together once, and a row for each role.
_FIND_TOKEN = (
    select(tokens, people.c.name.label("owner"), role_rows.c.role)
    .join(people, people.c.id == tokens.c.person_id)
    .outerjoin(role_rows, role_rows.c.person_id == people.c.id)
    .where(
        tokens.c.digest == bindparam("digest"),
        tokens.c.revoked_at.is_(None),
        or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > bindparam("moment")),
        people.c.deleted_at.is_(None),
    )
)


def list_tokens(studio: Studio, person: Person) -> list[Token]:
    """Give one's tokens, the newest first; those that were revoked stay to be seen."""
    wanted = select(tokens).where(tokens.c.person_id == person.id)
    with studio.read() as db:
        rows = db.execute(wanted.order_by(tokens.c.created_at.desc(), tokens.c.id)).mappings()
        return [
            Token(**{name: row[name] for name in Token.__annotations__ if name != "scopes"},
                  scopes=tuple(row["scopes"]))
            for row in rows
        ]  # fmt: skip


def revoke_token(studio: Studio, person: Person | None, token_id: str) -> None:
    """Let a token work no more: one's own, or anyone's for an admin and who runs the machine."""
    with studio.write() as db:
        row = db.execute(select(tokens).where(tokens.c.id == token_id).with_for_update())
        token = row.mappings().one_or_none()
        if token is None or (person and person.id != token["person_id"] and not person.may()):
            raise NotFound("there is no such token", "look at your list of tokens")
        if token["revoked_at"] is None:
            db.execute(update(tokens).where(tokens.c.id == token_id).values(revoked_at=now()))
            write_audit(db, person, "revoke_token", token_id)


def _is_live(moment: datetime) -> ColumnElement[bool]:
    unexpired = or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > moment)
    return tokens.c.revoked_at.is_(None) & unexpired
