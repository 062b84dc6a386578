"""What a person finds when they come in: games to look for, drafts to go on with, a first story.

Lists are cut in the database: who has thousands of games waits no longer than who has three.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, func, or_, select

from fabula.studio.database import Studio
from fabula.studio.drafts import Draft, insert_draft
from fabula.studio.games import Game, Part, insert_game, make_game, select_games
from fabula.studio.people import Person
from fabula.studio.scenes import insert_character, insert_scene
from fabula.studio.storium_json import import_samples
from fabula.studio.tables import characters, drafts, entries, games, members, scenes

FIRST_TITLE, FIRST_SCENE, FIRST_CHARACTER = "Untitled story", "Beginning", "Protagonist"
_OPENING_WORDS = 30


@dataclass(frozen=True)
class GameListing:
    """A game in a list: how much was told in it, and when last."""

    game: Game
    entries: int
    last_entry_at: datetime | None


@dataclass(frozen=True)
class DraftListing:
    """A draft that is being written, and where: the words so far, and how it begins."""

    id: str
    game_id: str
    game_title: str
    scene_id: str
    scene_number: int
    scene_title: str
    format: str
    character_name: str | None
    words: int
    opening: str
    saved_at: datetime


def search_games(
    studio: Studio,
    person: Person,
    *,
    search: str = "",
    part: Part | None = None,
    is_archived: bool = False,
    offset: int = 0,
    limit: int = 24,
) -> tuple[list[GameListing], int]:
    """Give some games of a person, the one that changed last first, and how many there are.

    `search` looks in titles, worlds and descriptions. A researcher sees all games.
    """
    told = entries.c.game_id == games.c.id
    count = select(func.count()).select_from(entries).where(told).scalar_subquery()
    # The last by number is found by the index; the latest moment would need every row.
    newest = select(entries.c.published_at).where(told).order_by(entries.c.seq_id.desc()).limit(1)
    query = select_games(person).where(
        games.c.archived_at.is_not(None) if is_archived else games.c.archived_at.is_(None)
    )
    if part is not None:
        query = query.where(members.c.part == part)
    for word in search.split():
        query = query.where(_holds(word))
    numbered = query.with_only_columns(func.count(games.c.id))
    wanted = query.add_columns(count.label("told"), newest.scalar_subquery().label("told_at"))
    wanted = wanted.order_by(games.c.changed_at.desc(), games.c.id).offset(offset).limit(limit)
    with studio.read() as db:
        total = db.execute(numbered).scalar_one()
        rows = db.execute(wanted).all()
    found = [
        GameListing(make_game(row, row.part or "reader"), row.told, row.told_at) for row in rows
    ]
    return found, total


def _holds(word: str) -> ColumnElement[bool]:
    """Whether a game holds a word; SQLite makes only ASCII letters small, so as it stands too."""
    texts = (games.c.title, games.c.world, games.c.description)
    as_it_is = [text.contains(word, autoescape=True) for text in texts]
    in_small = [func.lower(text).contains(word.lower(), autoescape=True) for text in texts]
    return or_(*as_it_is, *in_small)


def list_unfinished(
    studio: Studio, person: Person, *, game_id: str | None = None, offset: int = 0, limit: int = 6
) -> tuple[list[DraftListing], int]:
    """Give some drafts that a person is writing, the last saved first, and how many there are."""
    which = (drafts.c.author_id == person.id) & (drafts.c.state == "open")
    if game_id is not None:
        which &= drafts.c.game_id == game_id
    query = (
        select(
            drafts,
            games.c.title.label("game_title"),
            scenes.c.number.label("scene_number"),
            scenes.c.title.label("scene_title"),
            characters.c.name.label("character_name"),
        )
        .join(games, games.c.id == drafts.c.game_id)
        .join(scenes, scenes.c.id == drafts.c.scene_id)
        .outerjoin(characters, characters.c.id == drafts.c.character_id)
        .where(which)
        .order_by(drafts.c.saved_at.desc(), drafts.c.id)
    )
    with studio.read() as db:
        total = db.execute(select(func.count()).select_from(drafts).where(which)).scalar_one()
        rows = db.execute(query.offset(offset).limit(limit)).all()
    return [_make_draft_listing(row) for row in rows], total


def _make_draft_listing(row: Row[Any]) -> DraftListing:
    words = row.text.split()
    opening = " ".join(words[:_OPENING_WORDS]) + ("…" if len(words) > _OPENING_WORDS else "")
    names = set(DraftListing.__dataclass_fields__) - {"words", "opening"}
    values = {name: getattr(row, name) for name in names}
    return DraftListing(words=len(words), opening=opening, **values)


def start_story(studio: Studio, person: Person, *, key: str, title: str = FIRST_TITLE) -> Draft:
    """Make a game with one scene and one character, and open the draft of its first entry."""
    with studio.write() as db:
        game = insert_game(db, person, key, title)
        scene = insert_scene(db, person, game.id, key, FIRST_SCENE)
        insert_character(db, person, game.id, key, FIRST_CHARACTER, player_id=person.id)
        return insert_draft(
            db, person, key, game_id=game.id, scene_id=scene.id, format="establishment"
        )


def open_example(studio: Studio, person: Person) -> str:
    """Give a sample game that can be written in; the samples are taken in if need be."""
    samples = import_samples(studio, person)
    is_open = scenes.c.is_complete.is_(False) & games.c.archived_at.is_(None)
    query = (
        select(games.c.id)
        .join(scenes, scenes.c.game_id == games.c.id)
        .where(games.c.id.in_(samples), is_open)
        .order_by(games.c.title)
    )
    with studio.read() as db:
        return str(db.execute(query).scalar() or samples[0])
