"""Games: scenes, entries, characters, cards, and who plays."""

from __future__ import annotations

from sqlalchemy import (
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

from fabula.studio.tables._columns import METADATA, Json, Word, belongs_to, identity, moment, new_id

# `extra` of a row holds the keys of an exported game that have no column, so that what came in
# goes out again.
games = Table(
    "games",
    METADATA,
    identity(),
    # What exports call it. Two people may each import the same game.
    Column("pid", String(200), nullable=False, default=new_id),
    belongs_to("people", "owner_id", on_delete="RESTRICT"),
    Column("key", String(64)),
    Column("title", String(300), nullable=False),
    Column("description", Text, nullable=False, default=""),
    Column("world", String(200), nullable=False, default=""),
    Column("is_excluded", Boolean, nullable=False, default=False),
    Column("extra", Json, nullable=False, default=dict),
    moment("created_at"),
    moment("changed_at"),
    moment("completed_at", nullable=True),
    moment("archived_at", nullable=True),
    UniqueConstraint("owner_id", "key"),
    UniqueConstraint("owner_id", "pid"),
)

members = Table(
    "members",
    METADATA,
    belongs_to("games", "game_id", primary_key=True),
    belongs_to("people", "person_id", primary_key=True),
    Column("part", Word, nullable=False),
    CheckConstraint("part IN ('narrator', 'player', 'reader')", name="part"),
)

characters = Table(
    "characters",
    METADATA,
    identity(),
    belongs_to("games", "game_id"),
    Column("key", String(64)),
    Column("seq_id", Integer, nullable=False),
    Column("name", String(300), nullable=False, default=""),
    Column("description", Text, nullable=False, default=""),
    belongs_to("people", "player_id", nullable=True, on_delete="SET NULL"),
    Column("extra", Json, nullable=False, default=dict),
    UniqueConstraint("game_id", "seq_id"),
    UniqueConstraint("game_id", "key"),
)

scenes = Table(
    "scenes",
    METADATA,
    identity(),
    belongs_to("games", "game_id"),
    Column("key", String(64)),
    Column("number", Integer, nullable=False),
    Column("title", String(300), nullable=False, default=""),
    Column("is_complete", Boolean, nullable=False, default=False),
    Column("extra", Json, nullable=False, default=dict),
    UniqueConstraint("game_id", "number"),
    UniqueConstraint("game_id", "key"),
)

# A card of a game; a challenge is an obstacle with points and stakes, a place a card like others.
# `card_id` is chosen by who makes it, `number` tells the order in which cards came.
cards = Table(
    "cards",
    METADATA,
    identity(),
    belongs_to("games", "game_id"),
    Column("card_id", String(200), nullable=False),
    Column("number", Integer, nullable=False, default=0),
    Column("namespace", Word, nullable=False),
    Column("name", String(300), nullable=False, default=""),
    Column("description", Text, nullable=False, default=""),
    Column("polarity", Integer, nullable=False, default=0),
    Column("is_wild", Boolean, nullable=False, default=False),
    Column("is_deleted", Boolean, nullable=False, default=False),
    Column("stack_size", Integer),
    Column("success_stakes", Text),
    Column("failure_stakes", Text),
    Column("challenge_points", Integer),
    belongs_to("characters", "character_id", nullable=True, on_delete="SET NULL"),
    Column("extra", Json, nullable=False, default=dict),
    UniqueConstraint("game_id", "card_id"),
    CheckConstraint(
        "namespace IN ('chartype', 'goal', 'person', 'place', 'thing', 'strength', 'weakness', "
        "'obstacle', 'subplot')",
        name="namespace",
    ),
    CheckConstraint("polarity IN (-1, 0, 1)", name="polarity"),
)

entries = Table(
    "entries",
    METADATA,
    identity(),
    belongs_to("games", "game_id"),
    belongs_to("scenes", "scene_id"),
    Column("seq_id", Integer, nullable=False),
    Column("format", Word, nullable=False),
    belongs_to("people", "author_id", nullable=True, on_delete="SET NULL"),
    belongs_to("characters", "character_id", nullable=True, on_delete="SET NULL"),
    Column("text", Text, nullable=False, default=""),
    Column("polarity", Integer),
    # The draft it was published from; one draft is published once.
    Column("draft_id", String(32), unique=True),
    Column("extra", Json, nullable=False, default=dict),
    moment("published_at"),
    UniqueConstraint("game_id", "seq_id"),
    CheckConstraint(
        "format IN ('establishment', 'addition', 'conclusion', 'move', 'refresh', 'subplot')",
        name="format",
    ),
)

# Cards on the table with an entry, in order, as they were then (`snapshot`).
entry_cards = Table(
    "entry_cards",
    METADATA,
    belongs_to("entries", "entry_id", primary_key=True),
    Column("use", Word, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("card_id", String(200), nullable=False),
    Column("snapshot", Json, nullable=False),
    CheckConstraint("use IN ('challenge', 'target', 'played', 'place', 'pickup')", name="use"),
)
Index("ix_entries_scene_seq", entries.c.scene_id, entries.c.seq_id)
