"""Games and who takes part in them: a narrator, players, readers; scenes and characters.

A narrator sets scenes and may do everything in a game; a player writes as the characters that are
theirs; a reader looks on. Researchers and admins may read every game. A game that is archived is
only read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, Table, bindparam, func, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.database import Studio, make_insert
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import characters, entries, games, members, new_id, now, people

Part = Literal["narrator", "player", "reader"]
PARTS: tuple[Part, ...] = ("narrator", "player", "reader")
LONGEST_NAME, LONGEST_TEXT, LONGEST_KEY = 300, 100_000, 64


@dataclass(frozen=True)
class Game:
    """A game and what the person who asked is in it."""

    id: str
    pid: str
    title: str
    description: str
    world: str
    owner_id: str
    part: str
    is_excluded: bool
    created_at: datetime
    changed_at: datetime
    completed_at: datetime | None = None
    archived_at: datetime | None = None


@dataclass(frozen=True)
class Scene:
    """A scene of a game; `number` counts from 1."""

    id: str
    game_id: str
    number: int
    title: str
    is_complete: bool


@dataclass(frozen=True)
class Character:
    """A character; the player is who writes as them, if anybody does."""

    id: str
    game_id: str
    seq_id: int
    name: str
    description: str
    player_id: str | None


@dataclass(frozen=True)
class Member:
    """Somebody who takes part in a game."""

    person_id: str
    name: str
    part: str


def insert_once(db: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless one with the same key is there; says whether it was inserted."""
    return db.execute(make_insert(db, table).values(**row).on_conflict_do_nothing()).rowcount > 0


def check_text(value: str, field: str, most: int = LONGEST_TEXT) -> str:
    """Refuse what no database keeps, and what is too long."""
    if not isinstance(value, str):
        raise InputError(f"{field} is not text", "write it as text")
    if len(value) > most:
        raise InputError(f"{field} has {len(value):,} characters", f"{most:,} are the most")
    if "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value):
        raise InputError(f"{field} holds a sign that cannot be kept", "take it out")
    return value


def check_key(key: str) -> str:
    """Refuse a key that names nothing."""
    if not key:
        raise InputError("the key is empty", "choose one, such as a random UUID, and keep it")
    return check_text(key, "the key", LONGEST_KEY)


def need_member(db: Connection, person: Person, game_id: str, *parts: Part) -> str:
    """Give the part that a person has in a game; refuse one who has none of these `parts`.

    To those who are not in it a game is not there, but for researchers, who may read all.
    """
    query = select(members.c.part).where(
        members.c.game_id == game_id, members.c.person_id == person.id
    )
    part = db.execute(query).scalar()
    if part is None and person.may("researcher"):
        exists = db.execute(select(games.c.id).where(games.c.id == game_id)).scalar()
        part = "reader" if exists else None
    if part is None:
        raise NotFound(f"there is no game {game_id}", "see the list of your games")
    if parts and part not in parts:
        raise NotAllowed(
            f"a {part} of this game may not do this", f"ask its narrator to be {' or '.join(parts)}"
        )
    return str(part)


def lock_game(db: Connection, person: Person, game_id: str, *parts: Part) -> Row[Any]:
    """Take a game to change something in it; nobody else changes it until the end."""
    row = db.execute(select(games).where(games.c.id == game_id).with_for_update()).first()
    need_member(db, person, game_id, *parts)
    if row is None or row.archived_at is not None:
        raise Conflict("the game is archived", "its narrator can take it back")
    db.execute(update(games).where(games.c.id == game_id).values(changed_at=now()))
    return row


_LOCK_GAME = (
    update(games)
    .where(games.c.id == bindparam("game"))
    .values(changed_at=bindparam("moment"))
    .returning(games.c.archived_at)
)


def lock_game_row(db: Connection, game_id: str) -> None:
    """Lock a game until the end of the transaction, for an entry to be added."""
    row = db.execute(_LOCK_GAME, {"game": game_id, "moment": now()}).first()
    if row is None:
        raise NotFound(f"there is no game {game_id}", "see the list of your games")
    if row.archived_at is not None:
        raise Conflict("the game is archived", "its narrator can take it back")


