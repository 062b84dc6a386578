"""Objects of STORIUM's export format 0.9.2, made anew: every key that a card or an entry has.

Who makes one gives what is peculiar to it; all other keys are there, with what says nothing. The
studio writes its games so, and so are stories made into games.
"""

from __future__ import annotations

from typing import Any

from fabula.datasets.story_games.game import FORMATS, NAMESPACES

Object = dict[str, Any]
FORMAT_VERSION = "0.9.2"
PRETTY_NAMESPACES = dict(
    zip(
        NAMESPACES,
        (
            "Nature", "Goal", "Character", "Place", "Asset", "Strength", "Weakness", "Obstacle",
            "Subplot",
        ),
        strict=True,
    )
)  # fmt: skip
PRETTY_FORMATS = dict(
    zip(
        FORMATS,
        ("Establishment", "Continuation", "Conclusion", "Move", "Card Refresh", "New Subplot"),
        strict=True,
    )
)
POLARITIES = {"strength": 1, "weakness": -1}
_SUGGESTED = (
    "stack_size", "success_stakes", "failure_stakes", "challenge_points", "strength_card_id",
    "weakness_card_id",
)  # fmt: skip


def make_card(card_id: str, namespace: str, *, name: str, **values: Any) -> Object:
    """Make a card; `values` are keys of it that say something, whatever they are."""
    blank: Object = {
        "card_id": card_id,
        "name": name,
        "namespace": namespace,
        "pretty_namespace": PRETTY_NAMESPACES[namespace],
        "image": None,
        "polarity": POLARITIES.get(namespace, 0),
        "description": "",
        "author_user_pid": None,
        "author_character_seq_id": None,
        "is_deleted": False,
        "is_wild": False,
        "via_wild_exchanged_for": None,
        "is_edited": None,
        "world_card_id": None,
        "redacted": None,
        "stack_size": None,
        "challenge_points": None,
        "challenge_points_polarities": None,
        "success_stakes": None,
        "failure_stakes": None,
    }
    blank |= dict.fromkeys(f"suggested_{key}" for key in _SUGGESTED)
    return _fill(blank, values)


def make_entry(
    seq_id: int, format: str, *, user_pid: str, character: int | None, **values: Any
) -> Object:
    """Make an entry (a SceneEntry) of a character, or of the narrator where there is none."""
    is_narrator = character is None
    blank: Object = {
        "user_pid": user_pid,
        "seq_id": str(seq_id),
        "format": format,
        "pretty_format": PRETTY_FORMATS[format],
        "character_seq_id": None if is_narrator else str(character),
        "role": "narrator" if is_narrator else f"character:{character}",
        "description": "",
        "created_at": None,
        "image": None,
        "hand_context": {"pre": "unchanged", "post": "unchanged"},
        "challenge_cards": [],
        "target_challenge_card": None,
        "cards_played_on_challenge": [],
        "challenge_completion_polarity": None,
        "place_card": None,
        "cards_for_pickup": [],
        "autotexts": [],
        "revisions_requested": None,
        "revision_request_reason": None,
        "author_is_narrator_when_published": is_narrator,
        "redacted": None,
    }
    return _fill(blank, values)


def _fill(blank: Object, values: Object) -> Object:
    if unknown := values.keys() - blank.keys():
        raise KeyError(f"the format has no {', '.join(sorted(unknown))}")
    return blank | values
