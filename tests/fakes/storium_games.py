"""Made-up games in the export format of STORIUM."""

from __future__ import annotations

from typing import Any


def card(name: str = "c1", namespace: str = "obstacle", **other: Any) -> dict[str, Any]:
    """Make a card with all keys that are required."""
    return {
        "card_id": name,
        "namespace": namespace,
        "pretty_namespace": namespace.title(),
        "polarity": {"strength": 1, "weakness": -1}.get(namespace, 0),
        "is_deleted": False,
        "is_wild": False,
        "stack_size": None,
    } | other


def entry(name: int, text: str | None, **other: Any) -> dict[str, Any]:
    """Make an entry with all keys that are required; a move of the first character."""
    return {
        "user_pid": "u1",
        "seq_id": name,
        "format": "move",
        "pretty_format": "Move",
        "role": "character:1",
        "description": text,
        "created_at": "2020-1-31 7:05:00 UTC",
        "hand_context": {"pre": "unchanged", "post": [{"card_id": "c1", "stack_size": 1}]},
        "challenge_cards": [],
        "cards_played_on_challenge": [],
        "cards_for_pickup": [],
        "autotexts": [],
        "author_is_narrator_when_published": False,
    } | other


def game(name: str = "g1", *scenes: list[dict[str, Any]], **other: Any) -> dict[str, Any]:
    """Make a game of scenes, which are lists of entries."""
    return {
        "game_pid": name,
        "exported_at": "2020-2-1 0:00:00 UTC",
        "characters": [{"character_seq_id": 1, "name": "Ida", "description": "A brave cook."}],
        "scenes": [{"entries": entries} for entries in scenes],
        "cards": [],
    } | other


FLOOD = card("c1", description="The river rises!", success_stakes="Dry.", failure_stakes="Wet.")
LADLE = card("c2", "strength", description="A long ladle")
WILD = card("c3", "weakness", is_wild=True)
NARRATOR = {"role": "narrator", "author_is_narrator_when_published": True}
SMALL = game(
    "g1",
    [
        entry(1, "Rain fell.", format="establishment", challenge_cards=[FLOOD], **NARRATOR),
        entry(2, "Ida stirs the flood.", cards_played_on_challenge=[LADLE, WILD]),
        entry(3, None, format="refresh"),
    ],
    [entry(4, "It ends.", format="conclusion", cards_played_on_challenge=[LADLE], **NARRATOR)],
    cards=[LADLE],
)


def long_game(name: str, words: int) -> dict[str, Any]:
    """Make a game of one entry with so many words."""
    return game(name, [entry(1, "word " * words)])
