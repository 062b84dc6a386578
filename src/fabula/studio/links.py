"""Links that work once: the first person's way in, an invitation, a new password.

A studio has no default password: while it is empty, who starts it is shown a link that makes the
first admin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, cast

from sqlalchemy import Connection, RowMapping, insert, or_, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio._secrets import digest_secret, hash_new_password, make_secret
from fabula.studio.database import Studio
from fabula.studio.people import (
    Person,
    Role,
    check_roles,
    insert_person,
    load_person,
    read_profile_fields,
    write_audit,
)
from fabula.studio.sign_in import set_password
from fabula.studio.tables import links, now, people

Purpose = Literal["first", "invite", "password"]
MOST_HOURS = 24 * 30
_USUAL_ROLES: dict[str, tuple[Role, ...]] = {
    "first": ("admin", "author"),
    "invite": ("author",),
    "password": (),
}


@dataclass(frozen=True)
class Link:
    """What a link is for: `name` is whose password it changes, `roles` what a new person gets."""

    purpose: Purpose
    roles: frozenset[Role]
    name: str = ""


def is_empty(studio: Studio) -> bool:
    """Whether nobody is there yet."""
    with studio.read() as db:
        return not _has_people(db)


def make_link(
    studio: Studio,
    actor: Person | None,
    *,
    purpose: str,
    roles: Iterable[str] = (),
    person_id: str | None = None,
    hours: float = 24,
) -> str:
    """Make a link and give its secret, which nobody can see again.

    `first` makes the first person of an empty studio, an admin, and is for who runs the machine
    (`actor` is None); `invite` a new person with these roles, an author unless told otherwise;
    `password` gives this person a new one.
    """
    _check_request(actor, purpose, person_id, hours)
    secret, given = make_secret(), sorted(check_roles(roles) or _USUAL_ROLES[purpose])
    if purpose == "first" and "admin" not in given:
        raise InputError("the first person is an admin", "leave the roles out")
    with studio.write() as db:
        if purpose == "first" and _has_people(db):
            raise Conflict("somebody is here already", "ask an admin for an invitation")
        if person_id:
            load_person(db, person_id)
        row = {"person_id": person_id, "purpose": purpose, "roles": given}
        ends = now() + timedelta(hours=hours)
        db.execute(insert(links).values(**row, digest=digest_secret(secret), expires_at=ends))
        write_audit(db, actor, "make_link", person_id or "", purpose=purpose, roles=given)
    return secret


def _check_request(actor: Person | None, purpose: str, person_id: str | None, hours: float) -> None:
    if purpose not in ("first", "invite", "password"):
        raise InputError(f"no link is for {purpose!r}", "choose first, invite or password")
    if (purpose == "password") != (person_id is not None):
        raise InputError("a link for a password names a person, and no other link does")
    if not 0 < hours <= MOST_HOURS:
        raise InputError(f"a link works for up to {MOST_HOURS} hours", "choose fewer")
    if actor:
        actor.need("admin")
        if purpose == "first":
            raise NotAllowed("the first link is for who runs the machine")


def find_link(studio: Studio, secret: str) -> Link | None:
    """Tell what a link is for, without using it; None where it does not work."""
    with studio.read() as db:
        row = _find_row(db, secret)
        if row is None:
            return None
        name = load_person(db, row["person_id"]).name if row["person_id"] else ""
        return Link(row["purpose"], frozenset(row["roles"]), name)


def use_link(studio: Studio, secret: str, *, name: str = "", password: str) -> Person:
    """Come in by a link, under a name and password of one's choice; it works no more after.

    A link for a password has its person's name already. A name that is taken leaves the link as it
    was, to be used with another.
    """
    link = find_link(studio, secret)
    if link is None:
        raise _refuse_link()
    fields = {} if link.name else read_profile_fields(name=name, email=None, display="")
    kept = hash_new_password(password, link.name or fields["name"])
    with studio.write() as db:
        row = _find_row(db, secret, lock=True)
        if row is None:
            raise _refuse_link()
        db.execute(update(links).where(links.c.digest == row["digest"]).values(used_at=now()))
        if row["person_id"]:
            person = load_person(db, row["person_id"], lock=True)
            set_password(db, person.id, kept)
        else:
            roles = cast(frozenset[Role], frozenset(row["roles"]))
            person = insert_person(db, fields | {"password": kept}, roles)
        write_audit(db, person, "use_link", person.id, purpose=row["purpose"])
    return person


def _find_row(db: Connection, secret: str, *, lock: bool = False) -> RowMapping | None:
    """Read a link that works still."""
    digest, moment = digest_secret(secret), now()
    # All first links are locked, in one order: two that are used at once make one first person.
    wanted = select(links).where(or_(links.c.digest == digest, links.c.purpose == "first"))
    wanted = wanted.order_by(links.c.digest)
    rows = db.execute(wanted.with_for_update() if lock else wanted).mappings()
    for row in [row for row in rows if row["digest"] == digest]:
        if row["used_at"] is None and row["expires_at"] > moment:
            return None if row["purpose"] == "first" and _has_people(db) else row
    return None


def _has_people(db: Connection) -> bool:
    return db.scalar(select(people.c.id).limit(1)) is not None


def _refuse_link() -> NotFound:
    return NotFound("this link was used, has expired or never was", "ask for a new one")
