"""Playing cards: what may lie on the table with an entry, and how challenges come out.

The rules are few. A narrator lays places, challenges and cards for pickup with an establishment, an
addition or a conclusion. A move plays cards out of the character's hand on one challenge of its
scene. Every card played is a point; with the last one the challenge is complete, and its outcome
is the sign of the sum of polarities: 1 strong, -1 weak, 0 uncertain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed
from fabula.studio._storium_rows import USES, write_card
from fabula.studio.cards import CHALLENGES, PLAYERS_KINDS
from fabula.studio.database import Studio
from fabula.studio.games import need_member
from fabula.studio.people import Person
from fabula.studio.scenes import need_character, need_open_scene
from fabula.studio.tables import cards, entries, entry_cards

NARRATED = ("establishment", "addition", "conclusion")
_NARRATORS_USES = {"challenge", "place", "pickup"}


@dataclass(frozen=True)
class Challenge:
    """A challenge on the table of a scene: cards played on it so far, and how it came out."""

    card_id: str
    name: str
    points: int
    polarities: tuple[int, ...] = ()

    @property
    def points_left(self) -> int:
        """How many cards are still to be played on it."""
        return max(self.points - len(self.polarities), 0)

    @property
    def outcome(self) -> int | None:
        """1 strong, -1 weak, 0 uncertain; None while it is not complete."""
        return None if self.points_left or not self.points else _sign(sum(self.polarities))


@dataclass(frozen=True)
class Turn:
    """What an entry does with cards: `polarity` and `extra` go into its row, the rest is laid."""

    laid: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    polarity: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    spent: Mapping[str, int] = field(default_factory=dict)


def list_challenges(studio: Studio, person: Person, game_id: str, scene_id: str) -> list[Challenge]:
    """List the challenges of a scene, in the order in which they came up."""
    with studio.read() as db:
        need_member(db, person, game_id)
        return list(_read_challenges(db, game_id, scene_id).values())


def _read_challenges(db: Connection, game_id: str, scene_id: str) -> dict[str, Challenge]:
    here = (entries.c.game_id == game_id) & (entries.c.scene_id == scene_id)
    laid = (
        select(entries.c.seq_id, entry_cards.c.card_id, entry_cards.c.snapshot)
        .join(entry_cards, entry_cards.c.entry_id == entries.c.id)
        .where(here, entry_cards.c.use == "challenge")
        .order_by(entries.c.seq_id, entry_cards.c.position)
    )
    found: dict[str, Challenge] = {}
    since: dict[str, int] = {}
    for row in db.execute(laid):
        points = row.snapshot.get("challenge_points") or 0
        challenge = Challenge(row.card_id, row.snapshot.get("name") or "", points)
        found.setdefault(row.card_id, challenge)
        since.setdefault(row.card_id, row.seq_id)
    # Most entries of a long scene have nothing to do with any challenge: they are not read.
    for target, seq_id, polarity in _read_plays(db, here) if found else ():
        if target in found and since[target] <= seq_id:
            before = found[target]
            polarities = (*before.polarities, polarity)
            found[target] = Challenge(target, before.name, before.points, polarities)
    return found


def _read_plays(db: Connection, here: ColumnElement[bool]) -> Iterator[tuple[str, int, int]]:
    """Cards that were played on something: on what, with which entry, and their polarity."""
    played, target = entry_cards.alias("played"), entry_cards.alias("target")
    query = (
        select(target.c.card_id, entries.c.seq_id, played.c.snapshot)
        .select_from(entries)
        .join(target, (target.c.entry_id == entries.c.id) & (target.c.use == "target"))
        .join(played, (played.c.entry_id == entries.c.id) & (played.c.use == "played"))
        .where(here)
        .order_by(entries.c.seq_id, played.c.position)
    )
    for row in db.execute(query):
        yield row.card_id, row.seq_id, row.snapshot["polarity"]


def plan_turn(
    db: Connection,
    person: Person,
    *,
    game_id: str,
    scene_id: str,
    format: str,
    character_id: str | None,
    cards: Mapping[str, Sequence[str]],
) -> Turn:
    """See what an entry would do with cards, or say which rule forbids it; nothing is changed.

    To publish: insert the entry with the turn's `polarity` and `extra`, then `lay_cards`.
    """
    part = need_member(db, person, game_id, "narrator", "player")
    need_open_scene(db, game_id, scene_id)
    if character_id is not None and format not in NARRATED:
        need_character(db, person, game_id, character_id)
    return plan_cards(
        db,
        part,
        game_id=game_id,
        scene_id=scene_id,
        format=format,
        character_id=character_id,
        cards=cards,
    )


def plan_cards(
    db: Connection,
    part: str,
    *,
    game_id: str,
    scene_id: str,
    format: str,
    character_id: str | None,
    cards: Mapping[str, Sequence[str]],
) -> Turn:
    """See what an entry would do with cards, of one who may write it in a scene that is open."""
    _check_uses(format, cards)
    held = _find_cards(db, game_id, cards)
    if format in NARRATED:
        if part != "narrator" or character_id is not None:
            raise NotAllowed(f"an entry of the format {format} is the narrator's", "make a move")
        _check_narrated(cards, held)
        return Turn(tuple((use, write_card(held[one])) for use, one in _pairs(cards)))
    if character_id is None:
        raise InputError(f"an entry of the format {format} needs a character", "say whose it is")
    extra = {"by_narrator": part == "narrator"}
    if not cards.get("played"):
        return Turn(extra=extra)
    return _plan_move(db, game_id, scene_id, character_id, cards, held, extra)


def _pairs(cards: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    return [(use, card_id) for use in USES for card_id in cards.get(use) or ()]


def _check_uses(format: str, cards: Mapping[str, Sequence[str]]) -> None:
    for use, wanted in cards.items():
        if use not in USES:
            raise InputError(f"cards: there is no use {use!r}", f"take {', '.join(USES)}")
        if len(wanted) > 1 and not USES[use][1]:
            raise InputError(f"cards: {len(wanted)} for {use}", "one is the most")
        allowed = (use in _NARRATORS_USES) == (format in NARRATED) and format != "refresh"
        if wanted and not allowed:
            raise InputError(
                f"cards: none lies as {use} with an entry of the format {format}", "take it out"
            )
    if bool(cards.get("played")) != bool(cards.get("target")):
        raise InputError("cards: played cards and a target go together", "name both, or none")


def _find_cards(
    db: Connection, game_id: str, wanted: Mapping[str, Sequence[str]]
) -> dict[str, Mapping[str, Any]]:
    ids = {card_id for _, card_id in _pairs(wanted)}
    if not ids:
        return {}
    query = select(cards).where(cards.c.game_id == game_id, cards.c.card_id.in_(ids))
    found = db.execute(query).mappings()
    held: dict[str, Mapping[str, Any]] = {row["card_id"]: dict(row) for row in found}
    for card_id in sorted(ids):
        if card_id not in held:
            raise InputError(f"cards: the game has no card {card_id!r}", "see its list of cards")
        if held[card_id]["is_deleted"]:
            raise Conflict(f"the card {held[card_id]['name']!r} was deleted", "take another")
    return held


def _check_narrated(
    wanted: Mapping[str, Sequence[str]], held: Mapping[str, Mapping[str, Any]]
) -> None:
    for use, card_id in _pairs(wanted):
        row = held[card_id]
        if use == "place" and row["namespace"] != "place":
            raise InputError(f"cards: {row['name']!r} is no place", "lay a card of that kind")
        if use == "challenge" and (
            row["namespace"] not in CHALLENGES or not row["challenge_points"]
        ):
            raise InputError(
                f"cards: {row['name']!r} is no challenge", "give an obstacle or a person points"
            )


def _plan_move(
    db: Connection,
    game_id: str,
    scene_id: str,
    character_id: str,
    wanted: Mapping[str, Sequence[str]],
    held: Mapping[str, Mapping[str, Any]],
    extra: dict[str, Any],
) -> Turn:
    target, played = wanted["target"][0], list(wanted["played"])
    challenge = _read_challenges(db, game_id, scene_id).get(target)
    if challenge is None:
        raise InputError(
            f"cards: {held[target]['name']!r} is no challenge of this scene", "see its challenges"
        )
    if len(played) > challenge.points_left:
        raise Conflict(
            f"the challenge {challenge.name!r} takes {challenge.points_left} more cards",
            "play fewer",
        )
    for card_id, count in Counter(played).items():
        _check_played(held[card_id], character_id, count)
    after = Challenge(
        target,
        challenge.name,
        challenge.points,
        (*challenge.polarities, *(held[card_id]["polarity"] for card_id in played)),
    )
    polarities = {"challenge_points_polarities": list(after.polarities)}
    laid: list[tuple[str, Mapping[str, Any]]] = [("target", write_card(held[target], **polarities))]
    laid += [("played", _write_played(held[card_id])) for card_id in played]
    spent = {one: n for one, n in Counter(played).items() if held[one]["stack_size"] is not None}
    hand = read_hand(db, character_id)
    extra["hand"] = {"pre": list_hand(hand), "post": list_hand(hand, spent)}
    if not spent:
        extra["hand"]["post"] = "unchanged"
    return Turn(tuple(laid), after.outcome, extra, spent)


def _check_played(row: Mapping[str, Any], character_id: str, count: int) -> None:
    if row["character_id"] != character_id:
        raise NotAllowed(
            f"the card {row['name']!r} is not in this character's hand", "take another"
        )
    if row["is_wild"]:
        raise Conflict(f"{row['name']!r} is a wild card", "exchange it for a card first")
    if row["namespace"] not in PLAYERS_KINDS:
        raise InputError(
            f"cards: a {row['namespace']} is not played on a challenge", "take another"
        )
    if row["stack_size"] is not None and count > row["stack_size"]:
        raise Conflict(
            f"{row['stack_size']} of the card {row['name']!r} are left", "play fewer, or refresh"
        )


def _write_played(row: Mapping[str, Any]) -> Mapping[str, Any]:
    exchanged = row["extra"].get("via_wild")
    return write_card(row, **({"via_wild_exchanged_for": exchanged} if exchanged else {}))


def read_hand(db: Connection, character_id: str) -> list[tuple[str, int | None]]:
    """Read the cards in a character's hand, with how many of each; None is without end."""
    query = select(cards.c.card_id, cards.c.stack_size).where(
        cards.c.character_id == character_id, cards.c.is_deleted.is_(False)
    )
    return [(row.card_id, row.stack_size) for row in db.execute(query.order_by(cards.c.number))]


def list_hand(
    hand: Sequence[tuple[str, int | None]], spent: Mapping[str, int] | None = None
) -> list[dict[str, Any]]:
    """List a hand as exports do: cards of which there is at least one, without what is `spent`."""
    left = [(card, 1 if size is None else size - (spent or {}).get(card, 0)) for card, size in hand]
    return [{"card_id": card, "stack_size": size} for card, size in left if size > 0]


def lay_cards(db: Connection, entry_id: str, game_id: str, turn: Turn) -> None:
    """Lay the cards of a turn on the table with its entry, and take them out of the hand."""
    positions: Counter[str] = Counter()
    for use, snapshot in turn.laid:
        row = {"entry_id": entry_id, "use": use, "position": positions[use]}
        row |= {"card_id": str(snapshot["card_id"])[:200], "snapshot": snapshot}
        db.execute(entry_cards.insert().values(**row))
        positions[use] += 1
    for card_id, count in turn.spent.items():
        db.execute(
            update(cards)
            .where(cards.c.game_id == game_id, cards.c.card_id == card_id)
            .values(stack_size=cards.c.stack_size - count)
        )


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)
