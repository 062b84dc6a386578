"""Suggestions: asked for in a draft, read while they are written, cancelled.

Asking is one transaction: the suggestion, the co-author it falls to and the job that a worker
will find. What the co-author will be shown is put together before, out of the game as it is.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, insert, select, update

from fabula.authors.context.ranges import format_wanted, parse_wanted
from fabula.core.author import Context, Decoding
from fabula.core.errors import InputError, NoCapacity, NotAllowed, NotFound
from fabula.core.plain import from_plain
from fabula.studio.assignment import assign_machine
from fabula.studio.database import Studio
from fabula.studio.drafts import find_draft, need_open
from fabula.studio.games import check_key
from fabula.studio.jobs import add_job, cancel_job
from fabula.studio.people import Person
from fabula.studio.storium_json import entry_json, export_game
from fabula.studio.tables import drafts, new_id, now, people, scenes, stories, suggestions
from fabula.text.context.segments import context_to_json, storium_context

Status = Literal["pending", "executing", "done", "failed", "cancelled"]
UNFINISHED = ("pending", "executing")
# Of one person: enough to compare, too few to keep others waiting.
MOST_UNFINISHED = 4
WANTED = "words=-250"
# What a suggestion is again when another attempt begins.
UNWRITTEN: Mapping[str, Any] = {
    "status": "pending",
    "generated": "",
    "seen": None,
    "tokens": None,
    "started_at": None,
    "first_token_at": None,
}
_MOST_SEED = 2**63 - 1


@dataclass(frozen=True)
class Suggestion:
    """What a co-author was asked for and wrote; while it is at it, the text so far.

    `position` is where in the draft it is to go on, `seen` what of the context the model saw.
    """

    id: str
    draft_id: str | None
    game_id: str | None
    person_id: str | None
    machine_id: str | None
    status: Status
    generated: str
    problem: str
    position: int | None
    wanted: str
    decoding: Mapping[str, Any]
    seed: int
    signature: str
    tokens: int | None
    seen: Sequence[Mapping[str, Any]] | None
    published: str | None
    entry_id: str | None
    asked_at: datetime
    started_at: datetime | None
    first_token_at: datetime | None
    ended_at: datetime | None
    published_at: datetime | None

    @property
    def is_finished(self) -> bool:
        """Whether nothing will be added to it."""
        return self.status not in UNFINISHED


def ask_suggestion(
    studio: Studio,
    person: Person,
    draft_id: str,
    *,
    key: str,
    position: int | None = None,
    wanted: str = WANTED,
    decoding: Mapping[str, Any] | None = None,
    seed: int | None = None,
    machine: str | None = None,
) -> Suggestion:
    """Ask the game's co-author to write on from a place in a draft (its end, if none is told).

    `decoding` changes settings of the machine's own; a seed that is not told is drawn, and
    recorded. `machine` asks for one by name instead of the one that the game was assigned.
    """
    check_key(key)
    wanted = format_wanted(parse_wanted(wanted))
    given, seed = _check_decoding(decoding or {}), _check_seed(seed)
    with studio.read() as db:
        row = find_draft(db, person, draft_id)
        if (same := _find_by_key(db, person, key)) is not None:
            return same
        context = build_context(db, row, position)
    place = {"person_id": person.id, "game_id": row.game_id, "draft_id": draft_id}
    order: dict[str, Any] = {"position": len(context.text), "wanted": wanted, "seed": seed}
    shown = context_to_json(replace(context, game=None))
    with studio.write() as db:
        _take_turn(db, person)
        if (same := _find_by_key(db, person, key)) is not None:
            return same
        need_open(find_draft(db, person, draft_id, lock=True))
        _need_room(db, person)
        assigned = assign_machine(db, row.game_id, machine=machine)
        order["decoding"] = asdict(Decoding(**{**(assigned.decoding or {}), **given}))
        values = {"id": new_id(), "key": key, "machine_id": assigned.id, **place, **order}
        db.execute(insert(suggestions).values(context=shown, **values))
        add_job(db, "suggest", values["id"], machine_id=assigned.id)
        return find_suggestion(db, person, values["id"])


def _take_turn(db: Connection, person: Person) -> None:
    """Let one who asks twice at once be counted one after the other."""
    turn = select(people.c.id).where(people.c.id == person.id)
    db.execute(turn.with_for_update(key_share=True))


def build_context(db: Connection, draft: Row[Any], position: int | None = None) -> Context:
    """Put together what a co-author is shown of a game and of a draft up to a place in it."""
    at = len(draft.text) if position is None else position
    if not 0 <= at <= len(draft.text):
        raise InputError(
            f"position {at} is not in the draft of {len(draft.text):,} characters",
            "count Unicode code points of the text that was saved last",
        )
    number = select(scenes.c.number).where(scenes.c.id == draft.scene_id).scalar_subquery()
    before = select(func.count()).where(scenes.c.game_id == draft.game_id, scenes.c.number < number)
    entry = entry_json(db, draft_id=draft.id) | {"description": draft.text[:at]}
    game = export_game(db, draft.game_id)
    return storium_context(game, entry, story=draft.game_id, scene=db.scalar(before))


def draft_context(db: Connection, draft_id: str) -> Context | None:
    """Give what a worker gets ready for when a draft was opened; None if the draft has ended."""
    row = db.execute(select(drafts).where(drafts.c.id == draft_id)).first()
    return build_context(db, row) if row is not None and row.state == "open" else None


def load_context(db: Connection, suggestion: Row[Any]) -> dict[str, Any]:
    """Give the context of a suggestion's row as its co-author gets it: with the game in full.

    It is not stored with each: it is long, and stands in the database already.
    """
    context: dict[str, Any] = dict(suggestion.context)
    if context.get("game") is None and suggestion.game_id is not None:
        context["game"] = export_game(db, suggestion.game_id)
    elif context.get("game") is None and suggestion.story_id is not None:
        query = select(stories.c.story).where(stories.c.id == suggestion.story_id)
        context["game"] = db.scalar(query)
    return context


def read_suggestion(studio: Studio, person: Person, suggestion_id: str) -> Suggestion:
    """Give a suggestion to who asked for it, with the text so far."""
    with studio.read() as db:
        return find_suggestion(db, person, suggestion_id)


def read_context(studio: Studio, person: Person, suggestion_id: str) -> Mapping[str, Any]:
    """Give what the co-author is shown, as plain values: segments, entry, text to the cursor."""
    query = select(suggestions.c.context).where(suggestions.c.id == suggestion_id)
    with studio.read() as db:
        find_suggestion(db, person, suggestion_id)
        return dict(db.execute(query).scalar_one())


def list_suggestions(studio: Studio, person: Person, draft_id: str) -> list[Suggestion]:
    """Give the suggestions of a draft in the order they were asked for."""
    query = select(*_COLUMNS).where(suggestions.c.draft_id == draft_id)
    with studio.read() as db:
        find_draft(db, person, draft_id)
        rows = db.execute(query.order_by(suggestions.c.asked_at, suggestions.c.id)).all()
    return [read_row(row) for row in rows]


def cancel_suggestion(studio: Studio, person: Person, suggestion_id: str) -> Suggestion:
    """Let a co-author stop; what it has written stays. One that has ended stays as it is."""
    with studio.write() as db:
        if find_suggestion(db, person, suggestion_id).person_id != person.id:
            raise NotAllowed("somebody else asked for this suggestion", "cancel your own")
        # A worker locks the job and then the suggestion: the same order here.
        cancel_job(db, "suggest", suggestion_id)
        which = (suggestions.c.id == suggestion_id) & suggestions.c.status.in_(UNFINISHED)
        values = {"status": "cancelled", "ended_at": now()}
        db.execute(update(suggestions).where(which).values(**values))
        return find_suggestion(db, person, suggestion_id)


# All but the context, which is long and rarely asked for.
_COLUMNS = [suggestions.c[name] for name in Suggestion.__dataclass_fields__]


def read_row(row: Row[Any]) -> Suggestion:
    """Make a suggestion of its row."""
    return Suggestion(**row._mapping)


def find_suggestion(
    db: Connection, person: Person, suggestion_id: str, *, lock: bool = False
) -> Suggestion:
    """Give a suggestion to who asked for it, or to researchers; `lock` it to decide upon it."""
    query = select(*_COLUMNS).where(suggestions.c.id == suggestion_id)
    row = db.execute(query.with_for_update(key_share=True) if lock else query).first()
    if row is None or not (row.person_id == person.id or person.may("researcher")):
        raise NotFound(f"there is no suggestion {suggestion_id}", "see those of your draft")
    return read_row(row)


def _find_by_key(db: Connection, person: Person, key: str) -> Suggestion | None:
    same = (suggestions.c.person_id == person.id) & (suggestions.c.key == key)
    row = db.execute(select(*_COLUMNS).where(same)).first()
    return read_row(row) if row is not None else None


def _need_room(db: Connection, person: Person) -> None:
    mine = (suggestions.c.person_id == person.id) & suggestions.c.status.in_(UNFINISHED)
    count = db.scalar(select(func.count()).where(mine)) or 0
    if count >= MOST_UNFINISHED:
        raise NoCapacity(
            f"you are waiting for {count} suggestions already", "wait for one, or cancel it"
        )


def _check_decoding(given: Mapping[str, Any]) -> dict[str, Any]:
    """Give the settings that a caller changes; one that is unknown or will not do is refused."""
    checked = asdict(from_plain(Decoding, dict(given), "decoding", error=InputError))
    settings = {name: checked[name] for name in given}
    bounds = {
        "temperature": (0.0, 10.0),
        "top_k": (0, 100_000),
        "top_p": (0.0, 1.0),
        "penalty": (0.1, 10.0),
        "max_sentences": (0, 1_000),
    }
    for name, (low, high) in bounds.items():
        if name in settings and not low <= settings[name] <= high:
            raise InputError(f"decoding: {name} is {settings[name]}", f"give {low} to {high}")
    return settings


def _check_seed(seed: int | None) -> int:
    """Give the seed that was told, or draw one."""
    if seed is None:
        return secrets.randbelow(2**31)
    if not 0 <= seed <= _MOST_SEED:
        raise InputError(f"seed is {seed}", f"give 0 to {_MOST_SEED}")
    return seed
