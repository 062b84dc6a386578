"""Cards of a game: nine kinds, in the hand of a character or on the narrator's table.

A narrator makes, changes and gives any card. A player makes cards for a character of their own
(its nature, goal, strengths, weaknesses, assets and subplots), changes those, and gives them away.
A challenge is an obstacle or a person with points and stakes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Row, func, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound, closest
from fabula.datasets.story_games.game import NAMESPACES
from fabula.datasets.story_games.writing import POLARITIES, PRETTY_NAMESPACES
from fabula.studio.database import Studio
from fabula.studio.games import (
    LONGEST_NAME,
    check_key,
    check_text,
    insert_once,
    lock_game,
    need_member,
    pick_fields,
)
from fabula.studio.people import Person, write_audit
from fabula.studio.scenes import Card, find_character, need_character
from fabula.studio.tables import cards, entries, entry_cards, new_id

# The nine kinds, and what people call them.
KINDS = PRETTY_NAMESPACES
PLAYERS_KINDS = ("chartype", "goal", "strength", "weakness", "thing", "subplot")
CHALLENGES = ("obstacle", "person")
MOST_POINTS, MOST_STACKED = 20, 99


def add_card(
    studio: Studio,
    person: Person,
    game_id: str,
    *,
    key: str,
    namespace: str,
    name: str,
    description: str = "",
    character_id: str | None = None,
    stack_size: int | None = None,
    is_wild: bool = False,
    challenge_points: int | None = None,
    success_stakes: str | None = None,
    failure_stakes: str | None = None,
) -> Card:
    """Make a card; its `key` is what it is called by in its game (`card_id`)."""
    if namespace not in NAMESPACES:
        raise InputError(f"there is no kind of card {namespace!r}", closest(namespace, NAMESPACES))
    values = _check_values(
        namespace,
        {
            "name": name,
            "description": description,
            "stack_size": stack_size,
            "challenge_points": challenge_points,
            "success_stakes": success_stakes,
            "failure_stakes": failure_stakes,
        },
    )
    with studio.write() as db:
        lock_game(db, person, game_id, "narrator", "player")
        seq_id = _check_maker(db, person, game_id, character_id, namespace, is_wild)
        made = values | {"namespace": namespace, "is_wild": is_wild, "character_id": character_id}
        insert_card(db, game_id, key, made, author_id=person.id, author_character=seq_id)
        return find_card(db, game_id, key)


def insert_card(
    db: Connection, game_id: str, key: str, values: Mapping[str, Any], **extra: Any
) -> bool:
    """Put a card behind the others of its game, unless one of that key is there already."""
    last = select(func.max(cards.c.number)).where(cards.c.game_id == game_id)
    if values.get("stack_size") is not None:
        extra["full_stack"] = values["stack_size"]
    own = {
        "id": new_id(),
        "game_id": game_id,
        "card_id": check_key(key),
        "number": (db.execute(last).scalar() or 0) + 1,
        "polarity": POLARITIES.get(values["namespace"], 0),
        "extra": extra,
    }
    return insert_once(db, cards, {**values, **own})


def _check_maker(
    db: Connection,
    person: Person,
    game_id: str,
    character_id: str | None,
    namespace: str,
    is_wild: bool,
) -> str | None:
    """Refuse a player who makes what only a narrator makes; give the character's number."""
    if need_member(db, person, game_id) == "player":
        if character_id is None:
            raise NotAllowed("a player makes cards for a character of theirs", "say for whom")
        if namespace not in PLAYERS_KINDS or is_wild:
            raise NotAllowed(
                "this kind of card is the narrator's to make", f"make {', '.join(PLAYERS_KINDS)}"
            )
        return str(need_character(db, person, game_id, character_id).seq_id)
    return None if character_id is None else str(find_character(db, game_id, character_id).seq_id)


def _check_values(namespace: str, values: dict[str, Any]) -> dict[str, Any]:
    """Refuse texts and numbers that a card cannot have; what is not given is left out."""
    if "name" in values and not check_text(values["name"], "the name", LONGEST_NAME).strip():
        raise InputError("the name is empty", "give the card a name")
    for field in ("description", "success_stakes", "failure_stakes"):
        if values.get(field) is not None:
            check_text(values[field], field)
    for field, most in (("challenge_points", MOST_POINTS), ("stack_size", MOST_STACKED)):
        number = values.get(field)
        if number is not None and not (isinstance(number, int) and 0 <= number <= most):
            raise InputError(f"{field} is {number!r}", f"take a whole number up to {most}")
    staked = ("challenge_points", "success_stakes", "failure_stakes")
    if namespace not in CHALLENGES and any(values.get(field) for field in staked):
        raise InputError(
            f"a card of the kind {namespace} is no challenge",
            "points and stakes go with an obstacle or a person",
        )
    return values


