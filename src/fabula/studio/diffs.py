"""What people made of suggestions: the texts side by side, and lists of them.

A suggestion and the entry that was published are laid beside each other in the blocks of USER.
Lists are for researchers and who has the scope `user_edits`, and of one's own for everybody; the
public, where a page lets it in, sees the last ten without anything that says whose they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, func, select

from fabula.core.errors import InputError
from fabula.studio.database import Studio
from fabula.studio.filters import EVERYTHING, UNIT, Filter, check_filter, select_published
from fabula.studio.kept import kept_metrics
from fabula.studio.people import Person
from fabula.studio.quality import list_columns
from fabula.studio.ratings import COMMENT
from fabula.studio.storium_door import need_scope
from fabula.studio.tables import games, machines, ratings, scores, suggestions
from fabula.text.kept_words import share_blocks

# What the public sees at most.
MOST_PUBLIC = 10
MOST_AT_ONCE = 200


@dataclass(frozen=True)
class DiffBlock:
    """A part of what was published (`kept`, `neutral`: kept, but of stop words alone, `added`)
    or of what was suggested (`deleted`)."""

    kind: Literal["kept", "neutral", "added", "deleted"]
    text: str


def diff_suggestion(generated: str, published: str) -> list[DiffBlock]:
    """Lay a suggestion and what was published side by side, in the blocks of USER.

    The blocks that are not deleted are, one after the other, the published text.
    """
    diff: list[DiffBlock] = []
    left = right = 0
    stop_words = kept_metrics()[0].left_out
    for block in share_blocks(generated, published, stop_words=stop_words):
        diff += [
            DiffBlock("deleted", generated[left : block.left[0]]),
            DiffBlock("added", published[right : block.right[0]]),
            DiffBlock("kept" if block.counts else "neutral", published[slice(*block.right)]),
        ]
        left, right = block.left[1], block.right[1]
    diff += [DiffBlock("deleted", generated[left:]), DiffBlock("added", published[right:])]
    return [block for block in diff if block.text]


@dataclass(frozen=True)
class SuggestionEdit:
    """A suggestion and what was made of it. `qualities` are those of `Opinions`, as far as they
    are there. The public is shown neither game nor comments."""

    suggestion: str
    machine: str
    published_at: datetime
    game: str
    title: str
    generated: str
    published: str
    blocks: tuple[DiffBlock, ...]
    qualities: Mapping[str, float]
    comments: tuple[str, ...]


@dataclass(frozen=True)
class EditPage:
    """Some of the edits, from `offset` on, and how many there are in all."""

    total: int
    offset: int
    edits: tuple[SuggestionEdit, ...]


def list_edits(
    studio: Studio,
    person: Person | None,
    chosen: Filter = EVERYTHING,
    *,
    offset: int = 0,
    limit: int = 10,
) -> EditPage:
    """List what became of suggestions, the newest first, a page at a time.

    `person` is None for the public, which sees ten at most.
    """
    if person is not None and chosen.author != person.id:
        need_scope(person, "user_edits")
    if offset < 0 or not 1 <= limit <= MOST_AT_ONCE:
        raise InputError(
            f"offset is {offset}, limit {limit}", f"take 0 or more, and 1 to {MOST_AT_ONCE}"
        )
    with studio.snapshot() as db:
        check_filter(db, chosen)
        total = db.scalar(select_published(chosen, func.count())) or 0
        if person is None:
            total = min(total, MOST_PUBLIC)
        limit = max(0, min(limit, total - offset))
        rows = db.execute(_select_edits(chosen).offset(offset).limit(limit)).all() if limit else ()
        edits = _make_edits(db, rows, chosen, public=person is None)
    return EditPage(total, offset, tuple(edits))


def stream_edits(
    studio: Studio, person: Person, chosen: Filter = EVERYTHING
) -> Iterator[SuggestionEdit]:
    """Give all of them, one after the other, of one moment of the studio."""
    if chosen.author != person.id:
        need_scope(person, "user_edits")
    with studio.read() as db:
        check_filter(db, chosen)
    return _go_through(studio, chosen)


def _go_through(studio: Studio, chosen: Filter) -> Iterator[SuggestionEdit]:
    with studio.snapshot() as db:
        offset = 0
        while rows := db.execute(_select_edits(chosen).offset(offset).limit(MOST_AT_ONCE)).all():
            offset += len(rows)
            yield from _make_edits(db, rows, chosen, public=False)


def _select_edits(chosen: Filter) -> Select[Any]:
    columns = (
        suggestions.c.id,
        machines.c.name.label("machine"),
        suggestions.c.published_at,
        UNIT.label("game"),
        games.c.title,
        suggestions.c.generated,
        suggestions.c.published,
    )
    newest = suggestions.c.published_at.desc(), suggestions.c.id.desc()
    return select_published(chosen, *columns).order_by(*newest)


def _make_edits(
    db: Connection, rows: Sequence[Row[Any]], chosen: Filter, *, public: bool
) -> list[SuggestionEdit]:
    if not rows:
        return []
    wanted = [row.id for row in rows]
    qualities = _read_qualities(db, wanted, chosen)
    comments: dict[str, list[str]] = {} if public else _read_comments(db, wanted)
    return [
        SuggestionEdit(
            row.id,
            row.machine,
            row.published_at,
            "" if public else row.game,
            "" if public else row.title or "",
            row.generated,
            row.published,
            tuple(diff_suggestion(row.generated, row.published)),
            qualities.get(row.id, {}),
            tuple(comments.get(row.id, ())),
        )
        for row in rows
    ]


def _read_qualities(
    db: Connection, wanted: Sequence[str], chosen: Filter
) -> dict[str, dict[str, float]]:
    """Qualities of suggestions by their labels, in the order of `Opinions`."""
    rated = (
        select(ratings.c.suggestion_id, ratings.c.aspect, func.avg(ratings.c.value))
        .where(ratings.c.suggestion_id.in_(wanted), ratings.c.value.is_not(None))
        .group_by(ratings.c.suggestion_id, ratings.c.aspect)
    )
    scored = (
        select(scores.c.suggestion_id, scores.c.scorer, scores.c.aspect, scores.c.value)
        .where(scores.c.suggestion_id.in_(wanted), scores.c.value.is_not(None))
        .where(scores.c.aspect == chosen.measure)
    )
    known = {(row[0], "", row[1]): float(row[2]) for row in db.execute(rated)}
    known |= {(row[0], row[1], row[2]): float(row[3]) for row in db.execute(scored)}
    return {
        suggestion: {
            label: known[suggestion, *key]
            for label, key in list_columns(chosen)
            if (suggestion, *key) in known
        }
        for suggestion in wanted
    }


def _read_comments(db: Connection, wanted: Sequence[str]) -> dict[str, list[str]]:
    query = (
        select(ratings.c.suggestion_id, ratings.c.comment)
        .where(ratings.c.suggestion_id.in_(wanted), ratings.c.aspect == COMMENT)
        .order_by(ratings.c.rated_at, ratings.c.id)
    )
    comments: dict[str, list[str]] = {}
    for suggestion, comment in db.execute(query):
        comments.setdefault(suggestion, []).append(comment)
    return comments
