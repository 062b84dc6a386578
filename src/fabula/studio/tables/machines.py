"""Machine co-authors on offer, which story has which, and the work that waits for them."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from fabula.studio.tables._columns import METADATA, Json, Word, belongs_to, identity, moment

# `spec` is a co-author's: `embedded`, `api('…', base_url='…')`. A draining machine finishes what
# it has and gets nothing new. A quota counts suggestions a month; -1 is without limit.
machines = Table(
    "machines",
    METADATA,
    identity(),
    Column("name", String(100), nullable=False, unique=True),
    Column("spec", Text, nullable=False),
    Column("kind", Word, nullable=False, default="scene_entry"),
    Column("status", Word, nullable=False, default="inactive"),
    Column("quota", Integer, nullable=False, default=-1),
    Column("decoding", Json, nullable=False, default=dict),
    moment("created_at"),
    CheckConstraint("status IN ('active', 'draining', 'inactive')", name="status"),
    CheckConstraint("quota >= -1", name="quota"),
)

# Stories uploaded through STORIUM's door; the identity is the MD5 of their canonical JSON.
stories = Table(
    "stories",
    METADATA,
    Column("id", String(32), primary_key=True),
    Column("pid", String(200), index=True),
    Column("exported_at", String(64)),
    Column("story", Json, nullable=False),
    Column("status", Word, nullable=False, default="pending"),
    # Left out of statistics, as a game can be; all stories of a game (`pid`) are.
    Column("is_excluded", Boolean, nullable=False, default=False),
    moment("created_at"),
    CheckConstraint("status IN ('pending', 'ready', 'failed')", name="status"),
)

# Which machine writes for which story; the row of the greatest number counts, earlier ones tell
# what was. `story` is a game's identity or that of an uploaded story. `turn` counts decisions of
# a kind, `states` is what every machine was at that moment, by name: from both a decision can be
# made again. Nothing is taken out.
assignments = Table(
    "assignments",
    METADATA,
    identity(),
    Column("story", String(32), nullable=False),
    Column("kind", Word, nullable=False, default="scene_entry"),
    Column("number", Integer, nullable=False),
    belongs_to("machines", "machine_id", on_delete="RESTRICT"),
    Column("reason", Word, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("states", Json, nullable=False),
    moment("assigned_at"),
    UniqueConstraint("story", "kind", "number"),
    UniqueConstraint("kind", "turn"),
    CheckConstraint("reason IN ('first', 'inactive', 'quota', 'chosen')", name="reason"),
)

# Work to be done outside the web process. A job that is leased belongs to a worker until
# `leased_until`; if it is not heard of by then, anyone may take it.
jobs = Table(
    "jobs",
    METADATA,
    identity(),
    Column("kind", Word, nullable=False),
    Column("key", String(64), nullable=False),
    Column("machine_id", String(32)),
    Column("payload", Json, nullable=False, default=dict),
    Column("state", Word, nullable=False, default="waiting"),
    Column("priority", Integer, nullable=False, default=0),
    Column("attempts", Integer, nullable=False, default=0),
    Column("most_attempts", Integer, nullable=False, default=3),
    Column("worker", String(100)),
    Column("problem", Text, nullable=False, default=""),
    moment("created_at"),
    moment("due_at"),
    moment("leased_until", nullable=True),
    moment("ended_at", nullable=True),
    UniqueConstraint("kind", "key"),
    CheckConstraint("state IN ('waiting', 'leased', 'done', 'failed', 'cancelled')", name="state"),
)
Index("ix_jobs_next", jobs.c.state, jobs.c.due_at)