def next_seq_id(db: Connection, game_id: str) -> int:
    """Number of the next entry of a game, which is locked until the end of the transaction."""
    lock_game_row(db, game_id)
    last = db.execute(select(func.max(entries.c.seq_id)).where(entries.c.game_id == game_id))
    return (last.scalar() or 0) + 1


def create_game(
    studio: Studio, person: Person, *, key: str, title: str, description: str = "", world: str = ""
) -> Game:
    """Begin a game; who begins it is its narrator."""
    with studio.write() as db:
        return insert_game(db, person, key, title, description=description, world=world)


def insert_game(
    db: Connection, person: Person, key: str, title: str, *, description: str = "", world: str = ""
) -> Game:
    """Write a game and its narrator, or give the one that was made with this key."""
    person.need("author")
    if not check_text(title, "the title", LONGEST_NAME).strip():
        raise InputError("the title is empty", "give the game a title")
    identity = new_id()
    row = {
        "id": identity,
        "pid": identity,
        "owner_id": person.id,
        "key": check_key(key),
        "title": title,
        "description": check_text(description, "the description"),
        "world": check_text(world, "the world", 200),
    }
    if insert_once(db, games, row):
        db.execute(members.insert().values(game_id=identity, person_id=person.id, part="narrator"))
        write_audit(db, person, "create_game", identity)
    query = select(games.c.id).where(games.c.owner_id == person.id, games.c.key == key)
    return find_game(db, person, db.execute(query).scalar_one())


def find_game(db: Connection, person: Person, game_id: str) -> Game:
    """Give a game to who may see it."""
    part = need_member(db, person, game_id)
    return make_game(db.execute(select(games).where(games.c.id == game_id)).one(), part)


def select_games(person: Person) -> Select[Any]:
    """Ask for the games of a person, with the part they have; a researcher sees all."""
    mine = members.c.person_id == person.id
    query = select(games, members.c.part).select_from(
        games.outerjoin(members, (members.c.game_id == games.c.id) & mine)
    )
    return query if person.may("researcher") else query.where(members.c.part.is_not(None))


def list_games(studio: Studio, person: Person, *, archived: bool = False) -> list[Game]:
    """Games of a person, the one that changed last first; a researcher sees all."""
    query = select_games(person)
    if not archived:
        query = query.where(games.c.archived_at.is_(None))
    with studio.read() as db:
        rows = db.execute(query.order_by(games.c.changed_at.desc(), games.c.id)).all()
    return [make_game(row, row.part or "reader") for row in rows]


def change_game(
    studio: Studio,
    person: Person,
    game_id: str,
    *,
    title: str | None = None,
    description: str | None = None,
    world: str | None = None,
    is_complete: bool | None = None,
) -> Game:
    """Change what a game is called and says of itself, or say that its story is told."""
    values: dict[str, Any] = {
        name: check_text(value, f"the {name}", most)
        for name, value, most in (
            ("title", title, LONGEST_NAME),
            ("description", description, LONGEST_TEXT),
            ("world", world, 200),
        )
        if value is not None
    }
    if title is not None and not title.strip():
        raise InputError("the title is empty", "give the game a title")
    with studio.write() as db:
        row = lock_game(db, person, game_id, "narrator")
        if is_complete is not None:
            values["completed_at"] = (row.completed_at or now()) if is_complete else None
        if values:
            db.execute(update(games).where(games.c.id == game_id).values(**values))
        return find_game(db, person, game_id)


def archive_game(studio: Studio, person: Person, game_id: str, *, back: bool = False) -> Game:
    """Put a game away, to be only read, or take it `back`."""
    with studio.write() as db:
        need_member(db, person, game_id, "narrator")
        values = {"archived_at": None if back else now()}
        db.execute(update(games).where(games.c.id == game_id).values(**values))
        write_audit(db, person, "restore_game" if back else "archive_game", game_id)
        return find_game(db, person, game_id)


