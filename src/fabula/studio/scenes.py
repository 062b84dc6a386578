"""Scenes and characters of a game, and the game as its members see it.

A narrator opens scenes one after the other and closes them; moves are made in a scene that is
open. A player makes characters of their own; a narrator makes any, and says who plays them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Table, func, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.database import Studio
from fabula.studio.games import (
    LONGEST_NAME,
    Character,
    Game,
    Member,
    Scene,
    check_key,
    check_text,
    find_game,
    list_members,
    lock_game,
    need_member,
    pick_fields,
)
from fabula.studio.people import Person
from fabula.studio.tables import cards, characters, entries, entry_cards, members, new_id, scenes


@dataclass(frozen=True)
class LaidCard:
    """A card on the table with an entry, as it was then, in STORIUM's JSON."""

    use: str
    card_id: str
    snapshot: Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """An entry that was published, with the cards on the table."""

    id: str
    scene_id: str
    seq_id: int
    format: str
    author_id: str | None
    character_id: str | None
    text: str
    polarity: int | None
    published_at: datetime
    draft_id: str | None = None
    cards: tuple[LaidCard, ...] = ()


@dataclass(frozen=True)
class Card:
    """A card of a game; the character is whose hand it is in. `card_id` names it in its game."""

    game_id: str
    card_id: str
    number: int
    namespace: str
    name: str
    description: str
    polarity: int
    is_wild: bool
    is_deleted: bool
    stack_size: int | None
    success_stakes: str | None
    failure_stakes: str | None
    challenge_points: int | None
    character_id: str | None


@dataclass(frozen=True)
class GameView:
    """A game and all that belongs to it, but its entries, of which there may be thousands."""

    game: Game
    members: tuple[Member, ...]
    characters: tuple[Character, ...]
    cards: tuple[Card, ...]
    scenes: tuple[Scene, ...]


def add_scene(studio: Studio, person: Person, game_id: str, *, key: str, title: str = "") -> Scene:
    """Open the next scene of a game."""
    with studio.write() as db:
        return insert_scene(db, person, game_id, key, title)


def insert_scene(db: Connection, person: Person, game_id: str, key: str, title: str = "") -> Scene:
    """Write the next scene of a game, or give the one that was made with this key."""
    check_text(title, "the title", LONGEST_NAME)
    lock_game(db, person, game_id, "narrator")
    if _find_by_key(db, scenes, game_id, check_key(key)) is None:
        number = _last(db, scenes, "number", game_id) + 1
        values = {"id": new_id(), "game_id": game_id, "key": key, "number": number}
        db.execute(scenes.insert().values(**values, title=title))
    return find_scene(db, game_id, key=key)


def find_scene(
    db: Connection, game_id: str, scene_id: str | None = None, *, key: str | None = None
) -> Scene:
    """Give a scene of a game, by its identity or by the key it was made with."""
    wanted = scenes.c.id == scene_id if key is None else scenes.c.key == key
    row = db.execute(select(scenes).where(scenes.c.game_id == game_id, wanted)).first()
    if row is None:
        raise NotFound(f"the game has no scene {scene_id or key}", "see its list of scenes")
    return Scene(**pick_fields(row, Scene))


def change_scene(
    studio: Studio,
    person: Person,
    game_id: str,
    scene_id: str,
    *,
    title: str | None = None,
    is_complete: bool | None = None,
) -> Scene:
    """Call a scene otherwise, close it, or open it again."""
    values: dict[str, Any] = {}
    if title is not None:
        values["title"] = check_text(title, "the title", LONGEST_NAME)
    if is_complete is not None:
        values["is_complete"] = is_complete
    with studio.write() as db:
        lock_game(db, person, game_id, "narrator")
        find_scene(db, game_id, scene_id)
        if values:
            db.execute(update(scenes).where(scenes.c.id == scene_id).values(**values))
        return find_scene(db, game_id, scene_id)


