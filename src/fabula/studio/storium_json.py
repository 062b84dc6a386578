"""Games in and out as STORIUM's JSON (export format 0.9.2), without loss.

What comes in is checked key by key; what goes out of a game that nobody has changed since is equal
to what came in, with all keys that Fabula does not know. A game made here has every key that the
format requires.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, select

from fabula.core.errors import Conflict, InputError, NotFound
from fabula.datasets import storium_samples
from fabula.datasets.story_games.game import read_game
from fabula.studio import _storium_rows as rows
from fabula.studio.database import Studio
from fabula.studio.games import check_text, insert_once, need_member
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import (
    cards,
    characters,
    drafts,
    entries,
    entry_cards,
    games,
    members,
    new_id,
    now,
    scenes,
)

Object = dict[str, Any]
_DEEPEST = 50


def download_game(studio: Studio, person: Person, game_id: str) -> Object:
    """Give a whole game to who may read it."""
    with studio.read() as db:
        need_member(db, person, game_id)
        return export_game(db, game_id)


def export_game(db: Connection, game_id: str) -> Object:
    """Write a whole game. Who may have it, is for the verb that asks to say."""
    found = db.execute(select(games).where(games.c.id == game_id)).mappings().first()
    if found is None:
        raise NotFound(f"there is no game {game_id}", "see the list of your games")
    game: Object = dict(found)

    def read(table: Any, order: str) -> list[Mapping[str, Any]]:
        query = select(table).where(table.c.game_id == game_id).order_by(table.c[order])
        return [dict(row) for row in db.execute(query).mappings()]

    people = read(characters, "seq_id")
    seq_ids = {row["id"]: row["seq_id"] for row in people}
    laid = _read_laid(db, game_id)
    told: dict[str, list[Object]] = {}
    for row in read(entries, "seq_id"):
        written = rows.write_entry(row, laid.get(row["id"], ()), seq_ids.get(row["character_id"]))
        told.setdefault(row["scene_id"], []).append(written)
    held = read(cards, "number")
    order = {seq_id: place for place, seq_id in enumerate(game["extra"].get("characters", ()))}
    people.sort(key=lambda row: order.get(row["seq_id"], len(order)))
    written = rows.write_game(game) | {
        "characters": [rows.write_character(row) for row in people],
        "scenes": [
            rows.write_scene(row) | {"entries": told.get(row["id"], [])}
            for row in read(scenes, "number")
        ],
    }
    if (listed := _list_cards(game["extra"], held)) is not None:
        written["cards"] = listed
    return written


def _list_cards(extra: Mapping[str, Any], held: list[Mapping[str, Any]]) -> list[Object] | None:
    """Cards of the game's own list: those that came in it, in their order, and those made since."""
    by_id = {row["card_id"]: row for row in held}
    came = extra.get("cards", [])
    # A card that came twice stands there itself, the first time by its id.
    listed = [
        rows.write_card(by_id[card]) if isinstance(card, str) else card for card in came or ()
    ]
    made = [rows.write_card(row) for row in held if "json" not in row["extra"]]
    return None if came is None and not made else listed + made


def _read_laid(db: Connection, game_id: str) -> dict[str, list[tuple[str, Object]]]:
    query = (
        select(entry_cards)
        .join(entries, entries.c.id == entry_cards.c.entry_id)
        .where(entries.c.game_id == game_id)
        .order_by(entry_cards.c.position)
    )
    laid: dict[str, list[tuple[str, Object]]] = {}
    for row in db.execute(query):
        laid.setdefault(row.entry_id, []).append((row.use, row.snapshot))
    return laid


def entry_json(
    db: Connection, *, entry_id: str | None = None, draft_id: str | None = None
) -> Object:
    """Write an entry that was published, or a draft as it would be, as a SceneEntry."""
    table, identity = (entries, entry_id) if entry_id is not None else (drafts, draft_id)
    found = db.execute(select(table).where(table.c.id == identity)).mappings().first()
    if found is None:
        raise NotFound(f"there is no entry or draft {identity}", "see the game's entries")
    row: Object = dict(found)
    character = select(characters.c.seq_id).where(characters.c.id == row["character_id"])
    if entry_id is None:
        laid = list(_lay_draft(db, row))
        row |= {"seq_id": 0, "polarity": None, "published_at": row["saved_at"], "extra": {}}
    else:
        query = select(entry_cards).where(entry_cards.c.entry_id == entry_id)
        found_cards = db.execute(query.order_by(entry_cards.c.position))
        laid = [(card.use, card.snapshot) for card in found_cards]
    return rows.write_entry(row, laid, db.execute(character).scalar())


