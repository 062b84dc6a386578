"""People and what they may do."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, cast, get_args

from sqlalchemy import ColumnElement, Connection, delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound, closest
from fabula.studio._secrets import hash_new_password
from fabula.studio.database import Studio, insert_new
from fabula.studio.tables import audit, people
from fabula.studio.tables import roles as role_rows

Role = Literal["author", "annotator", "researcher", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
# What a program or a sign-in elsewhere may be given, and the roles that may give it.
SCOPES: dict[str, tuple[Role, ...]] = {
    "dataset": ("researcher",),
    "judgement": ("researcher",),
    "user_edits": ("researcher",),
    "backend": ("admin",),
    "metrics": ("admin",),
}
# An @ tells an e-mail address from a name.
_NAME = re.compile(r"\w[\w.+-]{0,99}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
# Where what is done now comes from, for the audit log: a network, which is nobody's own.
origin: ContextVar[str] = ContextVar("origin", default="")


@dataclass(frozen=True)
class Person:
    """Who acts. `scopes` are what a token or a sign-in elsewhere was given beside the roles:
    `dataset`, `judgement`, `user_edits`, `backend`, `metrics`."""

    id: str
    name: str
    roles: frozenset[Role] = frozenset()
    scopes: frozenset[str] = field(default_factory=frozenset)

    def may(self, *roles: Role) -> bool:
        """Whether the person has one of these roles; an admin has all."""
        return bool(self.roles & {*roles, "admin"})

    def need(self, *roles: Role) -> None:
        """Refuse a person who has none of these roles."""
        if not self.may(*roles):
            raise NotAllowed(
                f"{self.name or 'you'} may not do this", f"ask for the role {' or '.join(roles)}"
            )


@dataclass(frozen=True)
class Profile:
    """What is known of a person, for themselves and for admins."""

    person: Person
    email: str | None
    display: str
    has_password: bool
    created_at: datetime
    seen_at: datetime | None


def write_audit(
    db: Connection, person: Person | None, action: str, object: str = "", **detail: Any
) -> None:
    """Note who did what to which thing, in the transaction that does it.

    `person` is None for who runs the machine. Things and people are called by their identities: a
    name that stands in the log could not be taken out when its owner asks for it.
    """
    row = {"person_id": person.id if person else None, "action": action, "object": object}
    where = {"network": network} if (network := origin.get()) else {}
    db.execute(insert(audit).values(row | {"detail": detail | where}))


def create_person(
    studio: Studio,
    actor: Person | None,
    *,
    name: str,
    email: str | None = None,
    display: str = "",
    password: str | None = None,
    roles: Iterable[str] = ("author",),
) -> Person:
    """Take a person in. Admins do, and who runs the machine (`actor` is None).

    Without a password they come in by a link or by a sign-in elsewhere.
    """
    if actor:
        actor.need("admin")
    row = read_profile_fields(name=name, email=email, display=display)
    wanted = check_roles(roles)
    row["password"] = hash_new_password(password, row["name"]) if password is not None else None
    with studio.write() as db:
        person = insert_person(db, row, wanted)
        write_audit(db, actor, "create_person", person.id, roles=sorted(wanted))
    return person


def sign_up(studio: Studio, *, name: str, password: str) -> Person:
    """Take in somebody who asks for it, as an author; whether anybody may is for the caller.

    Not into an empty studio, whose first person is its admin and has a link.
    """
    row = read_profile_fields(name=name, email=None, display="")
    row["password"] = hash_new_password(password, row["name"])
    with studio.write() as db:
        if db.scalar(select(people.c.id).limit(1)) is None:
            raise Conflict("nobody looks after this studio yet", "use the link of its first start")
        person = insert_person(db, row, check_roles(["author"]))
        write_audit(db, person, "sign_up", person.id, roles=["author"])
    return person


def read_profile_fields(*, name: str, email: str | None, display: str) -> dict[str, Any]:
    """Give name, address and display name as they are kept, or refuse them."""
    # Two names that look alike are one: small letters, in their plainest form.
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    if not _NAME.fullmatch(plain):
        raise InputError(
            "a name has 1 to 100 letters and digits, and may have . + - _ after the first",
            "choose another",
        )
    address = email.strip().casefold() if email and email.strip() else None
    if address and (len(address) > 254 or not _EMAIL.fullmatch(address)):
        raise InputError(f"{email!r} is no e-mail address", "write it as ann@example.org")
    shown = " ".join(display.split())
    if len(shown) > 200 or not shown.replace(" ", "").isprintable():
        raise InputError("a display name has at most 200 printable characters", "shorten it")
    return {"name": plain, "email": address, "display": shown}


def check_roles(roles: Iterable[str]) -> frozenset[Role]:
    """Give roles as a set, or refuse those that are none."""
    names = frozenset(roles)
    for name in sorted(names - {*ROLES}):
        raise InputError(f"there is no role {name!r}", closest(name, ROLES))
    return cast(frozenset[Role], names)


def insert_person(db: Connection, row: dict[str, Any], roles: Collection[Role]) -> Person:
    """Write a new person, of whom two at once are one: the other is told that the name is taken."""
    person_id = insert_new(db, people, row)
    if person_id is None:
        taken = db.scalar(select(people.c.id).where(people.c.name == row["name"]))
        what = f"the name {row['name']}" if taken else "this e-mail address"
        raise Conflict(f"{what} is taken", "choose another, or sign in")
    rows = [{"person_id": person_id, "role": role} for role in sorted(roles)]
    if rows:
        db.execute(insert(role_rows), rows)
    return Person(person_id, row["name"], frozenset(roles))


def load_person(
    db: Connection, person_id: str, *, scopes: Iterable[str] = (), lock: bool = False
) -> Person:
    """Read who has this identity; nobody who was deleted has one. `lock` it to change it."""
    wanted = select(people).where(people.c.id == person_id, people.c.deleted_at.is_(None))
    row = db.execute(wanted.with_for_update() if lock else wanted).mappings().one_or_none()
    if row is None:
        raise NotFound("there is no such person", "look at: fabula studio user list")
    return make_person(db, row["id"], row["name"], scopes)


def make_person(
    db: Connection, person_id: str, name: str | None, scopes: Iterable[str] = ()
) -> Person:
    """Give the person of a row that was read already, with the roles of this moment."""
    roles = db.scalars(select(role_rows.c.role).where(role_rows.c.person_id == person_id))
    return Person(person_id, name or "", frozenset(roles), frozenset(scopes))


def find_person(studio: Studio, name: str) -> Person:
    """Find somebody by name, e-mail address or identity."""
    plain = unicodedata.normalize("NFKC", name).casefold().strip()
    with studio.read() as db:
        known = or_(people.c.name == plain, people.c.email == plain, people.c.id == plain)
        found = db.scalar(select(people.c.id).where(known, people.c.deleted_at.is_(None)))
        if found is None:
            raise NotFound(f"there is nobody called {name}", "look at: fabula studio user list")
        return load_person(db, found)


def list_people(studio: Studio, actor: Person | None) -> list[Profile]:
    """Give all people by name. For admins, and who runs the machine."""
    if actor:
        actor.need("admin")
    with studio.snapshot() as db:
        return _read_profiles(db, people.c.deleted_at.is_(None))


def read_profile(studio: Studio, actor: Person | None, person_id: str) -> Profile:
    """Give what is known of a person: oneself, or anyone for an admin."""
    if actor and actor.id != person_id and not actor.may():
        raise NotFound("there is no such person")
    with studio.snapshot() as db:
        profiles = _read_profiles(db, people.c.deleted_at.is_(None) & (people.c.id == person_id))
    if not profiles:
        raise NotFound("there is no such person")
    return profiles[0]


def change_profile(
    studio: Studio, person: Person, *, display: str | None = None, email: str | None = None
) -> Profile:
    """Change one's display name or e-mail address; "" takes it away, None leaves it as it is."""
    row = read_profile_fields(name=person.name, email=email, display=display or "")
    given = {"display": display, "email": email}
    wanted = {name: row[name] for name, value in given.items() if value is not None}
    with studio.write() as db:
        load_person(db, person.id, lock=True)
        before = db.execute(select(people).where(people.c.id == person.id)).mappings().one()
        changed = {name: value for name, value in wanted.items() if before[name] != value}
        if changed:
            try:
                db.execute(update(people).where(people.c.id == person.id).values(changed))
            # Whose it is, is for nobody to find out.
            except IntegrityError:
                raise Conflict(
                    "this e-mail address cannot be yours here", "choose another"
                ) from None
            write_audit(db, person, "change_profile", person.id, fields=sorted(changed))
    return read_profile(studio, person, person.id)


