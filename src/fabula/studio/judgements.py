"""What judges are shown of suggestions that were published: for crowds, as STORIUM gave it out.

Judges need the scope `judgement`. Games that were excluded are left out, and people in games are
pseudonyms, the same as in an export of the studio.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, Row, select

from fabula.studio.database import Studio
from fabula.studio.export import make_callers
from fabula.studio.filters import Filter, MachineStatus, select_published
from fabula.studio.people import Person
from fabula.studio.storium_door import need_scope
from fabula.studio.storium_json import entry_json
from fabula.studio.suggestions import load_context
from fabula.studio.tables import entries, machines, stories, suggestions

COLUMNS = (
    "suggestion_id",
    "model_name",
    "character_name",
    "character_description",
    "challenge_name",
    "challenge_text",
    "challenge_success_description",
    "challenge_failure_description",
    "played_card_1_name",
    "played_card_1_description",
    "previous_entry_text",
    "suggestion_text",
)
Object = Mapping[str, Any]


def stream_contexts(
    studio: Studio, person: Person, *, limit: int = 0, status: MachineStatus | None = None
) -> Iterator[dict[str, str]]:
    """Give the few texts that a judge reads beside each suggestion, one row after the other.

    A suggestion without a character or a card that was played has no row. At most `limit` of each
    machine (0: all); `status` chooses machines by theirs.
    """
    need_scope(person, "judgement")
    return _go_through(studio, _describe_context, limit=limit, status=status)


def stream_stories(
    studio: Studio, person: Person, *, limit: int = 0, status: MachineStatus | None = None
) -> Iterator[dict[str, Any]]:
    """Give whole stories with the entry as it was suggested and as it was published."""
    need_scope(person, "judgement")
    callers = make_callers(studio, names=False)

    def describe(db: Connection, row: Row[Any]) -> dict[str, Any] | None:
        described = _describe_story(db, row)
        return None if described is None else callers.call_inside(described)

    return _go_through(studio, describe, limit=limit, status=status)


def _go_through(
    studio: Studio,
    describe: Callable[[Connection, Row[Any]], dict[str, Any] | None],
    *,
    limit: int,
    status: MachineStatus | None,
) -> Iterator[dict[str, Any]]:
    """Describe suggestions in the order in which they were asked for, in one moment of all."""
    counts: Counter[str] = Counter()
    query = select_published(Filter(status=status), suggestions.c.id, machines.c.name)
    with studio.snapshot() as db:
        ordered = query.order_by(suggestions.c.asked_at, suggestions.c.id)
        for suggestion_id, machine in db.execute(ordered).all():
            if limit and counts[machine] >= limit:
                continue
            # One at a time: a story is long.
            which = suggestions.c.id == suggestion_id
            row = db.execute(_ROW.where(which)).one()
            if (described := describe(db, row)) is not None:
                counts[machine] += 1
                yield described


_ROW = (
    select(suggestions, machines.c.name.label("machine"), stories.c.story)
    .join(machines, machines.c.id == suggestions.c.machine_id)
    .outerjoin(stories, stories.c.id == suggestions.c.story_id)
)


def _describe_context(db: Connection, row: Row[Any]) -> dict[str, Any] | None:
    entry: Object = row.context.get("entry") or {}
    played = entry.get("cards_played_on_challenge")
    segments = row.context.get("segments") or ()
    character = next((each for each in segments if each["kind"] == "character"), None)
    if character is None or not played:
        return None
    challenge: Object = entry.get("target_challenge_card") or {}
    texts = (
        row.id,
        row.machine,
        character["title"],
        character["text"],
        *(challenge.get(key) for key in ("name", "description", "success_stakes")),
        challenge.get("failure_stakes"),
        played[0].get("name"),
        played[0].get("description"),
        _find_previous(db, row),
        row.generated,
    )
    return {name: str(text or "") for name, text in zip(COLUMNS, texts, strict=True)}


def _find_previous(db: Connection, row: Row[Any]) -> str:
    """The text of the entry right before: the last of the last scene that was uploaded, or of
    what had been published in the studio."""
    if row.story is None:
        own = select(entries.c.seq_id).where(entries.c.id == row.entry_id).scalar_subquery()
        before = (entries.c.game_id == row.game_id) & (entries.c.seq_id < own)
        query = select(entries.c.text).where(before).order_by(entries.c.seq_id.desc()).limit(1)
        return db.scalar(query) or ""
    value: Any = row.story
    for key in ("scenes", "entries"):
        listed = value.get(key) if isinstance(value, Mapping) else None
        value = listed[-1] if isinstance(listed, list) and listed else {}
    return str(value.get("description") or "") if isinstance(value, Mapping) else ""


def _describe_story(db: Connection, row: Row[Any]) -> dict[str, Any] | None:
    entry = row.context.get("entry")
    if entry is None:
        return None
    published = row.finalized
    if published is None and row.entry_id is not None:
        published = entry_json(db, entry_id=row.entry_id)
    return {
        "model_name": row.machine,
        "story": load_context(db, row)["game"],
        "generated": {**entry, "description": row.generated},
        "finalized": published,
    }