def close_scene(studio: Studio, person: Person, game_id: str, scene_id: str) -> Scene:
    """Say that a scene is complete: nothing is written in it any more."""
    return change_scene(studio, person, game_id, scene_id, is_complete=True)


def add_character(
    studio: Studio,
    person: Person,
    game_id: str,
    *,
    key: str,
    name: str,
    description: str = "",
    player_id: str | None = None,
) -> Character:
    """Make a character. One of a player's is their own; a narrator says whose it is."""
    with studio.write() as db:
        return insert_character(
            db, person, game_id, key, name, description=description, player_id=player_id
        )


def insert_character(
    db: Connection,
    person: Person,
    game_id: str,
    key: str,
    name: str,
    *,
    description: str = "",
    player_id: str | None = None,
) -> Character:
    """Write a character, or give the one that was made with this key."""
    if not check_text(name, "the name", LONGEST_NAME).strip():
        raise InputError("the name is empty", "give the character a name")
    check_text(description, "the description")
    lock_game(db, person, game_id, "narrator", "player")
    if need_member(db, person, game_id) == "player":
        if player_id not in (None, person.id):
            raise NotAllowed("a player makes characters of their own", "leave player_id out")
        player_id = person.id
    _need_player(db, game_id, player_id)
    if _find_by_key(db, characters, game_id, check_key(key)) is None:
        values = {
            "id": new_id(),
            "game_id": game_id,
            "key": key,
            "seq_id": _last(db, characters, "seq_id", game_id) + 1,
            "name": name,
            "description": description,
            "player_id": player_id,
        }
        db.execute(characters.insert().values(**values))
    return find_character(db, game_id, key=key)


def find_character(
    db: Connection, game_id: str, character_id: str | None = None, *, key: str | None = None
) -> Character:
    """Give a character of a game, by its identity or by the key it was made with."""
    wanted = characters.c.id == character_id if key is None else characters.c.key == key
    row = db.execute(select(characters).where(characters.c.game_id == game_id, wanted)).first()
    if row is None:
        raise NotFound(f"the game has no character {character_id or key}", "see its characters")
    return Character(**pick_fields(row, Character))


def need_character(db: Connection, person: Person, game_id: str, character_id: str) -> Character:
    """Give a character to who may act as it: its player, or a narrator."""
    part = need_member(db, person, game_id, "narrator", "player")
    character = find_character(db, game_id, character_id)
    if part != "narrator" and character.player_id != person.id:
        raise NotAllowed(f"{character.name} is played by somebody else", "take your own character")
    return character


_KEEP: Any = object()


def change_character(
    studio: Studio,
    person: Person,
    game_id: str,
    character_id: str,
    *,
    name: str | None = None,
    description: str | None = None,
    player_id: str | None = _KEEP,
) -> Character:
    """Change a character of one's own, or, as narrator, any, and who plays it."""
    values: dict[str, Any] = {}
    if name is not None:
        if not check_text(name, "the name", LONGEST_NAME).strip():
            raise InputError("the name is empty", "give the character a name")
        values["name"] = name
    if description is not None:
        values["description"] = check_text(description, "the description")
    with studio.write() as db:
        lock_game(db, person, game_id, "narrator", "player")
        need_character(db, person, game_id, character_id)
        if player_id is not _KEEP:
            need_member(db, person, game_id, "narrator")
            _need_player(db, game_id, player_id)
            values["player_id"] = player_id
        if values:
            db.execute(update(characters).where(characters.c.id == character_id).values(**values))
        return find_character(db, game_id, character_id)


