"""Rows of the studio's tables as objects of STORIUM's export format 0.9.2, and back.

A row that was imported keeps the object it came from in `extra["json"]`. On its way out only keys
whose value was changed since are written anew; all others, known or not, leave as they came.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fabula.core.errors import InputError
from fabula.datasets.story_games.writing import FORMAT_VERSION, Object, make_card, make_entry
from fabula.studio.games import LONGEST_NAME

# How a card lies on the table with an entry: the key that holds it, and whether there are several.
USES = {
    "challenge": ("challenge_cards", True),
    "target": ("target_challenge_card", False),
    "played": ("cards_played_on_challenge", True),
    "place": ("place_card", False),
    "pickup": ("cards_for_pickup", True),
}
_TIME = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})[ T](\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d+))?"
    r" ?(UTC|Z|[+-]\d\d:?\d\d)?"
)
# Whose entry it is, when nobody can be named any more.
NOBODY = "nobody"


def write_time(moment: datetime | None) -> str | None:
    """Write a moment as exports do."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def read_time(text: str, where: str) -> datetime:
    """Read a moment such as `2020-1-31 23:59:00 UTC` or `2020-01-31T23:59:00Z`."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    try:
        if match is None:
            raise ValueError
        *parts, fraction, zone = match.groups()
        year, month, day, hour, minute, second = map(int, parts)
        away = datetime.strptime(zone, "%z").tzinfo if zone and zone[0] in "+-" else UTC
        micros = int((fraction or "")[:6].ljust(6, "0"))
        return datetime(year, month, day, hour, minute, second, micros, away).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InputError(f"{where}: {text!r} is no time", "export the game again") from None


def restore(extra: Mapping[str, Any], before: Object, after: Object) -> Object:
    """Put a row's changes into the object it was imported from; without one, give it all."""
    if "json" not in extra:
        return after
    changed = {key: value for key, value in after.items() if before.get(key) != value}
    return {**extra["json"], **changed}


def read_game_columns(value: Object, where: str) -> Object:
    """Columns of a game."""
    world = value.get("world")
    name = value.get("name") or value.get("title")
    description, done = value.get("description"), value.get("completed_at")
    return {
        "pid": _cut(str(value["game_pid"]), 200),
        "title": _cut(name if isinstance(name, str) else f"Game {value['game_pid']}"),
        "description": description if isinstance(description, str) else "",
        "world": _cut(str(world.get("name") or "") if isinstance(world, dict) else world, 200),
        "completed_at": read_time(done, f"{where}, completed_at") if done else None,
    }


def write_game(row: Mapping[str, Any]) -> Object:
    """Write a game, but for its characters, scenes and cards."""
    fresh = _write_game_columns(row)
    raw = row["extra"].get("json", {})
    if not raw:
        return fresh | {"exported_at": write_time(row["changed_at"])}
    written = restore(row["extra"], _write_game_columns(read_game_columns(raw, "")), fresh)
    if row["changed_at"] != row["created_at"]:
        written["exported_at"] = write_time(row["changed_at"])
    return written


def _write_game_columns(row: Mapping[str, Any]) -> Object:
    return {
        "game_pid": row["pid"],
        "format_version": FORMAT_VERSION,
        "name": row["title"],
        "description": row["description"],
        "world": {"name": row["world"]} if row["world"] else None,
        "completed_at": write_time(row["completed_at"]),
    }


def read_character_columns(value: Object, where: str) -> Object:
    """Columns of a character."""
    seq_id = str(value["character_seq_id"])
    if not seq_id.isascii() or not seq_id.isdigit() or int(seq_id) >= 2**31:
        raise InputError(f"{where}: key 'character_seq_id' is no number", "export the game again")
    return {
        "seq_id": int(seq_id),
        "name": _cut(value.get("name")),
        "description": value.get("description") or "",
    }


def write_character(row: Mapping[str, Any]) -> Object:
    """Write a character."""
    extra = row["extra"]
    before = read_character_columns(extra["json"], "") if "json" in extra else {}
    return restore(extra, _write_character(before) if before else {}, _write_character(row))


def _write_character(row: Mapping[str, Any]) -> Object:
    return {
        "character_seq_id": str(row["seq_id"]),
        "name": row["name"],
        "description": row["description"],
        "user_pid": row.get("player_id"),
    }