def _lay_draft(db: Connection, draft: Mapping[str, Any]) -> Iterator[tuple[str, Object]]:
    """Cards that a draft names (`{"played": ["card"], "target": ["challenge"]}`), as they are."""
    wanted = [(use, card) for use in rows.USES for card in draft["cards"].get(use) or ()]
    query = select(cards).where(
        cards.c.game_id == draft["game_id"], cards.c.card_id.in_({card for _, card in wanted})
    )
    by_id = {row["card_id"]: dict(row) for row in db.execute(query).mappings()}
    return ((use, rows.write_card(by_id[card])) for use, card in wanted if card in by_id)


def import_game(studio: Studio, person: Person, value: Any, *, where: str = "the game") -> str:
    """Take a game in; who brings it is its narrator. The same again gives the same game.

    What is missing or wrong is said with its scene, entry and key, and then nothing is taken in.
    """
    person.need("author", "researcher")
    read_game(value, where)
    _check_values(value, where)
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    tables = _make_rows(value, person, where, digest)
    game = tables[0][1][0]
    with studio.write() as db:
        if insert_once(db, games, game):
            for table, values in tables[1:]:
                if values:
                    db.execute(table.insert(), values)
            write_audit(db, person, "import_game", game["id"])
            return str(game["id"])
        query = select(games.c.id, games.c.extra).where(
            games.c.owner_id == person.id, games.c.pid == game["pid"]
        )
        known = db.execute(query).one()
    if known.extra.get("digest") != digest:
        raise Conflict(
            f"{where}: you have another game with game_pid {game['pid']!r}",
            "give this one another game_pid to have both",
        )
    return str(known.id)


def import_samples(studio: Studio, person: Person) -> list[str]:
    """Take the sample games in, which come with Fabula; those that are there already stay."""
    return [
        import_game(studio, person, value, where=str(value["name"]))
        for value in storium_samples.read_exports()
    ]


def _check_values(value: Any, where: str, depth: int = 0) -> None:
    """Refuse what no database keeps as it is: NUL, halves of characters, numbers without end."""
    if depth > _DEEPEST:
        raise InputError(f"{where}: nested deeper than {_DEEPEST}", "export the game again")
    if isinstance(value, str):
        check_text(value, where, 10_000_000)
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_text(key, f"{where}, a key")
            _check_values(inner, f"{where}, {key}", depth + 1)
    elif isinstance(value, list):
        for number, inner in enumerate(value, 1):
            _check_values(inner, f"{where} {number}", depth + 1)
    elif isinstance(value, float) and (value != value or abs(value) == float("inf")):
        raise InputError(f"{where}: {value} is no number of JSON", "export the game again")


def _make_rows(
    value: Object, person: Person, where: str, digest: str
) -> list[tuple[Any, list[Object]]]:
    """Make the rows of a game, table by table, in the order in which they refer to each other."""
    game_id, moment = new_id(), now()
    people = _make_characters(value, game_id, where)
    ids = {row["seq_id"]: row["id"] for row in people}
    told, turns, laid = _make_scenes(value, game_id, ids, where)
    held, listed = _make_cards(value, game_id, [row["snapshot"] for row in laid])
    _fill_hands(value, held, ids)
    own = {key: value[key] for key in value if key not in ("characters", "scenes")}
    if listed is not None:
        del own["cards"]
    order = [row["seq_id"] for row in people]
    game = rows.read_game_columns(value, where) | {
        "id": game_id,
        "owner_id": person.id,
        "created_at": moment,
        "changed_at": moment,
        "extra": {"json": own, "digest": digest, "characters": order, "cards": listed},
    }
    member = {"game_id": game_id, "person_id": person.id, "part": "narrator"}
    return [
        (games, [game]),
        (members, [member]),
        (characters, people),
        (scenes, told),
        (cards, held),
        (entries, turns),
        (entry_cards, laid),
    ]


def _make_characters(value: Object, game_id: str, where: str) -> list[Object]:
    made: dict[int, Object] = {}
    for number, character in enumerate(value["characters"], 1):
        columns = rows.read_character_columns(character, f"{where}, character {number}")
        if columns["seq_id"] in made:
            raise InputError(
                f"{where}, character {number}: character_seq_id {columns['seq_id']} again",
                "export the game again",
            )
        own = {"id": new_id(), "game_id": game_id, "extra": {"json": character}}
        made[columns["seq_id"]] = columns | own
    return list(made.values())


