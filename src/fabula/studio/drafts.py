"""Drafts: opened in a scene, read, put away. What is saved in them is in `versions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, select, update

from fabula.core.errors import Conflict, InputError, NoCapacity, NotAllowed, NotFound
from fabula.studio.assignment import assign_machine, find_assigned
from fabula.studio.authorship import Marks, parse_marks
from fabula.studio.database import Studio
from fabula.studio.games import Scene, check_key, insert_once, need_member, pick_fields
from fabula.studio.jobs import add_job, cancel_job
from fabula.studio.people import Person
from fabula.studio.scenes import need_character, need_open_scene
from fabula.studio.tables import cards as card_table
from fabula.studio.tables import (
    characters,
    drafts,
    entries,
    new_id,
    now,
    people,
    scenes,
    suggestions,
)

# How cards lie on the table with an entry, and the most of each; None is without limit.
CARD_USES: Mapping[str, int | None] = {
    "challenge": None,
    "target": 1,
    "played": None,
    "place": 1,
    "pickup": None,
}
MOST_CARDS = 50
NARRATOR_FORMATS = ("establishment", "addition", "conclusion")
FORMATS = (*NARRATOR_FORMATS, "move", "refresh", "subplot")
# Getting ready for a story gives way to writing one.
PREPARE_PRIORITY = -10


@dataclass(frozen=True)
class Draft:
    """A draft as it is at a version; `cards` are those to be on the table, by their use."""

    id: str
    game_id: str
    scene_id: str
    author_id: str
    character_id: str | None
    format: str
    cards: Mapping[str, Sequence[str]]
    text: str
    marks: Marks
    version: int
    state: Literal["open", "published", "discarded"]
    created_at: datetime
    saved_at: datetime


@dataclass(frozen=True)
class DraftView:
    """A draft and where it stands in its game. Entries are many: they are only counted.

    `scenes` are those up to the draft's own, which is the last, each with its number of entries;
    `machine` is the game's co-author, if it has one; `seq_id` the number of the published entry.
    """

    draft: Draft
    author: str
    scenes: tuple[tuple[Scene, int], ...]
    machine: str | None
    seq_id: int | None


def open_draft(
    studio: Studio,
    person: Person,
    *,
    game_id: str,
    scene_id: str,
    key: str,
    format: str = "move",
    character_id: str | None = None,
    cards: Mapping[str, Sequence[str]] | None = None,
) -> Draft:
    """Begin an entry of a scene, and let the game's co-author get ready for it.

    A move is a character's; who plays but one need not say which. What a narrator writes
    (establishment, addition, conclusion) is no character's.
    """
    with studio.write() as db:
        return insert_draft(
            db,
            person,
            key,
            game_id=game_id,
            scene_id=scene_id,
            format=format,
            character_id=character_id,
            cards=cards,
        )


def insert_draft(
    db: Connection,
    person: Person,
    key: str,
    *,
    game_id: str,
    scene_id: str,
    format: str = "move",
    character_id: str | None = None,
    cards: Mapping[str, Sequence[str]] | None = None,
) -> Draft:
    """Write a draft, or give the one that was opened with this key."""
    check_key(key)
    if format not in FORMATS:
        raise InputError(f"there is no format {format!r}", f"take {', '.join(FORMATS)}")
    part = need_member(db, person, game_id, "narrator", "player")
    same = (drafts.c.author_id == person.id) & (drafts.c.key == key)
    if (row := db.execute(select(drafts).where(same)).first()) is not None:
        return read_row(row)
    need_open_scene(db, game_id, scene_id)
    if part == "player" and format in NARRATOR_FORMATS:
        raise NotAllowed(f"a player writes no {format}", "write a move")
    character_id = _choose_character(db, person, game_id, format, character_id)
    place = {"game_id": game_id, "scene_id": scene_id, "character_id": character_id}
    laid = _check_cards(db, game_id, cards or {})
    values = {"author_id": person.id, "key": key, "format": format, "cards": laid}
    is_new = insert_once(db, drafts, {"id": new_id(), **place, **values})
    draft = read_row(db.execute(select(drafts).where(same)).one())
    if is_new:
        _prepare_machine(db, draft)
    return draft


def change_draft(
    studio: Studio, person: Person, draft_id: str, *, cards: Mapping[str, Sequence[str]]
) -> Draft:
    """Lay other cards on the table for a draft."""
    with studio.write() as db:
        row = find_draft(db, person, draft_id, lock=True)
        need_open(row)
        which = drafts.c.id == draft_id
        checked = _check_cards(db, row.game_id, cards)
        db.execute(update(drafts).where(which).values(cards=checked))
        return read_row(db.execute(select(drafts).where(which)).one())


def read_draft(studio: Studio, person: Person, draft_id: str) -> Draft:
    """Give a draft as it is now."""
    with studio.read() as db:
        return read_row(find_draft(db, person, draft_id))


def view_draft(studio: Studio, person: Person, draft_id: str) -> DraftView:
    """Give a draft with what was before it, however long its game is."""
    with studio.read() as db:
        row = find_draft(db, person, draft_id)
        machine = find_assigned(db, row.game_id)
        return DraftView(
            read_row(row),
            db.scalar(select(people.c.name).where(people.c.id == row.author_id)) or "",
            _count_entries(db, row),
            machine.name if machine else None,
            db.scalar(select(entries.c.seq_id).where(entries.c.draft_id == draft_id)),
        )


def _count_entries(db: Connection, row: Row[Any]) -> tuple[tuple[Scene, int], ...]:
    """Count the entries of every scene up to a draft's own."""
    own = select(scenes.c.number).where(scenes.c.id == row.scene_id).scalar_subquery()
    count = select(func.count()).where(entries.c.scene_id == scenes.c.id).scalar_subquery()
    query = (
        select(scenes, count.label("entries"))
        .where(scenes.c.game_id == row.game_id, scenes.c.number <= own)
        .order_by(scenes.c.number)
    )
    return tuple((Scene(**pick_fields(each, Scene)), each.entries) for each in db.execute(query))