def read_scene_columns(value: Object, is_complete: bool) -> Object:
    """Columns of a scene; `is_complete` where it does not say so itself."""
    said, title = value.get("is_complete"), value.get("title")
    return {
        "title": _cut(title),
        "is_complete": said if isinstance(said, bool) else is_complete,
    }


def write_scene(row: Mapping[str, Any]) -> Object:
    """Write a scene, but for its entries."""
    extra = row["extra"]
    before = {}
    if "json" in extra:
        columns = read_scene_columns(extra["json"], extra["is_complete"])
        before = _write_scene(columns | {"number": row["number"]})
    return restore(extra, before, _write_scene(row))


def _write_scene(row: Mapping[str, Any]) -> Object:
    return {
        "act_number": None,
        "chapter_number": row["number"],
        "title": row["title"],
        "is_complete": row["is_complete"],
    }


def read_card_columns(value: Object) -> Object:
    """Columns of a card."""
    return {
        "card_id": _cut(str(value["card_id"]), 200),
        "namespace": value["namespace"],
        "name": _cut(value.get("name")),
        "description": value.get("description") or "",
        "polarity": int(value["polarity"]),
        "is_wild": value["is_wild"],
        "is_deleted": value["is_deleted"],
        "stack_size": _whole(value.get("stack_size")),
        "success_stakes": value.get("success_stakes"),
        "failure_stakes": value.get("failure_stakes"),
        "challenge_points": _whole(value.get("challenge_points")),
    }


def write_card(row: Mapping[str, Any], **context: Any) -> Object:
    """Write a card; `context` are keys that depend on the entry it lies with."""
    extra = row["extra"]
    before = {}
    if "json" in extra:
        edited = extra["json"].get("is_edited")
        before = _write_card(read_card_columns(extra["json"]) | {"extra": {"is_edited": edited}})
        extra = {"is_edited": edited} | extra
    return restore(extra, before, _write_card({**row, "extra": extra})) | context


def _write_card(row: Mapping[str, Any]) -> Object:
    extra = row["extra"]
    same = (
        "name", "polarity", "description", "is_deleted", "is_wild", "stack_size",
        "challenge_points", "success_stakes", "failure_stakes",
    )  # fmt: skip
    return make_card(
        row["card_id"],
        row["namespace"],
        **{key: row[key] for key in same},
        author_user_pid=extra.get("author_id"),
        author_character_seq_id=extra.get("author_character"),
        is_edited=extra.get("is_edited"),
        suggested_stack_size=extra.get("full_stack"),
    )


def read_entry_columns(value: Object, where: str) -> Object:
    """Columns of an entry, but for its number, scene and character."""
    return {
        "format": value["format"],
        "text": value.get("description") or "",
        "polarity": _whole(value.get("challenge_completion_polarity")),
        "published_at": read_time(value["created_at"], f"{where}, created_at"),
    }


def write_entry(
    row: Mapping[str, Any],
    laid: Sequence[tuple[str, Mapping[str, Any]]] = (),
    character_seq_id: int | None = None,
) -> Object:
    """Write an entry with the cards on the table, each a use and a card; or a draft of one."""
    extra = row["extra"]
    before = {}
    if "json" in extra:
        known = {"seq_id": row["seq_id"], "author_id": row["author_id"], "extra": {}}
        columns = read_entry_columns(extra["json"], "") | known
        before = _write_entry(columns, character_seq_id)
    written = restore(extra, before, _write_entry(row, character_seq_id))
    for use, (key, several) in USES.items():
        held = [dict(card) for name, card in laid if name == use]
        if held:
            written[key] = held if several else held[0]
    return written


def _write_entry(row: Mapping[str, Any], character_seq_id: int | None) -> Object:
    extra = row["extra"] if "json" not in row["extra"] else {}
    given = {"hand": "hand_context", "autotexts": "autotexts"}
    given["by_narrator"] = "author_is_narrator_when_published"
    return make_entry(
        row["seq_id"],
        row["format"],
        user_pid=row["author_id"] or NOBODY,
        character=character_seq_id,
        description=row["text"],
        created_at=write_time(row["published_at"]),
        challenge_completion_polarity=row["polarity"],
        **{given[name]: extra[name] for name in given if name in extra},
    )


def _cut(value: Any, most: int = LONGEST_NAME) -> str:
    """As much of a name as its column holds; the whole of it stays in what was imported."""
    return value[:most] if isinstance(value, str) else ""


def _whole(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31
    return value if is_whole else None
