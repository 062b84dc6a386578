"""People, what they may do, how they come in, and what was done."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Integer, String, Table, UniqueConstraint

from fabula.studio.tables._columns import METADATA, Json, Word, belongs_to, identity, moment

# `deleted_at`: the row stays for what refers to it, without anything that says who it was.
people = Table(
    "people",
    METADATA,
    identity(),
    Column("name", String(100), unique=True),
    Column("email", String(254), unique=True),
    Column("display", String(200), nullable=False, default=""),
    Column("password", String(200)),
    Column("issuer", String(500)),
    Column("subject", String(255)),
    moment("created_at"),
    moment("seen_at", nullable=True),
    moment("deleted_at", nullable=True),
    UniqueConstraint("issuer", "subject"),
)

roles = Table(
    "roles",
    METADATA,
    belongs_to("people", "person_id", primary_key=True),
    Column("role", Word, primary_key=True),
    CheckConstraint("role IN ('author', 'annotator', 'researcher', 'admin')", name="role"),
)

# Of what a browser or a program shows to be let in only a digest is kept.
sessions = Table(
    "sessions",
    METADATA,
    Column("digest", String(64), primary_key=True),
    belongs_to("people", "person_id"),
    Column("csrf", String(64), nullable=False),
    # What a sign-in elsewhere gave beside the roles.
    Column("scopes", Json, nullable=False, default=list),
    moment("created_at"),
    moment("expires_at"),
    # When and from which network it was used last, for its owner to know it by.
    moment("seen_at"),
    Column("network", String(64), nullable=False, default=""),
)

tokens = Table(
    "tokens",
    METADATA,
    identity(),
    belongs_to("people", "person_id"),
    Column("name", String(100), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("scopes", Json, nullable=False, default=list),
    moment("created_at"),
    moment("used_at", nullable=True),
    moment("expires_at", nullable=True),
    moment("revoked_at", nullable=True),
)

# A link that works once: the first person's way in, an invitation, a new password.
links = Table(
    "links",
    METADATA,
    Column("digest", String(64), primary_key=True),
    belongs_to("people", "person_id", nullable=True),
    Column("purpose", Word, nullable=False),
    Column("roles", Json, nullable=False, default=list),
    moment("created_at"),
    moment("expires_at"),
    moment("used_at", nullable=True),
    CheckConstraint("purpose IN ('first', 'invite', 'password')", name="purpose"),
)

# Who did what to what, by identities alone: nothing in it says who a person was once the row in
# `people` is emptied. Append-only: triggers refuse to change or take out a row.
audit = Table(
    "audit",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=True),
    moment("at"),
    Column("person_id", String(32), index=True),
    Column("action", String(64), nullable=False),
    Column("object", String(200), nullable=False, default=""),
    Column("detail", Json, nullable=False, default=dict),
)

# Sign-ins that failed lately, by a digest of the name or of the address they came from.
attempts = Table(
    "attempts",
    METADATA,
    Column("digest", String(64), primary_key=True),
    Column("failures", Integer, nullable=False),
    moment("last_at"),
)

# What belongs to the studio as a whole, such as the key of its raters' pseudonyms.
settings = Table(
    "settings",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("value", Json, nullable=False),
)
