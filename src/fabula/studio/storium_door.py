"""STORIUM's door: a platform of others uploads its stories and asks for suggestions in them.

A story is a game as the platform exports it, known by the MD5 of its JSON; a suggestion is asked
for by an entry without text, and is the same for the same story, entry and kind. Who comes is the
platform, not a person of the studio: it has the scope `backend`, and what it asks for belongs to
nobody here. What becomes of a suggestion is in `storium_feedback.py`.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, Select, insert, select, update

from fabula.authors.context.ranges import format_wanted, full_range
from fabula.core.author import Decoding
from fabula.core.errors import InputError, NotFound
from fabula.datasets.story_games.game import read_entry
from fabula.studio.assignment import assign_machine
from fabula.studio.database import Studio, insert_new
from fabula.studio.jobs import add_job
from fabula.studio.people import Person, write_audit
from fabula.studio.suggestions import UNWRITTEN
from fabula.studio.tables import new_id, now, stories, suggestions
from fabula.text.context.segments import context_to_json, storium_context

Object = Mapping[str, Any]
Kind = Literal["scene_entry"]
StoryStatus = Literal["pending", "ready", "failed"]
DoorStatus = Literal["pending", "executing", "failed", "done"]
# The job that gets a story ready; a worker takes one between any two batches.
SNAPSHOT = "snapshot"
# Who comes with the secret that the platform and the studio share.
PLATFORM = Person("", "the platform", scopes=frozenset({"backend"}))
# The platform asks for no length: STORIUM's own is for every entry.
_WANTED = format_wanted(full_range())
_LONGEST_PID, _LONGEST_MOMENT = 200, 64


class WrittenAlready(InputError):
    """An entry that has a text where one is to be written."""


@dataclass(frozen=True)
class UploadedStory:
    """A story that was uploaded, and whether its machine is ready to write for it."""

    id: str
    status: StoryStatus


@dataclass(frozen=True)
class DoorSuggestion:
    """A suggestion as the platform sees it: `entry` is the one that was sent, with the text so
    far."""

    id: str
    status: DoorStatus
    entry: Object


def need_scope(person: Person, scope: str) -> None:
    """Refuse who was not given a scope, to whom there is nothing here. Researchers may read what
    scopes are given for; the backend is for programs that were named one."""
    is_reader = scope != "backend" and person.may("researcher")
    if scope not in person.scopes and not is_reader:
        raise NotFound("there is nothing at this address")


def upload_story(studio: Studio, person: Person, story: Object) -> UploadedStory:
    """Take a story in, give it a machine, and have the machine get ready for it.

    The same again is the same story; one whose machine could not get ready is tried again.
    """
    need_scope(person, "backend")
    story_id = hashlib.md5(spell_canonically(story), usedforsecurity=False).hexdigest()
    row = {
        "id": story_id,
        "pid": _read_short(story.get("game_pid"), _LONGEST_PID),
        "exported_at": _read_short(story.get("exported_at"), _LONGEST_MOMENT),
        "story": dict(story),
    }
    with studio.write() as db:
        is_new, status = _take_in(db, row)
        # What is pending is a worker's, which locks the job before the story: it is let alone.
        if is_new or status == "failed":
            machine = assign_machine(db, story_id)
            what = {"story_id": story_id}
            add_job(db, SNAPSHOT, story_id, machine_id=machine.id, payload=what, again=True)
            is_it = stories.c.id == story_id
            db.execute(update(stories).where(is_it).values(status="pending"))
            write_audit(db, person if person.id else None, "upload_story", story_id)
    return UploadedStory(story_id, "ready" if status == "ready" else "pending")


def _take_in(db: Connection, row: Mapping[str, Any]) -> tuple[bool, StoryStatus]:
    """Write a story unless it is there; whether it is new, and its status, which stays so."""
    # One that comes again is young again: nobody cleans it away before it is asked about.
    young = update(stories).where(stories.c.id == row["id"]).values(created_at=now())
    # What was excluded of a game stays so in its next export.
    same_game = select(stories.c.id).where(stories.c.pid == row["pid"], stories.c.is_excluded)
    is_excluded = db.execute(same_game.limit(1)).first() is not None
    while True:
        if insert_new(db, stories, {**row, "is_excluded": is_excluded}) is not None:
            return True, "pending"
        status: StoryStatus | None = db.scalar(young.returning(stories.c.status))
        # It may have been cleaned away since the look before.
        if status is not None:
            return False, status


def spell_canonically(value: Any) -> bytes:
    """Spell JSON so that equal values are equal bytes: keys in order, no blanks, UTF-8."""
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        return text.encode()
    except (ValueError, TypeError, RecursionError):
        raise InputError("the story is no sound JSON", "export it again") from None


def _read_short(value: Any, most: int) -> str | None:
    """A name or moment of somebody else's JSON, if it is one that can be kept."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return text if 0 < len(text) <= most else None


