"""Publishing: a draft becomes an entry, and what was suggested in it is scored.

All of it is one transaction: the entry, its cards, the end of the draft, the published text of
every suggestion that was asked for in it, and the scores. These are computed before the database
is locked, from the version that is to be published; if anything has changed meanwhile they are
computed again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed
from fabula.core.score import Score, Status
from fabula.studio.authorship import parse_marks
from fabula.studio.database import Studio
from fabula.studio.drafts import cancel_unfinished, find_draft, need_open
from fabula.studio.games import lock_game_row
from fabula.studio.kept import score_suggestion, signature_of
from fabula.studio.people import Person
from fabula.studio.plays import Turn, lay_cards, plan_cards, plan_turn
from fabula.studio.suggestions import UNFINISHED
from fabula.studio.tables import (
    characters,
    drafts,
    entries,
    members,
    new_id,
    now,
    scenes,
    suggestions,
)
from fabula.studio.tables import scores as score_table
from fabula.studio.versions import StaleVersion

_ATTEMPTS = 5

# Publishing is what is done most under a lock: its questions are put together once.
_READ_DRAFT = (
    select(
        drafts,
        suggestions.c.id.label("suggestion_id"),
        suggestions.c.status,
        suggestions.c.generated,
    )
    .select_from(drafts.outerjoin(suggestions, suggestions.c.draft_id == drafts.c.id))
    .where(drafts.c.id == bindparam("draft"))
    .order_by(suggestions.c.id)
)
_END_DRAFT = (
    update(drafts)
    .where(drafts.c.id == bindparam("draft"), drafts.c.state == "open")
    .where(drafts.c.version == bindparam("read_version"))
    .values(state="published")
    .returning(drafts.c.cards)
)
_END_SUGGESTIONS = (
    update(suggestions)
    .where(suggestions.c.draft_id == bindparam("draft"))
    .values({name: bindparam(name) for name in ("published", "published_at", "entry_id")})
)
_INSERT_ENTRY = insert(entries)
_IS_MEMBER = (members.c.game_id == scenes.c.game_id) & (members.c.person_id == bindparam("person"))
_FIND_PLACE = (
    select(
        select(func.max(entries.c.seq_id))
        .where(entries.c.game_id == bindparam("game_id"))
        .scalar_subquery()
        .label("last"),
        members.c.part,
        scenes.c.is_complete,
        characters.c.player_id,
    )
    .select_from(
        scenes.outerjoin(members, _IS_MEMBER).outerjoin(
            characters, characters.c.id == bindparam("character_id")
        )
    )
    .where(scenes.c.id == bindparam("scene_id"))
)


@dataclass(frozen=True)
class Published:
    """An entry, its number in the game, and the scores of the suggestions of its draft; the
    story of a score is the suggestion."""

    entry_id: str
    seq_id: int
    published_at: datetime
    scores: tuple[Score, ...]


def publish_entry(studio: Studio, person: Person, draft_id: str, *, version: int) -> Published:
    """Publish a version of a draft, which has to be the last; again gives the first result.

    What is still being suggested is cancelled.
    """
    for _ in range(_ATTEMPTS):
        with studio.read() as db:
            draft, asked = _read_draft(db, person, draft_id)
            if draft.state == "published":
                return _read_published(db, draft_id)
            _check(draft, version)
        if any(one.status in UNFINISHED for one in asked):
            with studio.write() as db:
                find_draft(db, person, draft_id, lock=True)
                cancel_unfinished(db, draft_id)
            continue
        scored = score_asked(asked, draft.text, draft.marks)
        try:
            with studio.write() as db:
                return _publish(db, person, draft, len(asked), scored)
        except _ChangedMeanwhile:
            continue
    raise Conflict("the draft is being changed meanwhile", "publish it once that is done")


class _ChangedMeanwhile(Exception):
    """The draft has changed since it was read, or a suggestion was asked for."""


def score_asked(
    asked: Sequence[Row[Any]], published: str, marks: Sequence[Sequence[Any]]
) -> list[Score]:
    """Score suggestions that have a text beside what was published, one after the other."""
    drawn = parse_marks(marks)
    return [
        score
        for one in asked
        if one.generated
        for score in score_suggestion(
            one.generated, published, story=one.suggestion_id, marks=drawn
        )
    ]


def _read_draft(db: Connection, person: Person, draft_id: str) -> tuple[Row[Any], list[Row[Any]]]:
    """Give a draft to its author, and the suggestions that were asked for in it."""
    rows = list(db.execute(_READ_DRAFT, {"draft": draft_id}))
    if not rows or rows[0].author_id != person.id:
        find_draft(db, person, draft_id)
        raise NotAllowed("the draft is somebody else's", "publish one of your own")
    return rows[0], [row for row in rows if row.suggestion_id is not None]


def _check(draft: Row[Any], version: int) -> None:
    need_open(draft)
    if version != draft.version:
        raise StaleVersion(version, draft.version)
    if not draft.text.strip():
        raise InputError("the draft has no text", "write something, or discard it")


def _publish(
    db: Connection, person: Person, draft: Row[Any], asked: int, scored: Sequence[Score]
) -> Published:
    """Write the entry of a draft, and all that belongs to it, in as few questions as can be.

    The first two lock the draft and its game: what is found after them stays so until the end.
    """
    which = {"draft": draft.id, "read_version": draft.version}
    cards = db.execute(_END_DRAFT, which).scalar()
    if cards is None:
        raise _ChangedMeanwhile
    seq_id, turn = _plan(db, person, draft, cards)
    entry_id, moment = new_id(), now()
    entry = {
        **{name: getattr(draft, name) for name in ("game_id", "scene_id", "character_id")},
        "id": entry_id,
        "seq_id": seq_id,
        "format": draft.format,
        "text": draft.text,
        "polarity": turn.polarity,
        "extra": dict(turn.extra),
        "draft_id": draft.id,
        "author_id": person.id,
        "published_at": moment,
    }
    db.execute(_INSERT_ENTRY, entry)
    lay_cards(db, entry_id, draft.game_id, turn)
    final = {"published": draft.text, "published_at": moment, "entry_id": entry_id}
    if db.execute(_END_SUGGESTIONS, {"draft": draft.id, **final}).rowcount != asked:
        raise _ChangedMeanwhile
    write_scores(db, scored)
    return Published(entry_id, seq_id, moment, tuple(scored))


def _plan(
    db: Connection, person: Person, draft: Row[Any], cards: Mapping[str, Sequence[str]]
) -> tuple[int, Turn]:
    """Lock the game; give the number of its next entry, and what the entry does with cards."""
    lock_game_row(db, draft.game_id)
    place = {name: getattr(draft, name) for name in ("game_id", "scene_id", "character_id")}
    found = db.execute(_FIND_PLACE, {**place, "person": person.id}).one()
    is_own = draft.character_id is None or found.player_id == person.id
    if found.is_complete or not (found.part == "narrator" or (found.part == "player" and is_own)):
        # It says what is in the way.
        plan_turn(db, person, format=draft.format, cards=cards, **place)
    turn = plan_cards(db, found.part, format=draft.format, cards=cards, **place)
    return (found.last or 0) + 1, turn


_SCORE_COLUMNS = {
    "suggestion_id": "varchar",
    "scorer": "varchar",
    "aspect": "varchar",
    "value": "float8",
    "status": "varchar",
    "coverage": "float8",
    "note": "text",
    "signature": "text",
}
# SQLite takes some 32,000 parameters in a statement.
_MOST_ROWS = 2000
_INSERT_SCORES = f"INSERT INTO {score_table.name} ({', '.join(_SCORE_COLUMNS)})"


def write_scores(db: Connection, scored: Sequence[Score], *, signature: str | None = None) -> None:
    """Write scores of suggestions, in one statement: a value that is missing is NULL.

    The `signature` of each is its scorer's, unless it is told.
    """
    if not scored:
        return
    rows = [
        (
            score.story,
            score.scorer,
            score.aspect,
            score.value if score.ok else None,
            str(score.status),
            score.coverage,
            score.note,
            signature_of(score.scorer) if signature is None else signature,
        )
        for score in scored
    ]
    # A statement of so many rows takes SQLAlchemy longer to put together than the database to
    # run. For SQLite its text is kept by the number of rows: run row by row, it would let go of
    # the interpreter after each of them, and others would take it. PostgreSQL's driver takes as
    # long again for some two hundred parameters, and gets one.
    if db.dialect.name == "sqlite":
        for start in range(0, len(rows), _MOST_ROWS):
            part = rows[start : start + _MOST_ROWS]
            db.exec_driver_sql(_spell_insert(len(part)), tuple(chain.from_iterable(part)))
    else:
        named = [dict(zip(_SCORE_COLUMNS, row, strict=True)) for row in rows]
        db.exec_driver_sql(_INSERT_SCORES_AT_ONCE, (json.dumps(named),))


@lru_cache(maxsize=256)
def _spell_insert(rows: int) -> str:
    marks = f"({', '.join('?' * len(_SCORE_COLUMNS))})"
    return f"{_INSERT_SCORES} VALUES {', '.join([marks] * rows)}"


_TYPES = ", ".join(f"{name} {kind}" for name, kind in _SCORE_COLUMNS.items())
_INSERT_SCORES_AT_ONCE = (
    f"{_INSERT_SCORES} SELECT {', '.join(_SCORE_COLUMNS)} "
    f"FROM jsonb_to_recordset(%s::jsonb) AS rows({_TYPES})"
)


def _read_published(db: Connection, draft_id: str) -> Published:
    """Give what publishing a draft has given the first time."""
    columns = (entries.c.id, entries.c.seq_id, entries.c.published_at)
    entry = db.execute(select(*columns).where(entries.c.draft_id == draft_id)).one()
    query = (
        select(score_table)
        .join(suggestions, suggestions.c.id == score_table.c.suggestion_id)
        .where(suggestions.c.draft_id == draft_id)
        .order_by(score_table.c.id)
    )
    scored = tuple(read_score(row._mapping) for row in db.execute(query))
    return Published(entry.id, entry.seq_id, entry.published_at, scored)


def read_score(row: Mapping[Any, Any]) -> Score:
    """Make a score of its row: what is NULL is missing, and the status says why."""
    value = math.nan if row["value"] is None else row["value"]
    return Score(
        row["suggestion_id"],
        row["scorer"],
        row["aspect"],
        value,
        Status(row["status"]),
        row["coverage"],
        row["note"],
    )
