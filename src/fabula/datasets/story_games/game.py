"""A game of STORIUM as exported (format 0.9.2), checked key by key."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabula.core.errors import InputError
from fabula.datasets.releases.reading import check_object

FORMATS = ("establishment", "addition", "conclusion", "move", "refresh", "subplot")
NAMESPACES = (
    "chartype", "goal", "person", "place", "thing", "strength", "weakness", "obstacle", "subplot",
)  # fmt: skip

_Check = tuple[str, Callable[[Any], bool]]
_Checks = Mapping[str, _Check]


@dataclass(frozen=True)
class Card:
    """A card: its kind and its texts; whether it is a wild one, or was played by way of one; and
    whether a user made or changed it, where others come from the game's world."""

    id: str
    namespace: str
    wild: bool = field(compare=False)
    description: str = ""
    stakes: tuple[str, ...] = ()
    own: bool = field(default=False, compare=False)
    name: str = field(default="", compare=False)


@dataclass(frozen=True)
class Entry:
    """A turn: who took it as whom, what they wrote, and the cards on the table: those `played` on
    a challenge, challenges that were set, the `place`, and what lies there for pickup."""

    id: str
    format: str
    role: str
    text: str
    played: tuple[Card, ...] = ()
    challenges: tuple[Card, ...] = ()
    place: tuple[Card, ...] = ()
    pickup: tuple[Card, ...] = ()
    user: str = ""

    @property
    def laid(self) -> tuple[Card, ...]:
        """All cards on the table."""
        return (*self.played, *self.challenges, *self.place, *self.pickup)


@dataclass(frozen=True)
class Scene:
    """Entries between an establishment and the next; `number` counts from 1."""

    number: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Game:
    """A whole story: characters (their descriptions), cards and scenes, and its world's name."""

    id: str
    characters: tuple[str, ...]
    cards: tuple[Card, ...]
    scenes: tuple[Scene, ...]
    completed: bool = False
    world: str = ""

    def entries(self) -> Iterator[Entry]:
        """Go through the entries of all scenes."""
        return (entry for scene in self.scenes for entry in scene.entries)


def read_game(value: Any, where: str) -> Game:
    """Read a game; what is missing or wrong is said with its scene, entry and key."""
    game = _check_keys(value, where, _GAME)
    characters = (
        _check_keys(character, f"{where}, character {number}", _CHARACTER)
        for number, character in enumerate(game["characters"], 1)
    )
    scenes = (
        _read_scene(scene, number, f"{where}, scene {number}")
        for number, scene in enumerate(game["scenes"], 1)
    )
    return Game(
        str(game["game_pid"]),
        tuple(character.get("description") or "" for character in characters),
        _read_cards(game, "cards", where),
        tuple(scenes),
        bool(game.get("completed_at")),
        _read_world(game.get("world")),
    )


def _read_world(world: Any) -> str:
    """Give the name of a game's world; a game may have none."""
    return _as_text(world.get("name") if isinstance(world, dict) else world)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _read_scene(value: Any, number: int, where: str) -> Scene:
    entries = _check_keys(value, where, _SCENE)["entries"]
    read = [read_entry(entry, f"{where}, entry {i}") for i, entry in enumerate(entries, 1)]
    for name, count in Counter(entry.id for entry in read).items():
        if count > 1:
            raise InputError(f"{where}: {count} entries with seq_id {name!r}", "export it again")
    return Scene(number, tuple(read))


def read_entry(value: Any, where: str) -> Entry:
    """Read one entry (a SceneEntry); what is missing or wrong is said with its key."""
    entry = _check_keys(value, where, _ENTRY)
    for number, autotext in enumerate(entry["autotexts"], 1):
        _check_keys(autotext, f"{where}, autotext {number}", _AUTOTEXT)
    place = entry.get("place_card")
    if entry.get("target_challenge_card") is not None:
        _read_card(entry["target_challenge_card"], f"{where}, target_challenge_card")
    return Entry(
        str(entry["seq_id"]),
        entry["format"],
        entry["role"],
        entry.get("description") or "",
        _read_cards(entry, "cards_played_on_challenge", where),
        _read_cards(entry, "challenge_cards", where),
        () if place is None else (_read_card(place, f"{where}, place_card"),),
        _read_cards(entry, "cards_for_pickup", where),
        str(entry["user_pid"]),
    )


