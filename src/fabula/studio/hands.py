"""What a player does with a hand of cards beside a move: refresh it, take a subplot, exchange a
wild card. The first two are entries of their own, without text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select, update

from fabula.core.errors import Conflict, InputError, closest
from fabula.studio._storium_rows import write_card
from fabula.studio.cards import PLAYERS_KINDS, find_card, insert_card
from fabula.studio.database import Studio
from fabula.studio.games import (
    LONGEST_NAME,
    Character,
    check_key,
    check_text,
    insert_once,
    lock_game,
    need_member,
    next_seq_id,
)
from fabula.studio.people import Person
from fabula.studio.plays import list_hand, read_hand
from fabula.studio.scenes import Card, Entry, find_entry, need_character, need_open_scene
from fabula.studio.tables import cards, entries

_REFILLED = ("strength", "weakness")
SUBPLOT_PLAYS = 3


def refresh_cards(
    studio: Studio, person: Person, game_id: str, scene_id: str, character_id: str, *, key: str
) -> Entry:
    """Fill the stacks of a character's strengths and weaknesses again: an entry without text."""
    with studio.write() as db:
        character = _lock_hand(db, person, game_id, scene_id, character_id)
        before = list_hand(read_hand(db, character_id))
        held = select(cards).where(
            cards.c.character_id == character_id, cards.c.namespace.in_(_REFILLED)
        )
        text = f"{character.name} refreshed their cards."
        autotext = {"type": "refreshCards", "card": None, "text": text}
        entry = _entry_row(db, person, game_id, scene_id, character, "refresh", key)
        if not insert_once(db, entries, entry):
            return find_entry(db, entry["id"])
        for row in db.execute(held).all():
            full = row.extra.get("full_stack")
            if full is not None and row.stack_size is not None and row.stack_size < full:
                db.execute(update(cards).where(cards.c.id == row.id).values(stack_size=full))
        _note_hand(db, entry, character, before, autotext)
        return find_entry(db, entry["id"])


def choose_subplot(
    studio: Studio,
    person: Person,
    game_id: str,
    scene_id: str,
    character_id: str,
    *,
    key: str,
    name: str,
    description: str = "",
) -> Entry:
    """Take up a subplot, a card to be played three times: an entry without text."""
    if not check_text(name, "the name", LONGEST_NAME).strip():
        raise InputError("the name is empty", "give the subplot a name")
    check_text(description, "the description")
    with studio.write() as db:
        character = _lock_hand(db, person, game_id, scene_id, character_id)
        entry = _entry_row(db, person, game_id, scene_id, character, "subplot", key)
        if not insert_once(db, entries, entry):
            return find_entry(db, entry["id"])
        before = list_hand(read_hand(db, character_id))
        _refuse_second_subplot(db, character)
        values = {"namespace": "subplot", "name": name, "description": description}
        _make_card(db, person, character, key, {**values, "stack_size": SUBPLOT_PLAYS})
        made = select(cards).where(cards.c.game_id == game_id, cards.c.card_id == key)
        card = write_card(dict(db.execute(made).mappings().one()))
        autotext = {"type": "newSubplot", "card": card, "text": f"New subplot: {name}"}
        _note_hand(db, entry, character, before, autotext)
        return find_entry(db, entry["id"])


def exchange_wild(
    studio: Studio,
    person: Person,
    game_id: str,
    card_id: str,
    *,
    key: str,
    name: str,
    namespace: str | None = None,
    description: str = "",
) -> Card:
    """Write a card of one's own in place of a wild one, which leaves the hand."""
    if namespace is not None and namespace not in PLAYERS_KINDS:
        raise InputError(f"a wild card does not become {namespace!r}", closest("", PLAYERS_KINDS))
    if not check_text(name, "the name", LONGEST_NAME).strip():
        raise InputError("the name is empty", "give the card a name")
    check_text(description, "the description")
    with studio.write() as db:
        lock_game(db, person, game_id, "narrator", "player")
        wild = find_card(db, game_id, card_id)
        made = select(cards.c.extra).where(
            cards.c.game_id == game_id, cards.c.card_id == check_key(key)
        )
        if (db.execute(made).scalar() or {}).get("wild_card") == card_id:
            return find_card(db, game_id, key)
        if not wild.is_wild or wild.character_id is None:
            raise Conflict(f"{wild.name!r} is no wild card in a hand", "take one that is")
        character = need_character(db, person, game_id, wild.character_id)
        values = {"namespace": namespace or wild.namespace, "name": name, "stack_size": 1}
        values["description"] = description
        _make_card(db, person, character, key, values, via_wild="new", wild_card=card_id)
        spent = (cards.c.game_id == game_id) & (cards.c.card_id == card_id)
        db.execute(update(cards).where(spent).values(character_id=None))
        return find_card(db, game_id, key)


def _make_card(
    db: Connection,
    person: Person,
    character: Character,
    key: str,
    values: Mapping[str, Any],
    **extra: Any,
) -> None:
    """Put a new card into a character's hand."""
    extra |= {"author_id": person.id, "author_character": str(character.seq_id)}
    held = {**values, "character_id": character.id}
    if not insert_card(db, character.game_id, key, held, **extra):
        raise Conflict(f"the game has a card {key!r} already", "choose another key")


def _lock_hand(
    db: Connection, person: Person, game_id: str, scene_id: str, character_id: str
) -> Character:
    lock_game(db, person, game_id, "narrator", "player")
    need_open_scene(db, game_id, scene_id)
    return need_character(db, person, game_id, character_id)


def _entry_row(
    db: Connection,
    person: Person,
    game_id: str,
    scene_id: str,
    character: Character,
    format: str,
    key: str,
) -> dict[str, Any]:
    """The row of an entry without text. Its identity comes of the key, so that the same request
    again finds it."""
    origin = f"{character.id}/{format}/{check_key(key)}"
    return {
        "id": hashlib.blake2b(origin.encode(), digest_size=16).hexdigest(),
        "game_id": game_id,
        "scene_id": scene_id,
        "seq_id": next_seq_id(db, game_id),
        "format": format,
        "author_id": person.id,
        "character_id": character.id,
        "extra": {"by_narrator": need_member(db, person, game_id) == "narrator"},
    }


def _note_hand(
    db: Connection,
    entry: dict[str, Any],
    character: Character,
    before: list[dict[str, Any]],
    autotext: dict[str, Any],
) -> None:
    """Write into an entry what became of the hand, and the sentence that tells it."""
    after = list_hand(read_hand(db, character.id))
    told = {"to_character_seq_id": str(character.seq_id), "new_card": None, "automatic": False}
    extra = entry["extra"] | {
        "hand": {"pre": before, "post": "unchanged" if after == before else after},
        "autotexts": [autotext | told],
    }
    db.execute(update(entries).where(entries.c.id == entry["id"]).values(extra=extra))


def _refuse_second_subplot(db: Connection, character: Character) -> None:
    query = select(cards.c.name).where(
        cards.c.character_id == character.id,
        cards.c.namespace == "subplot",
        cards.c.is_deleted.is_(False),
        cards.c.stack_size > 0,
    )
    if (open_subplot := db.execute(query).scalar()) is not None:
        raise Conflict(f"{character.name} has the subplot {open_subplot!r}", "play that one out")