def read_game(studio: Studio, person: Person, game_id: str) -> GameView:
    """Give a game with its members, characters, cards and scenes."""
    with studio.read() as db:
        game = find_game(db, person, game_id)

        def rows(table: Table, order: str) -> list[Row[Any]]:
            query = select(table).where(table.c.game_id == game_id).order_by(table.c[order])
            return list(db.execute(query).all())

        return GameView(
            game,
            tuple(list_members(db, person, game_id)),
            tuple(Character(**pick_fields(row, Character)) for row in rows(characters, "seq_id")),
            tuple(Card(**pick_fields(row, Card)) for row in rows(cards, "number")),
            tuple(Scene(**pick_fields(row, Scene)) for row in rows(scenes, "number")),
        )


def list_entries(
    studio: Studio,
    person: Person,
    game_id: str,
    *,
    scene_id: str | None = None,
    offset: int = 0,
    limit: int = 100,
    newest_first: bool = False,
) -> tuple[list[Entry], int]:
    """Give some entries of a game, or of one scene, in their order, and how many there are."""
    which = entries.c.game_id == game_id if scene_id is None else entries.c.scene_id == scene_id
    order = entries.c.seq_id.desc() if newest_first else entries.c.seq_id
    # The numbers are cut off an index alone: entries that are passed over are not read.
    wanted = select(entries.c.seq_id).where(which).order_by(order).offset(offset).limit(limit)
    here = (scenes.c.id == scene_id) & (scenes.c.game_id == game_id)
    with studio.read() as db:
        need_member(db, person, game_id)
        if scene_id is not None and db.execute(select(scenes.c.id).where(here)).first() is None:
            return [], 0
        total = db.execute(select(func.count()).select_from(entries).where(which)).scalar_one()
        query = select(entries).where(
            entries.c.game_id == game_id, entries.c.seq_id.in_(db.scalars(wanted).all())
        )
        rows = db.execute(query.order_by(order)).all()
        laid = _read_laid(db, [row.id for row in rows])
    return [_entry(row, laid.get(row.id, ())) for row in rows], total


def find_entry(db: Connection, entry_id: str) -> Entry:
    """Give an entry. Who may have it, is for the verb that asks to say."""
    row = db.execute(select(entries).where(entries.c.id == entry_id)).first()
    if row is None:
        raise NotFound(f"there is no entry {entry_id}", "see the game's entries")
    return _entry(row, _read_laid(db, [entry_id]).get(entry_id, ()))


def _entry(row: Row[Any], laid: Iterable[LaidCard]) -> Entry:
    return Entry(cards=tuple(laid), **pick_fields(row, Entry, {"cards"}))


def _read_laid(db: Connection, entry_ids: Sequence[str]) -> dict[str, list[LaidCard]]:
    query = (
        select(entry_cards)
        .where(entry_cards.c.entry_id.in_(entry_ids))
        .order_by(entry_cards.c.use, entry_cards.c.position)
    )
    laid: dict[str, list[LaidCard]] = {}
    for row in db.execute(query):
        laid.setdefault(row.entry_id, []).append(LaidCard(row.use, row.card_id, row.snapshot))
    return laid


def need_open_scene(db: Connection, game_id: str, scene_id: str) -> Scene:
    """Give a scene in which something can still be written."""
    scene = find_scene(db, game_id, scene_id)
    if scene.is_complete:
        raise Conflict(f"scene {scene.number} is complete", "write in the one that is open")
    return scene


def _need_player(db: Connection, game_id: str, player_id: str | None) -> None:
    if player_id is None:
        return
    query = select(members.c.part).where(
        members.c.game_id == game_id, members.c.person_id == player_id
    )
    if db.execute(query).scalar() not in ("narrator", "player"):
        raise NotFound(f"{player_id} does not play in this game", "invite them first")


def _find_by_key(db: Connection, table: Table, game_id: str, key: str) -> Row[Any] | None:
    query = select(table.c.id).where(table.c.game_id == game_id, table.c.key == key)
    return db.execute(query).first()


def _last(db: Connection, table: Table, column: str, game_id: str) -> int:
    query = select(func.max(table.c[column])).where(table.c.game_id == game_id)
    return db.execute(query).scalar() or 0
