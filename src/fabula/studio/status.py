"""What a studio holds just now, in figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, Connection, Table, func, select, true

from fabula.studio.database import Studio
from fabula.studio.migrations import SchemaState, read_state
from fabula.studio.tables import (
    drafts,
    entries,
    games,
    jobs,
    machines,
    people,
    ratings,
    suggestions,
)


@dataclass(frozen=True)
class StudioStatus:
    """Where the database is, whether its tables are ours, and how many of what there are.

    `counts` is empty where there are no tables to count in.
    """

    database: str
    schema: SchemaState
    counts: Mapping[str, int] = field(default_factory=dict)


def read_status(studio: Studio) -> StudioStatus:
    """Count what there is, at one moment; no password is in the address."""
    address = studio.engine.url.render_as_string(hide_password=True)
    with studio.snapshot() as db:
        schema = read_state(db)
        if schema.state != "current":
            return StudioStatus(address, schema)
        counts = {
            "people": _count(db, people, people.c.deleted_at.is_(None)),
            "games": _count(db, games, games.c.archived_at.is_(None)),
            "entries": _count(db, entries),
            "open drafts": _count(db, drafts, drafts.c.state == "open"),
            "suggestions": _count(db, suggestions),
            "ratings": _count(db, ratings),
            "active machines": _count(db, machines, machines.c.status == "active"),
            "jobs that wait": _count(db, jobs, jobs.c.state == "waiting"),
            "jobs at work": _count(db, jobs, jobs.c.state == "leased"),
            "jobs that failed": _count(db, jobs, jobs.c.state == "failed"),
        }
    return StudioStatus(address, schema, counts)


def _count(db: Connection, table: Table, which: ColumnElement[bool] | None = None) -> int:
    rows = select(func.count()).select_from(table).where(true() if which is None else which)
    return db.scalar(rows) or 0
