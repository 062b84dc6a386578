"""Where somebody is signed in, as they see it themselves, and how that ends.

A session is called by the beginning of its digest: its owner can tell it from others, and nobody
gets in by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from fabula.core.errors import NotFound
from fabula.studio._secrets import digest_secret
from fabula.studio.database import Studio
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import now, sessions

_LENGTH = 32


@dataclass(frozen=True)
class OpenSession:
    """A browser that somebody is signed in with. `network` is where it was seen last, to the first
    24 bits of an address (48 of IPv6); `is_current` marks the one that asks."""

    id: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    network: str
    is_current: bool


def list_sessions(studio: Studio, person: Person, secret: str = "") -> list[OpenSession]:
    """Give one's sessions, the one seen last first; `secret` is that of who asks."""
    own = digest_secret(secret) if secret else ""
    live = (sessions.c.person_id == person.id) & (sessions.c.expires_at > now())
    wanted = select(sessions).where(live).order_by(sessions.c.seen_at.desc(), sessions.c.digest)
    with studio.read() as db:
        return [
            OpenSession(
                row["digest"][:_LENGTH],
                row["created_at"],
                row["seen_at"],
                row["expires_at"],
                row["network"],
                row["digest"] == own,
            )
            for row in db.execute(wanted).mappings()
        ]


def end_session(studio: Studio, person: Person, session_id: str) -> None:
    """End one of one's sessions."""
    with studio.write() as db:
        is_it = sessions.c.digest.startswith(session_id, autoescape=True)
        ended = delete(sessions).where(sessions.c.person_id == person.id, is_it)
        if len(session_id) != _LENGTH or not db.execute(ended).rowcount:
            raise NotFound("there is no such session", "look at your list of sessions")
        write_audit(db, person, "end_session", person.id)


def end_other_sessions(studio: Studio, person: Person, secret: str = "") -> int:
    """End all sessions of a person but that of `secret`; gives how many."""
    others = (sessions.c.person_id == person.id) & (sessions.c.digest != digest_secret(secret))
    with studio.write() as db:
        count = db.execute(delete(sessions).where(others)).rowcount
        if count:
            write_audit(db, person, "end_sessions", person.id, count=count)
    return count
