"""A studio on one's own machine: one person, who comes in without a password.

Whoever reaches such a studio is that person. It must therefore be nobody else's: the database
notes whose it is, and one with other people in it is refused.
"""

from __future__ import annotations

import getpass
import re

from sqlalchemy import Connection, delete, func, select

from fabula.core.errors import NotAllowed, NotFound
from fabula.studio.database import Studio, make_insert
from fabula.studio.people import (
    ROLES,
    Person,
    insert_person,
    load_person,
    read_profile_fields,
    write_audit,
)
from fabula.studio.sign_in import Session, open_session
from fabula.studio.tables import people, sessions, settings

_OWNER = "local_person"
_NOBODY = "me"


def welcome_owner(studio: Studio, name: str) -> Person:
    """Find the one person of a local studio, or make them, with all roles and no password.

    `name` is what the system calls its user. A studio that anybody else is in is refused: they did
    not agree that all who use this machine may read and write as if they were its admin.
    """
    with studio.write() as db:
        owner_id = _read_owner(db)
        others = select(func.count()).where(people.c.deleted_at.is_(None), people.c.id != owner_id)
        if count := db.scalar(others) or 0:
            raise NotAllowed(
                f"this studio has people who sign in ({count}): without a password anybody on "
                "this machine would write as its admin",
                "leave --local out, or name a database of your own: --database sqlite:///FILE",
            )
        try:
            return load_person(db, owner_id)
        except NotFound:
            return _make_owner(db, name)


def name_system_user() -> str:
    """What the system calls who runs this; nothing where it knows nobody of that number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # as in some containers
        return ""


def open_own_session(studio: Studio) -> Session:
    """Let in whose machine it is."""
    with studio.write() as db:
        person = load_person(db, _read_owner(db))
        write_audit(db, person, "sign_in_local", person.id)
        return open_session(db, person)


def end_own_sessions(studio: Studio) -> Person | None:
    """End what was opened without a password, before a studio is opened to others.

    Gives the person who has no other way in; None where there is nobody like that.
    """
    with studio.write() as db:
        owner_id = _read_owner(db)
        without = (people.c.id == owner_id) & people.c.password.is_(None)
        if db.scalar(select(people.c.id).where(without, people.c.deleted_at.is_(None))) is None:
            return None
        person = load_person(db, owner_id, lock=True)
        if db.execute(delete(sessions).where(sessions.c.person_id == person.id)).rowcount:
            write_audit(db, None, "end_sessions", person.id)
        return person


def _read_owner(db: Connection) -> str:
    return db.scalar(select(settings.c.value).where(settings.c.name == _OWNER)) or ""


def _make_owner(db: Connection, name: str) -> Person:
    # What a system calls its user need not be a name here.
    plain = re.sub(r"[^\w.+-]+", "-", name).strip("._+-")[:100] or _NOBODY
    row = read_profile_fields(name=plain, email=None, display="")
    person = insert_person(db, row, ROLES)
    noted = make_insert(db, settings).values(name=_OWNER, value=person.id)
    db.execute(noted.on_conflict_do_update(index_elements=["name"], set_={"value": person.id}))
    write_audit(db, None, "create_person", person.id, roles=sorted(ROLES))
    return person