def story_status(studio: Studio, person: Person, story_id: str) -> UploadedStory:
    """Say whether a story is ready."""
    need_scope(person, "backend")
    with studio.read() as db:
        status = db.scalar(select(stories.c.status).where(stories.c.id == story_id))
    if status is None:
        raise NotFound(f"there is no story {story_id}", "upload it")
    return UploadedStory(story_id, status)


def ask_for_story(
    studio: Studio, person: Person, story_id: str, context: Object, kind: Kind = "scene_entry"
) -> DoorSuggestion:
    """Ask the machine of a story to write an entry, which is sent without its text.

    The same entry again gives the suggestion that there is; one that failed is tried again.
    """
    need_scope(person, "backend")
    entry = read_entry(dict(context), "the context")
    if entry.text:
        raise WrittenAlready("the context has a description", "leave it empty: it is to be written")
    key = hashlib.sha256(spell_canonically([story_id, kind, context])).hexdigest()
    same = {"story_id": story_id, "kind": kind, "key": key}
    with studio.read() as db:
        known = _find_same(db, same)
        if known is not None and not _is_to_retry(known):
            return show_suggestion(known)
        story = _need_ready(db, stories.c.story, story_id)
    shown = storium_context(story, context, story=story_id)
    order = {"context": context_to_json(replace(shown, game=None)), "wanted": _WANTED}
    with studio.write() as db:
        # Who asks for the same story waits here, and so does who cleans up.
        _need_ready(db, stories.c.id, story_id, lock=True)
        known = _find_same(db, same)
        if known is None or _is_to_retry(known):
            known = _order(db, same, order, known)
        return show_suggestion(known)


def _order(
    db: Connection, same: Mapping[str, str], order: Mapping[str, Any], failed: Row[Any] | None
) -> Row[Any]:
    """Write a suggestion, or one that failed anew, with the job of the story's machine."""
    machine = assign_machine(db, same["story_id"], kind=same["kind"])
    values = {
        **order,
        "machine_id": machine.id,
        "decoding": asdict(Decoding(**(machine.decoding or {}))),
        "seed": secrets.randbelow(2**31),
        "asked_at": now(),
    }
    suggestion_id = new_id() if failed is None else str(failed.id)
    if failed is None:
        db.execute(insert(suggestions).values(id=suggestion_id, **same, **values))
    else:
        is_it = suggestions.c.id == suggestion_id
        anew = {**UNWRITTEN, "problem": "", "ended_at": None}
        db.execute(update(suggestions).where(is_it).values(**anew, **values))
    add_job(db, "suggest", suggestion_id, machine_id=machine.id, again=True)
    return db.execute(_SHOWN.where(suggestions.c.id == suggestion_id)).one()


def read_door_suggestion(studio: Studio, person: Person, suggestion_id: str) -> DoorSuggestion:
    """Give a suggestion with the text so far."""
    need_scope(person, "backend")
    with studio.read() as db:
        row = find_row(db, suggestion_id)
    if row is None:
        raise NotFound(f"there is no suggestion {suggestion_id}", "ask for it")
    return show_suggestion(row)


def find_row(db: Connection, suggestion_id: str, *, lock: bool = False) -> Row[Any] | None:
    """Find a suggestion that was asked for through the door; `lock` it to decide upon it."""
    query = _SHOWN.where(suggestions.c.id == suggestion_id, suggestions.c.story_id.is_not(None))
    return db.execute(query.with_for_update(key_share=True) if lock else query).first()


def show_suggestion(row: Row[Any]) -> DoorSuggestion:
    """Show a row as STORIUM's protocol has it, which knows nothing of cancelling."""
    entry = row.context["entry"] | ({"description": row.generated} if row.generated else {})
    status: DoorStatus = "failed" if row.status == "cancelled" else row.status
    return DoorSuggestion(row.id, status, entry)


_SHOWN: Select[Any] = select(
    suggestions.c.id,
    suggestions.c.status,
    suggestions.c.context,
    suggestions.c.generated,
    suggestions.c.published_at,
)


def _find_same(db: Connection, same: Mapping[str, str]) -> Row[Any] | None:
    which = (suggestions.c[name] == value for name, value in same.items())
    return db.execute(_SHOWN.where(*which)).first()


def _is_to_retry(row: Row[Any]) -> bool:
    """Whether a suggestion has failed, and its entry was not published without it."""
    return row.status == "failed" and row.published_at is None


def _need_ready(
    db: Connection, column: ColumnElement[Any], story_id: str, *, lock: bool = False
) -> Any:
    """Give something of a story that is ready; to who asks for another it is not there."""
    query = select(column).where(stories.c.id == story_id, stories.c.status == "ready")
    value = db.scalar(query.with_for_update(key_share=True) if lock else query)
    if value is None:
        raise NotFound(f"there is no story {story_id} that is ready", "look at its status")
    return value