def exclude_game(studio: Studio, person: Person, game_id: str, *, is_excluded: bool = True) -> Game:
    """Leave a game out of statistics, or take it in: one of machine text alone, say."""
    person.need("researcher")
    with studio.write() as db:
        need_member(db, person, game_id)
        db.execute(update(games).where(games.c.id == game_id).values(is_excluded=is_excluded))
        write_audit(db, person, "exclude_game", game_id, is_excluded=is_excluded)
        return find_game(db, person, game_id)


def invite_member(
    studio: Studio, person: Person, game_id: str, person_id: str, part: Part
) -> Member:
    """Let somebody take part in a game, or give them another part."""
    if part not in PARTS:
        raise InputError(f"there is no part {part!r}", f"take {', '.join(PARTS)}")
    with studio.write() as db:
        row = lock_game(db, person, game_id, "narrator")
        query = select(people.c.name, people.c.deleted_at).where(people.c.id == person_id)
        invited = db.execute(query).first()
        if invited is None or invited.deleted_at is not None:
            raise NotFound(f"there is nobody with the id {person_id}", "see the list of people")
        if person_id == row.owner_id and part != "narrator":
            raise Conflict("who owns a game stays its narrator", "invite somebody else")
        values = {"game_id": game_id, "person_id": person_id, "part": part}
        if not insert_once(db, members, values):
            db.execute(
                update(members)
                .where(members.c.game_id == game_id, members.c.person_id == person_id)
                .values(part=part)
            )
        write_audit(db, person, "invite_member", game_id, person_id=person_id, part=part)
        return Member(person_id, invited.name or "", part)


def invite_by_name(studio: Studio, person: Person, game_id: str, name: str, part: Part) -> Member:
    """Let somebody take part whose name one knows: nobody has to know identities."""
    plain = unicodedata.normalize("NFKC", check_text(name, "the name", 200)).casefold().strip()
    with studio.read() as db:
        need_member(db, person, game_id, "narrator")
        query = select(people.c.id).where(people.c.name == plain, people.c.deleted_at.is_(None))
        person_id = db.execute(query).scalar()
    if person_id is None:
        raise NotFound(
            f"there is nobody called {plain!r}", "ask them for the name they sign in with"
        )
    return invite_member(studio, person, game_id, person_id, part)


def remove_member(studio: Studio, person: Person, game_id: str, person_id: str) -> None:
    """Take somebody out of a game, or oneself; their characters stay, without a player."""
    with studio.write() as db:
        leaves = person_id == person.id
        row = lock_game(db, person, game_id, *(PARTS if leaves else ("narrator",)))
        if person_id == row.owner_id:
            raise Conflict("who owns a game cannot leave it", "archive the game instead")
        db.execute(
            members.delete().where(members.c.game_id == game_id, members.c.person_id == person_id)
        )
        db.execute(
            update(characters)
            .where(characters.c.game_id == game_id, characters.c.player_id == person_id)
            .values(player_id=None)
        )
        write_audit(db, person, "remove_member", game_id, person_id=person_id)


def list_members(db: Connection, person: Person, game_id: str) -> list[Member]:
    """List who takes part in a game."""
    query = (
        select(members.c.person_id, people.c.display, people.c.name, members.c.part)
        .join(people, people.c.id == members.c.person_id)
        .where(members.c.game_id == game_id)
        .order_by(members.c.part, people.c.name)
    )
    need_member(db, person, game_id)
    rows = db.execute(query).all()
    return [Member(row.person_id, row.display or row.name or "", row.part) for row in rows]


def make_game(row: Row[Any], part: str) -> Game:
    """Make a game of its row, for who has this part in it."""
    return Game(part=part, **pick_fields(row, Game, {"part"}))


def pick_fields(row: Row[Any], kind: type[Any], without: Iterable[str] = ()) -> dict[str, Any]:
    """Pick the fields of a data class out of the columns of a row."""
    names = {field.name for field in fields(kind)}.difference(without)
    return {name: getattr(row, name) for name in names}
