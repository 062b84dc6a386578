"""Whose words a game is made of: counts for every entry, for every author, and in all.

What was published stands as its draft held it, marks and all. Entries that came from elsewhere
have no draft, and those of somebody who was forgotten have none any more: nobody knows who wrote
these, so they are counted apart and never as a person's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select

from fabula.studio.authorship import (
    Origin,
    Shares,
    count_characters,
    count_words,
    parse_marks,
    share_counts,
)
from fabula.studio.database import Studio
from fabula.studio.games import Game, find_game, pick_fields
from fabula.studio.people import Person
from fabula.studio.tables import characters, drafts, entries, people, scenes

# Entries whose texts are in memory at a time.
_WINDOW = 500


@dataclass(frozen=True)
class Counts:
    """Characters and words by who wrote them."""

    characters: Counter[Origin] = field(default_factory=Counter)
    words: Counter[Origin] = field(default_factory=Counter)

    def add(self, other: Counts) -> None:
        """Count what another has counted."""
        self.characters.update(other.characters)
        self.words.update(other.words)

    def share(self) -> tuple[Shares, Shares]:
        """Shares of the characters, and of the words."""
        return share_counts(self.characters), share_counts(self.words)


@dataclass(frozen=True)
class EntryCounts:
    """An entry, and whose it is; `counts` is None where nobody knows who wrote it."""

    seq_id: int
    scene: int
    character: str | None
    format: str
    author_id: str | None
    draft_id: str | None
    published_at: datetime
    counts: Counts | None


@dataclass(frozen=True)
class AuthorCounts:
    """Somebody who wrote in a game, in how many entries, and what."""

    author_id: str | None
    name: str
    entries: int
    counts: Counts


@dataclass(frozen=True)
class GameCounts:
    """A game's entries in their order, its authors, those with most words first, and all of it."""

    game: Game
    entries: list[EntryCounts]
    authors: list[AuthorCounts]
    total: Counts

    @property
    def unknown(self) -> int:
        """How many entries nobody knows the author of."""
        return sum(entry.counts is None for entry in self.entries)


def count_game(studio: Studio, person: Person, game_id: str) -> GameCounts:
    """Count the characters and words of a game, for who may read it."""
    with studio.snapshot() as db:
        game = find_game(db, person, game_id)
        counted = [_count_entry(row) for row in _read_entries(db, game_id)]
        names = _name_authors(db, game_id)
    total, authors, numbers = Counts(), dict[str | None, Counts](), Counter[str | None]()
    for entry in counted:
        if entry.counts is not None:
            total.add(entry.counts)
            authors.setdefault(entry.author_id, Counts()).add(entry.counts)
            numbers[entry.author_id] += 1
    ranked = sorted(authors.items(), key=lambda item: (-item[1].words.total(), item[0] or ""))
    described = [
        AuthorCounts(author, names.get(author or "", ""), numbers[author], counts)
        for author, counts in ranked
    ]
    return GameCounts(game, counted, described, total)


def _read_entries(db: Connection, game_id: str) -> Iterator[Any]:
    """Read the entries of a game with what their drafts say, some at a time."""
    query = (
        select(
            entries.c.seq_id,
            scenes.c.number.label("scene"),
            characters.c.name.label("character"),
            entries.c.format,
            entries.c.author_id,
            drafts.c.id.label("draft_id"),
            entries.c.published_at,
            drafts.c.text,
            drafts.c.marks,
        )
        .join(scenes, scenes.c.id == entries.c.scene_id)
        .outerjoin(characters, characters.c.id == entries.c.character_id)
        .outerjoin(drafts, drafts.c.id == entries.c.draft_id)
        .where(entries.c.game_id == game_id)
        .order_by(entries.c.seq_id)
        .limit(_WINDOW)
    )
    last = -(2**31)
    while rows := db.execute(query.where(entries.c.seq_id > last)).all():
        yield from rows
        last = rows[-1].seq_id


def _count_entry(row: Any) -> EntryCounts:
    counts = None
    if row.draft_id is not None:
        marks = parse_marks(row.marks)
        counts = Counts(count_characters(marks), count_words(row.text, marks))
    return EntryCounts(counts=counts, **pick_fields(row, EntryCounts, {"counts"}))


def _name_authors(db: Connection, game_id: str) -> dict[str, str]:
    """What the authors of a game are called, whether they take part in it still or not."""
    wrote = select(entries.c.author_id).where(entries.c.game_id == game_id)
    query = select(people.c.id, people.c.display, people.c.name).where(people.c.id.in_(wrote))
    return {row.id: row.display or row.name or "" for row in db.execute(query)}
