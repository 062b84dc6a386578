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

from sqlalchemy import Connection, Row, func, insert, select, update

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


_DRAFT = select(
    drafts,
    suggestions.c.id.label("suggestion_id"),
    suggestions.c.status,
    suggestions.c.generated,
).select_from(drafts.outerjoin(suggestions, suggestions.c.draft_id == drafts.c.id))


def _read_draft(db: Connection, person: Person, draft_id: str) -> tuple[Row[Any], list[Row[Any]]]:
    """Give a draft to its author, and the suggestions that were asked for in it."""
    query = _DRAFT.where(drafts.c.id == draft_id).order_by(suggestions.c.id)
    rows = list(db.execute(query))
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
    still = (drafts.c.id == draft.id) & (drafts.c.state == "open")
    end = update(drafts).where(still, drafts.c.version == draft.version)
    cards = db.execute(end.values(state="published").returning(drafts.c.cards)).scalar()
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
    db.execute(insert(entries).values(**entry))
    lay_cards(db, entry_id, draft.game_id, turn)
    final = {"published": draft.text, "published_at": moment, "entry_id": entry_id}
    finish = update(suggestions).where(suggestions.c.draft_id == draft.id).values(**final)
    if db.execute(finish).rowcount != asked:
        raise _ChangedMeanwhile
    write_scores(db, scored)
    return Published(entry_id, seq_id, moment, tuple(scored))


def _plan(
    db: Connection, person: Person, draft: Row[Any], cards: Mapping[str, Sequence[str]]
) -> tuple[int, Turn]:
    """Lock the game; give the number of its next entry, and what the entry does with cards."""
    lock_game_row(db, draft.game_id)
    place = {name: getattr(draft, name) for name in ("game_id", "scene_id", "character_id")}
    last = select(func.max(entries.c.seq_id)).where(entries.c.game_id == draft.game_id)
    joined = (
        scenes.outerjoin(
            members, (members.c.game_id == scenes.c.game_id) & (members.c.person_id == person.id)
        )
    ).outerjoin(characters, characters.c.id == draft.character_id)
    columns = (last.scalar_subquery().label("last"), members.c.part, scenes.c.is_complete)
    query = select(*columns, characters.c.player_id).select_from(joined)
    found = db.execute(query.where(scenes.c.id == draft.scene_id)).one()
    is_own = draft.character_id is None or found.player_id == person.id
    if found.is_complete or not (found.part == "narrator" or (found.part == "player" and is_own)):
        # It says what is in the way.
        plan_turn(db, person, format=draft.format, cards=cards, **place)
    turn = plan_cards(db, found.part, format=draft.format, cards=cards, **place)
    return (found.last or 0) + 1, turn


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