def _read_cards(value: dict[str, Any], key: str, where: str) -> tuple[Card, ...]:
    cards = value.get(key) or ()
    return tuple(
        _read_card(card, f"{where}, {key} {number}") for number, card in enumerate(cards, 1)
    )


def _read_card(value: Any, where: str) -> Card:
    card = _check_keys(value, where, _CARD)
    stakes = (card.get("success_stakes"), card.get("failure_stakes"))
    is_made = card.get("author_user_pid") is not None and card.get("world_card_id") is None
    return Card(
        str(card["card_id"]),
        card["namespace"],
        card["is_wild"] or card.get("via_wild_exchanged_for") is not None,
        card.get("description") or "",
        tuple(text for text in stakes if text),
        is_made or card.get("is_edited") is True,
        _as_text(card.get("name")),
    )


def _check_keys(value: Any, where: str, checks: _Checks) -> dict[str, Any]:
    """Give an object whose known keys are as they should be; `?` marks those that may lack."""
    keys = check_object(value, where)
    for marked, (wanted, is_right) in checks.items():
        key = marked.removesuffix("?")
        if key not in keys and key == marked:
            raise InputError(f"{where}: key {key!r} is missing", "export the game again")
        if key != marked and keys.get(key) is None:
            continue
        if not is_right(keys[key]):
            raise InputError(f"{where}: key {key!r} is not {wanted}", "export the game again")
    return keys


def _one_of(*values: Any) -> _Check:
    return "one of " + ", ".join(map(str, values)), lambda value: value in values


def _like(pattern: str, words: str) -> _Check:
    compiled = re.compile(pattern)
    return words, lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _is_hand(value: Any) -> bool:
    return isinstance(value, dict) and all(
        value.get(when) == "unchanged" or isinstance(value.get(when), list)
        for when in ("pre", "post")
    )


_TEXT: _Check = ("text", lambda value: isinstance(value, str))
_NAME: _Check = (
    "a number or text",
    lambda value: isinstance(value, str | int) and not isinstance(value, bool) and value != "",
)
_LIST: _Check = ("a list", lambda value: isinstance(value, list))
_FLAG: _Check = ("true or false", lambda value: isinstance(value, bool))
_SIGN = _one_of(-1, 0, 1)
_ANYTHING: _Check = ("there", lambda value: True)

_GAME = {"game_pid": _NAME, "characters": _LIST, "scenes": _LIST, "cards?": _LIST}
_CHARACTER = {"character_seq_id": _NAME, "description?": _TEXT}
_SCENE = {"entries": _LIST}
_ENTRY = {
    "user_pid": _NAME,
    "seq_id": _NAME,
    "format": _one_of(*FORMATS),
    "pretty_format": _TEXT,
    "role": _like(r"narrator|character:\d+", "narrator or character:<number>"),
    "description?": _TEXT,
    "created_at": _like(
        r"\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{1,2}:\d{1,2}(\.\d+)?( UTC|Z|[+-]\d\d:?\d\d)?",
        "a time such as 2020-1-31 23:59:00 UTC",
    ),
    "hand_context": ('an object whose pre and post are lists or "unchanged"', _is_hand),
    "challenge_cards": _LIST,
    "cards_played_on_challenge": _LIST,
    "challenge_completion_polarity?": _SIGN,
    "cards_for_pickup": _LIST,
    "autotexts": _LIST,
    "author_is_narrator_when_published": _FLAG,
}
# Those that every entry has.
ENTRY_KEYS = tuple(key for key in _ENTRY if not key.endswith("?"))
_CARD = {
    "card_id": _NAME,
    "namespace": _one_of(*NAMESPACES),
    "pretty_namespace": _TEXT,
    "polarity": _SIGN,
    "description?": _TEXT,
    "is_deleted": _FLAG,
    "is_wild": _FLAG,
    "via_wild_exchanged_for?": _one_of("new", "existing"),
    "stack_size": _ANYTHING,
    "success_stakes?": _TEXT,
    "failure_stakes?": _TEXT,
}
_AUTOTEXT = {
    "type": _one_of(
        "pickupCard", "giveCard", "refreshCards", "completedRewardable",
        "completedRewardableReward", "newSubplot", "rewriteAsset", "discardCard",
    ),
    "automatic": _FLAG,
    "text": _TEXT,
}  # fmt: skip
