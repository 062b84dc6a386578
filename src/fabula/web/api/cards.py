"""Cards: made, changed, handed out; and what a player does with a hand beside a move."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Path
from pydantic import BaseModel

from fabula.studio.cards import add_card, change_card, delete_card, give_card, list_cards
from fabula.studio.hands import choose_subplot, exchange_wild, refresh_cards
from fabula.studio.plays import Challenge, list_challenges
from fabula.studio.scenes import Card, Entry
from fabula.web.api.shapes import Body, Identity, Key, Line, Page, Prose, Small, Wanted, make_router
from fabula.web.identity import Id, Somebody

router = make_router("cards", "/games/{game_id}")
CardId = Annotated[str, Path(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]
Namespace = Literal[
    "chartype", "goal", "person", "place", "thing", "strength", "weakness", "obstacle", "subplot"
]


class NewCard(Body):
    """A card; an obstacle with points is a challenge."""

    key: Key
    namespace: Namespace
    name: Line
    description: Prose = ""
    character_id: Identity | None = None
    stack_size: Small | None = None
    is_wild: bool = False
    challenge_points: Small | None = None
    success_stakes: Prose | None = None
    failure_stakes: Prose | None = None


class CardChange(Body):
    """What of a card is to be another."""

    name: Line | None = None
    description: Prose | None = None
    stack_size: Small | None = None
    challenge_points: Small | None = None
    success_stakes: Prose | None = None
    failure_stakes: Prose | None = None


class CardOwner(Body):
    """Whose hand a card is in; null is nobody's."""

    character_id: Identity | None


class Refresh(Body):
    """A character's hand, to be filled again in a scene."""

    key: Key
    character_id: Identity


class NewSubplot(Refresh):
    """What a character is up to beside the challenges."""

    name: Line
    description: Prose = ""


class WildExchange(Body):
    """A card of one's own in place of a wild one."""

    key: Key
    name: Line
    namespace: Namespace | None = None
    description: Prose = ""


class ChallengeAnswer(BaseModel):
    """A challenge: 1 is a strong outcome, -1 a weak one, 0 an uncertain one."""

    card_id: str
    name: str
    points: int
    points_left: int
    outcome: int | None


@router.get("/cards")
def read_cards(call: Somebody, game_id: Id, window: Wanted) -> Page[Card]:
    """List a game's cards."""
    return window.cut(list_cards(call.studio, call.person, game_id))


@router.post("/cards", status_code=201)
def make_card(call: Somebody, game_id: Id, body: NewCard) -> Card:
    """Make a card."""
    return add_card(call.studio, call.person, game_id, **body.model_dump())


@router.patch("/cards/{card_id}")
def alter_card(call: Somebody, game_id: Id, card_id: CardId, body: CardChange) -> Card:
    """Change a card; entries keep it as it was when it was played."""
    changes = body.model_dump(exclude_unset=True)
    return change_card(call.studio, call.person, game_id, card_id, **changes)


@router.put("/cards/{card_id}/owner")
def hand_card(call: Somebody, game_id: Id, card_id: CardId, body: CardOwner) -> Card:
    """Give a card to a character."""
    return give_card(call.studio, call.person, game_id, card_id, body.character_id)


@router.delete("/cards/{card_id}")
def drop_card(call: Somebody, game_id: Id, card_id: CardId) -> Card:
    """Take a card out of the game; entries keep it."""
    return delete_card(call.studio, call.person, game_id, card_id)


@router.post("/cards/{card_id}/exchange", status_code=201)
def change_wild(call: Somebody, game_id: Id, card_id: CardId, body: WildExchange) -> Card:
    """Write a card of one's own in place of a wild one."""
    return exchange_wild(call.studio, call.person, game_id, card_id, **body.model_dump())


@router.get("/scenes/{scene_id}/challenges")
def read_challenges(
    call: Somebody, game_id: Id, scene_id: Id, window: Wanted
) -> Page[ChallengeAnswer]:
    """List a scene's challenges and how they stand."""
    found = list_challenges(call.studio, call.person, game_id, scene_id)
    return window.cut([_describe(challenge) for challenge in found])


def _describe(challenge: Challenge) -> ChallengeAnswer:
    return ChallengeAnswer(
        card_id=challenge.card_id,
        name=challenge.name,
        points=challenge.points,
        points_left=challenge.points_left,
        outcome=challenge.outcome,
    )


@router.post("/scenes/{scene_id}/refresh", status_code=201)
def refresh(call: Somebody, game_id: Id, scene_id: Id, body: Refresh) -> Entry:
    """Fill a character's hand again: an entry without text."""
    return refresh_cards(
        call.studio, call.person, game_id, scene_id, body.character_id, key=body.key
    )


@router.post("/scenes/{scene_id}/subplot", status_code=201)
def take_subplot(call: Somebody, game_id: Id, scene_id: Id, body: NewSubplot) -> Entry:
    """Take up a subplot: an entry without text."""
    given = body.model_dump(exclude={"character_id"})
    return choose_subplot(call.studio, call.person, game_id, scene_id, body.character_id, **given)