def _make_scenes(
    value: Object, game_id: str, character_ids: Mapping[int, str], where: str
) -> tuple[list[Object], list[Object], list[Object]]:
    """Rows of scenes, of their entries, and of the cards on the table with these."""
    told, turns, laid = [], [], []
    numbers = _number_entries(value)
    for number, scene in enumerate(value["scenes"], 1):
        is_complete = any(entry["format"] == "conclusion" for entry in scene["entries"])
        own = {key: scene[key] for key in scene if key != "entries"}
        scene_id = new_id()
        told.append(
            rows.read_scene_columns(scene, is_complete)
            | {"id": scene_id, "game_id": game_id, "number": number}
            | {"extra": {"json": own, "is_complete": is_complete}}
        )
        for place, entry in enumerate(scene["entries"], 1):
            here = f"{where}, scene {number}, entry {place}"
            seq_id = int(entry["role"].partition(":")[2] or -1)
            row = rows.read_entry_columns(entry, here) | {
                "id": new_id(),
                "game_id": game_id,
                "scene_id": scene_id,
                "seq_id": next(numbers),
                "author_id": None,
                "character_id": character_ids.get(seq_id),
            }
            row["extra"], found = _take_cards(entry, row["id"])
            turns.append(row)
            laid += found
    return told, turns, laid


def _number_entries(value: Object) -> Iterator[int]:
    """Numbers for all entries: their own where these are numbers, in order within their scene and
    not given twice, others, all greater than any of them, where not."""
    scenes_ids = [[entry["seq_id"] for entry in scene["entries"]] for scene in value["scenes"]]
    flat = [str(seq_id) for ids in scenes_ids for seq_id in ids]
    known = [int(text) for text in flat if text.isascii() and text.isdigit() and len(text) < 10]
    in_order = all(
        [int(one) for one in ids] == sorted(int(one) for one in ids)
        for ids in scenes_ids
        if len(known) == len(flat)
    )
    if len(known) == len(flat) == len(set(known)) and in_order:
        return iter(known)
    return iter(range(max(known, default=0) + 1, max(known, default=0) + 1 + len(flat)))


def _take_cards(entry: Object, entry_id: str) -> tuple[Object, list[Object]]:
    """Part an entry from the cards on the table with it."""
    own, laid = dict(entry), []
    for use, (key, several) in rows.USES.items():
        held = entry.get(key)
        # What is empty stays, so that none, null and an empty list leave as they came.
        if not held:
            continue
        del own[key]
        for position, card in enumerate(held if several else [held]):
            row = {"entry_id": entry_id, "use": use, "position": position, "snapshot": card}
            laid.append(row | {"card_id": str(card["card_id"])[:200]})
    return {"json": own}, laid


def _make_cards(
    value: Object, game_id: str, laid: Iterable[Object]
) -> tuple[list[Object], list[str | Object] | None]:
    """Rows of all cards of a game, and its own list of them, each by its id; one that comes again
    under the same id stands in the list itself."""
    made: dict[str, Object] = {}

    def make(card: Object) -> bool:
        columns = rows.read_card_columns(card)
        if columns["card_id"] in made:
            return False
        own = {"id": new_id(), "game_id": game_id, "number": len(made) + 1, "character_id": None}
        made[columns["card_id"]] = columns | own | {"extra": {"json": card}}
        return True

    own_list = value.get("cards")
    listed = None
    if own_list is not None:
        listed = [str(card["card_id"])[:200] if make(card) else card for card in own_list]
    for card in laid:
        make(card)
    return list(made.values()), listed


def _fill_hands(value: Object, held: list[Object], character_ids: Mapping[int, str]) -> None:
    """Put cards into the hands that their characters held them in at the end."""
    hands: dict[str, list[Any]] = {}
    for scene in value["scenes"]:
        for entry in scene["entries"]:
            context = entry["hand_context"]
            hand = context["pre"] if context["post"] == "unchanged" else context["post"]
            if isinstance(hand, list):
                hands[entry["role"]] = hand
    by_id = {row["card_id"]: row for row in held}
    for role, hand in hands.items():
        character_id = character_ids.get(int(role.partition(":")[2] or -1))
        for stack in hand:
            card_id = str(stack.get("card_id"))[:200] if isinstance(stack, dict) else ""
            if character_id and card_id in by_id:
                by_id[card_id]["character_id"] = character_id