def find_card(db: Connection, game_id: str, card_id: str) -> Card:
    """Give a card of a game."""
    return Card(**pick_fields(_find_row(db, game_id, card_id), Card))


def _find_row(db: Connection, game_id: str, card_id: str) -> Row[Any]:
    query = select(cards).where(cards.c.game_id == game_id, cards.c.card_id == card_id)
    row = db.execute(query).first()
    if row is None:
        raise NotFound(f"the game has no card {card_id}", "see its list of cards")
    return row


def list_cards(
    studio: Studio, person: Person, game_id: str, *, character_id: str | None = None
) -> list[Card]:
    """List the cards of a game, or those in a character's hand, but for deleted ones."""
    query = select(cards).where(cards.c.game_id == game_id, cards.c.is_deleted.is_(False))
    if character_id is not None:
        query = query.where(cards.c.character_id == character_id)
    with studio.read() as db:
        need_member(db, person, game_id)
        found = db.execute(query.order_by(cards.c.number)).all()
    return [Card(**pick_fields(row, Card)) for row in found]


def change_card(studio: Studio, person: Person, game_id: str, card_id: str, **changes: Any) -> Card:
    """Change name, description, stack_size, challenge_points or stakes of a card.

    What lies on the table with an entry stays as it was then.
    """
    allowed = {
        "name", "description", "stack_size", "challenge_points", "success_stakes", "failure_stakes",
    }  # fmt: skip
    if unknown := sorted(changes.keys() - allowed):
        raise InputError(f"{unknown[0]!r} of a card is not changed", closest(unknown[0], allowed))
    with studio.write() as db:
        row = _lock_card(db, person, game_id, card_id)
        values = _check_values(row.namespace, changes)
        if values:
            extra = {**row.extra, "is_edited": True}
            db.execute(update(cards).where(cards.c.id == row.id).values(**values, extra=extra))
        return find_card(db, game_id, card_id)


def delete_card(studio: Studio, person: Person, game_id: str, card_id: str) -> Card:
    """Take a card out of the game; entries that it lies with keep it."""
    with studio.write() as db:
        row = _lock_card(db, person, game_id, card_id, is_deleted=True)
        db.execute(
            update(cards).where(cards.c.id == row.id).values(is_deleted=True, character_id=None)
        )
        write_audit(db, person, "delete_card", game_id, card_id=card_id)
        return find_card(db, game_id, card_id)


def give_card(
    studio: Studio, person: Person, game_id: str, card_id: str, character_id: str | None
) -> Card:
    """Put a card into a character's hand, or, as narrator, back on the table (None).

    A player gives cards of their own characters, and takes for these what lies there for pickup.
    """
    with studio.write() as db:
        lock_game(db, person, game_id, "narrator", "player")
        row = _find_row(db, game_id, card_id)
        if row.is_deleted:
            raise Conflict(f"the card {row.name!r} was deleted", "take another")
        if character_id is not None:
            find_character(db, game_id, character_id)
        if need_member(db, person, game_id) == "player":
            _check_giver(db, person, row, character_id)
        db.execute(update(cards).where(cards.c.id == row.id).values(character_id=character_id))
        return find_card(db, game_id, card_id)


def _check_giver(db: Connection, person: Person, row: Row[Any], character_id: str | None) -> None:
    if character_id is None:
        raise NotAllowed("only the narrator lays cards back", "give it to a character")
    if row.character_id is not None:
        need_character(db, person, row.game_id, row.character_id)
        return
    need_character(db, person, row.game_id, character_id)
    offered = (
        select(entry_cards.c.entry_id)
        .join(entries, entries.c.id == entry_cards.c.entry_id)
        .where(
            entries.c.game_id == row.game_id,
            entry_cards.c.use == "pickup",
            entry_cards.c.card_id == row.card_id,
        )
    )
    if db.execute(offered).first() is None:
        raise NotAllowed(f"the card {row.name!r} is not there for pickup", "ask the narrator")


def _lock_card(
    db: Connection, person: Person, game_id: str, card_id: str, *, is_deleted: bool = False
) -> Row[Any]:
    """Take a card to change it: a narrator any, a player one of their own character's."""
    lock_game(db, person, game_id, "narrator", "player")
    row = _find_row(db, game_id, card_id)
    if need_member(db, person, game_id) == "player":
        if row.character_id is None or row.namespace not in PLAYERS_KINDS:
            raise NotAllowed(f"the card {row.name!r} is the narrator's", "ask the narrator")
        need_character(db, person, game_id, row.character_id)
    if row.is_deleted and not is_deleted:
        raise Conflict(f"the card {row.name!r} was deleted", "take another")
    return row
