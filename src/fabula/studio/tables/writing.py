"""Drafts and every edit to them, suggestions, what was made of them, and what people think."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Float,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from fabula.studio.tables._columns import METADATA, Json, Word, belongs_to, identity, moment

_Serial = BigInteger().with_variant(Integer, "sqlite")

# `marks`: who wrote which characters of the text as it stands, as runs of [length, source,
# suggestion]; `cards` what is to be on the table when it is published.
drafts = Table(
    "drafts",
    METADATA,
    identity(),
    belongs_to("games", "game_id"),
    belongs_to("scenes", "scene_id"),
    belongs_to("people", "author_id", on_delete="RESTRICT"),
    belongs_to("characters", "character_id", nullable=True, on_delete="SET NULL"),
    Column("key", String(64), nullable=False),
    Column("format", Word, nullable=False),
    Column("cards", Json, nullable=False, default=dict),
    Column("text", Text, nullable=False, default=""),
    Column("marks", Json, nullable=False, default=list),
    Column("version", Integer, nullable=False, default=0),
    Column("state", Word, nullable=False, default="open"),
    moment("created_at"),
    moment("saved_at"),
    UniqueConstraint("author_id", "key"),
    CheckConstraint("state IN ('open', 'published', 'discarded')", name="state"),
)

# A version is one saving: its edits are in the log. Every so many a whole text stands here too.
versions = Table(
    "versions",
    METADATA,
    belongs_to("drafts", "draft_id", primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("key", String(64), nullable=False),
    Column("name", String(200)),
    Column("text", Text),
    Column("marks", Json),
    moment("saved_at"),
    UniqueConstraint("draft_id", "key"),
)

# The log: characters `start` to `stop` of the text before give way to `inserted`. Append-only:
# triggers refuse to change a row, and to take one out unless its draft is in `erasures`.
edits = Table(
    "edits",
    METADATA,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    belongs_to("drafts", "draft_id"),
    Column("version", Integer, nullable=False),
    Column("position", Integer, nullable=False),
    belongs_to("people", "person_id", on_delete="RESTRICT"),
    Column("start", Integer, nullable=False),
    Column("stop", Integer, nullable=False),
    Column("removed", Text, nullable=False),
    Column("inserted", Text, nullable=False),
    Column("source", Word, nullable=False),
    Column("suggestion_id", String(32)),
    moment("made_at"),
    moment("saved_at"),
    UniqueConstraint("draft_id", "version", "position"),
    CheckConstraint("source IN ('person', 'machine')", name="source"),
)

# Drafts that a person had erased; the audit says when and for whom.
erasures = Table(
    "erasures", METADATA, Column("draft_id", String(32), primary_key=True), moment("at")
)

# Asked in a draft, or, through STORIUM's door, for an uploaded story.
suggestions = Table(
    "suggestions",
    METADATA,
    identity(),
    Column("key", String(64), nullable=False),
    belongs_to("people", "person_id", nullable=True, on_delete="SET NULL"),
    belongs_to("games", "game_id", nullable=True),
    belongs_to("drafts", "draft_id", nullable=True, on_delete="SET NULL"),
    belongs_to("stories", "story_id", nullable=True),
    belongs_to("entries", "entry_id", nullable=True, on_delete="SET NULL"),
    belongs_to("machines", "machine_id", nullable=True, on_delete="RESTRICT"),
    Column("kind", Word, nullable=False, default="scene_entry"),
    Column("context", Json, nullable=False),
    Column("position", Integer),
    Column("seen", Json),
    Column("generated", Text, nullable=False, default=""),
    Column("published", Text),
    Column("finalized", Json),
    Column("status", Word, nullable=False, default="pending"),
    Column("problem", Text, nullable=False, default=""),
    Column("wanted", String(64), nullable=False),
    Column("decoding", Json, nullable=False, default=dict),
    Column("seed", BigInteger, nullable=False),
    Column("signature", Text, nullable=False, default=""),
    Column("tokens", Integer),
    moment("asked_at"),
    moment("started_at", nullable=True),
    moment("first_token_at", nullable=True),
    moment("ended_at", nullable=True),
    moment("published_at", nullable=True),
    UniqueConstraint("person_id", "key"),
    UniqueConstraint("story_id", "kind", "key"),
    CheckConstraint(
        "status IN ('pending', 'executing', 'done', 'failed', 'cancelled')", name="status"
    ),
    # What a machine was asked since some moment: its quota, and how fast it is.
    Index("ix_suggestions_machine_asked", "machine_id", "asked_at"),
    # What was published since some moment, the last first.
    Index("ix_suggestions_published", "published_at"),
)

# An opinion of a person on a suggestion. Who gave it may be forgotten; the opinion stays.
ratings = Table(
    "ratings",
    METADATA,
    identity(),
    belongs_to("suggestions", "suggestion_id"),
    Column("rater", String(64), nullable=False, index=True),
    Column("aspect", Word, nullable=False),
    Column("value", Integer),
    Column("comment", Text, nullable=False, default=""),
    moment("rated_at"),
    UniqueConstraint("suggestion_id", "rater", "aspect"),
    CheckConstraint("value IS NULL OR value BETWEEN 1 AND 5", name="value"),
    Index("ix_ratings_rated", "rated_at"),
)

# What metrics say of a suggestion beside what was published: a `Score` a row.
scores = Table(
    "scores",
    METADATA,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    belongs_to("suggestions", "suggestion_id"),
    Column("scorer", String(200), nullable=False),
    Column("aspect", String(64), nullable=False, default=""),
    Column("value", Float),
    Column("status", Word, nullable=False, default="ok"),
    Column("coverage", Float, nullable=False, default=1.0),
    Column("note", Text, nullable=False, default=""),
    Column("signature", Text, nullable=False, default=""),
    UniqueConstraint("suggestion_id", "scorer", "aspect"),
)
