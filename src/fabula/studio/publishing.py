"""Publishing: a draft becomes an entry, and what was suggested in it is scored.

All of it is one transaction: the entry, its cards, the end of the draft, the published text of
every suggestion that was asked for in it, and the scores. These are computed before the database
is locked, from the version that is to be published; if anything has changed meanwhile they are
computed again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed
from fabula.core.score import Score, Status
from fabula.studio.authorship import parse_marks
from fabula.studio.database import Studio
from fabula.studio.drafts import cancel_unfinished, find_draft, need_open
from fabula.studio.games import next_seq_id
from fabula.studio.kept import score_suggestion, signature_of
from fabula.studio.people import Person
from fabula.studio.plays import lay_cards, plan_turn
from fabula.studio.tables import drafts, entries, new_id, now, suggestions
from fabula.studio.tables import scores as score_table
from fabula.studio.versions import StaleVersion

_ATTEMPTS = 5


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
            row = find_draft(db, person, draft_id)
            _need_author(row, person)
            if row.state == "published":
                return _read_published(db, draft_id)
            _check(row, version)
            asked = _read_asked(db, draft_id)
        if any(one.status in ("pending", "executing") for one in asked):
            with studio.write() as db:
                find_draft(db, person, draft_id, lock=True)
                cancel_unfinished(db, draft_id)
            continue
        scored = score_asked(asked, row.text, row.marks)
        try:
            with studio.write() as db:
                row = find_draft(db, person, draft_id, lock=True)
                if row.state == "published":
                    return _read_published(db, draft_id)
                _check(row, version)
                return _publish(db, person, row, len(asked), scored)
        except _SuggestionAdded:
            continue
    raise Conflict("suggestions are being asked for meanwhile", "publish once they are there")


class _SuggestionAdded(Exception):
    """Somebody has asked for a suggestion since the others were scored."""


def score_asked(
    asked: Sequence[Row[Any]], published: str, marks: Sequence[Sequence[Any]]
) -> list[Score]:
    """Score suggestions that have a text beside what was published, one after the other."""
    drawn = parse_marks(marks)
    return [
        score
        for one in asked
        if one.generated
        for score in score_suggestion(one.generated, published, story=one.id, marks=drawn)
    ]


def _need_author(row: Row[Any], person: Person) -> None:
    if row.author_id != person.id:
        raise NotAllowed("the draft is somebody else's", "publish one of your own")


def _check(row: Row[Any], version: int) -> None:
    need_open(row)
    if version != row.version:
        raise StaleVersion(version, row.version)
    if not row.text.strip():
        raise InputError("the draft has no text", "write something, or discard it")


def _read_asked(db: Connection, draft_id: str) -> list[Row[Any]]:
    columns = (suggestions.c.id, suggestions.c.status, suggestions.c.generated)
    query = select(*columns).where(suggestions.c.draft_id == draft_id)
    return list(db.execute(query.order_by(suggestions.c.id)))


def _publish(
    db: Connection, person: Person, draft: Row[Any], asked: int, scored: Sequence[Score]
) -> Published:
    """Write the entry of a draft that is locked, and all that belongs to it."""
    # This locks the game: what is planned stays so until the end.
    seq_id, entry_id, moment = next_seq_id(db, draft.game_id), new_id(), now()
    place = {
        "game_id": draft.game_id,
        "scene_id": draft.scene_id,
        "format": draft.format,
        "character_id": draft.character_id,
    }
    turn = plan_turn(db, person, cards=draft.cards, **place)
    values = {"id": entry_id, "seq_id": seq_id, "text": draft.text, "published_at": moment}
    told = {"polarity": turn.polarity, "extra": dict(turn.extra), "draft_id": draft.id}
    db.execute(insert(entries).values(author_id=person.id, **place, **values, **told))
    lay_cards(db, entry_id, draft.game_id, turn)
    db.execute(update(drafts).where(drafts.c.id == draft.id).values(state="published"))
    final = {"published": draft.text, "published_at": moment, "entry_id": entry_id}
    finish = update(suggestions).where(suggestions.c.draft_id == draft.id).values(**final)
    if db.execute(finish).rowcount != asked:
        raise _SuggestionAdded
    write_scores(db, scored)
    return Published(entry_id, seq_id, moment, tuple(scored))


_SCORE_COLUMNS = (
    "suggestion_id",
    "scorer",
    "aspect",
    "value",
    "status",
    "coverage",
    "note",
    "signature",
)


def write_scores(db: Connection, scored: Sequence[Score]) -> None:
    """Write scores of suggestions, in one statement: a value that is missing is NULL."""
    if not scored:
        return
    values: list[Any] = []
    for score in scored:
        value = score.value if score.ok else None
        kept = (value, str(score.status), score.coverage, score.note)
        values += (score.story, score.scorer, score.aspect, *kept, signature_of(score.scorer))
    # A statement of so many rows takes longer to put together anew than to run.
    mark = "?" if db.dialect.name == "sqlite" else "%s"
    db.exec_driver_sql(_score_statement(len(scored), mark), tuple(values))


@cache
def _score_statement(count: int, mark: str) -> str:
    row = f"({', '.join([mark] * len(_SCORE_COLUMNS))})"
    columns = ", ".join(_SCORE_COLUMNS)
    return f"INSERT INTO {score_table.name} ({columns}) VALUES {', '.join([row] * count)}"


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