def list_drafts(
    studio: Studio, person: Person, *, game_id: str | None = None, state: str | None = "open"
) -> list[Draft]:
    """Give one's own drafts, the last saved first; `state=None` gives those that ended too."""
    query = select(drafts).where(drafts.c.author_id == person.id)
    if game_id is not None:
        query = query.where(drafts.c.game_id == game_id)
    if state is not None:
        query = query.where(drafts.c.state == state)
    with studio.read() as db:
        rows = db.execute(query.order_by(drafts.c.saved_at.desc(), drafts.c.id)).all()
    return [read_row(row) for row in rows]


def discard_draft(studio: Studio, person: Person, draft_id: str) -> Draft:
    """Put a draft away; its log stays, and suggestions that it waits for are cancelled."""
    with studio.write() as db:
        row = find_draft(db, person, draft_id, lock=True)
        if row.state == "published":
            raise Conflict("the draft is published", "open a new one")
        cancel_unfinished(db, draft_id)
        which = drafts.c.id == draft_id
        db.execute(update(drafts).where(which).values(state="discarded"))
        return read_row(db.execute(select(drafts).where(which)).one())


def find_draft(db: Connection, person: Person, draft_id: str, *, lock: bool = False) -> Row[Any]:
    """Give the row of a draft to its author; to be changed it is locked.

    Researchers may read it; to everybody else it is not there.
    """
    query = select(drafts).where(drafts.c.id == draft_id)
    if lock:
        query = query.with_for_update(key_share=True)
    row = db.execute(query).first()
    if row is None or not (row.author_id == person.id or person.may("researcher")):
        raise NotFound(f"there is no draft {draft_id}", "see the list of your drafts")
    if lock and row.author_id != person.id:
        raise NotAllowed("the draft is somebody else's", "open one of your own")
    return row


def need_open(row: Row[Any]) -> None:
    """Refuse a draft that was published or put away."""
    if row.state != "open":
        raise Conflict(f"the draft is {row.state}", "open a new one")


def read_row(row: Row[Any]) -> Draft:
    """Make a draft of its row."""
    fields = {name: getattr(row, name) for name in Draft.__dataclass_fields__}
    return Draft(**fields | {"marks": parse_marks(row.marks)})


def cancel_unfinished(db: Connection, draft_id: str) -> list[str]:
    """Cancel the suggestions that a draft waits for; their identities."""
    unfinished = suggestions.c.status.in_(("pending", "executing"))
    query = select(suggestions.c.id).where(suggestions.c.draft_id == draft_id, unfinished)
    waiting = list(db.scalars(query.order_by(suggestions.c.id)))
    for suggestion_id in waiting:
        # A worker locks the job and then the suggestion: the same order here.
        cancel_job(db, "suggest", suggestion_id)
    if waiting:
        which = suggestions.c.id.in_(waiting) & unfinished
        values = {"status": "cancelled", "ended_at": now()}
        db.execute(update(suggestions).where(which).values(**values))
    return waiting


def _choose_character(
    db: Connection, person: Person, game_id: str, format: str, character_id: str | None
) -> str | None:
    """Give the character that writes; nobody but the narrator writes without one."""
    if format in NARRATOR_FORMATS:
        if character_id is not None:
            raise InputError(f"the narrator writes the {format}", "leave character_id out")
        return None
    if character_id is None:
        query = select(characters.c.id).where(
            characters.c.game_id == game_id, characters.c.player_id == person.id
        )
        own = list(db.scalars(query))
        if len(own) != 1:
            raise InputError(
                f"a {format} needs a character", "give the character_id of one that you play"
            )
        character_id = own[0]
    return need_character(db, person, game_id, character_id).id


def _check_cards(
    db: Connection, game_id: str, cards: Mapping[str, Sequence[str]]
) -> dict[str, list[str]]:
    """Refuse cards that are not in the game, and uses that there are not."""
    for use, given in cards.items():
        if use not in CARD_USES:
            raise InputError(f"cards: there is no use {use!r}", f"take {', '.join(CARD_USES)}")
        if isinstance(given, str) or len(given) > (CARD_USES[use] or MOST_CARDS):
            most = CARD_USES[use] or MOST_CARDS
            raise InputError(f"cards: {use} is no list of cards", f"give at most {most}")
    wanted = {card for given in cards.values() for card in given}
    query = select(card_table.c.card_id).where(
        card_table.c.game_id == game_id,
        card_table.c.card_id.in_(wanted),
        card_table.c.is_deleted.is_(False),
    )
    missing = wanted - set(db.scalars(query)) if wanted else set()
    if missing:
        raise InputError(f"cards: the game has no card {min(missing)!r}", "see its cards")
    return {use: list(given) for use, given in cards.items() if given}


def _prepare_machine(db: Connection, draft: Draft) -> None:
    """Let the co-author of the game get ready; where none is free the draft does without."""
    try:
        machine = assign_machine(db, draft.game_id)
        what, urgency = {"draft_id": draft.id}, PREPARE_PRIORITY
        add_job(db, "prepare", draft.id, machine_id=machine.id, payload=what, priority=urgency)
    except NoCapacity:
        return