def _read_profiles(db: Connection, which: ColumnElement[bool]) -> list[Profile]:
    joined = select(role_rows).join(people, people.c.id == role_rows.c.person_id).where(which)
    roles: dict[str, set[Role]] = {}
    for row in db.execute(joined).mappings():
        roles.setdefault(row["person_id"], set()).add(row["role"])
    return [
        Profile(
            Person(row["id"], row["name"] or "", frozenset(roles.get(row["id"], ()))),
            row["email"],
            row["display"],
            row["password"] is not None,
            row["created_at"],
            row["seen_at"],
        )
        for row in db.execute(select(people).where(which).order_by(people.c.name)).mappings()
    ]


def set_roles(studio: Studio, actor: Person | None, person_id: str, roles: Iterable[str]) -> Person:
    """Give a person these roles and no others; the studio keeps an admin."""
    if actor:
        actor.need("admin")
    wanted = check_roles(roles)
    with studio.write() as db:
        before = load_person(db, person_id, lock=True)
        if "admin" not in wanted:
            need_other_admin(db, person_id)
        return write_roles(db, actor, before, wanted)


def write_roles(
    db: Connection, actor: Person | None, before: Person, wanted: frozenset[Role]
) -> Person:
    """Write the roles of a person who is locked, and who gave them."""
    if before.roles != wanted:
        db.execute(delete(role_rows).where(role_rows.c.person_id == before.id))
        for role in sorted(wanted):
            db.execute(insert(role_rows).values(person_id=before.id, role=role))
        changed = {"before": sorted(before.roles), "after": sorted(wanted)}
        write_audit(db, actor, "set_roles", before.id, **changed)
    return replace(before, roles=wanted)


def need_other_admin(db: Connection, person_id: str) -> None:
    """Refuse to go on where this person is the only admin."""
    # Locked, so that two who take the role from one another do not both succeed.
    rows = select(role_rows.c.person_id).where(role_rows.c.role == "admin").with_for_update()
    admins = set(db.scalars(rows))
    if admins == {person_id}:
        raise Conflict("this is the last admin of the studio", "make somebody else admin first")
