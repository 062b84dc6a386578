"""Holds a studio's database against what its authors were answered."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Row, func, select

from fabula.studio.database import Studio
from fabula.studio.tables import drafts, edits, entries, jobs, scores, suggestions, versions

# After the last start: a lease that was lost ends in ten seconds, and three attempts follow.
QUIET_WITHIN_S = 120.0


@dataclass
class Told:
    """A draft, and what its author was answered: texts by version, suggestions, an entry."""

    id: str
    author_id: str
    key: str
    opened_at: float
    texts: list[str] = field(default_factory=lambda: [""])
    keys: list[tuple[str, float]] = field(default_factory=list)
    suggestions: dict[str, tuple[str, float]] = field(default_factory=dict)
    finished: dict[str, str] = field(default_factory=dict)
    entry: tuple[str, int, int] | None = None
    published_at: float = float("inf")

    @property
    def version(self) -> int:
        return len(self.texts) - 1

    @property
    def text(self) -> str:
        return self.texts[-1]

    def add(self, key: str, text: str) -> None:
        """Write down a saving that was answered."""
        self.texts.append(text)
        self.keys.append((key, time.time()))


@dataclass
class Found:
    """What an audit has counted, and what is wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def need(self, is_so: bool, fault: str) -> None:
        if not is_so:
            self.faults.append(fault)


def wait_until_quiet(studio: Studio) -> tuple[float, list[str]]:
    """Wait until no suggestion and no job waits; the seconds, and those that are stuck."""
    begun = time.monotonic()
    unfinished = suggestions.c.status.in_(("pending", "executing"))
    waiting = jobs.c.state.in_(("waiting", "leased"))
    while True:
        with studio.read() as db:
            stuck = [
                f"suggestion {row.id} is {row.status}"
                for row in db.execute(select(suggestions).where(unfinished))
            ]
            stuck += [
                f"job {row.kind} {row.key} is {row.state}"
                for row in db.execute(select(jobs).where(waiting))
            ]
        waited_s = time.monotonic() - begun
        if not stuck or waited_s > QUIET_WITHIN_S:
            return waited_s, stuck
        time.sleep(0.2)


def audit_studio(
    studio: Studio, told: list[Told], *, answered_before: float = float("inf")
) -> Found:
    """Hold a database against what was answered before a moment.

    What was answered later may be there or not (a backup does not have it); but for that, what is
    there has to be what was answered, once.
    """
    found, is_whole = Found(), answered_before == float("inf")
    with studio.snapshot() as db:
        tables = _Tables(db)
        for one in told:
            _audit_draft(found, tables, one, answered_before)
            _audit_suggestions(found, tables, one, answered_before)
            _audit_entry(found, tables, one, answered_before)
        _audit_whole(found, db, told, is_whole=is_whole)
    return found


class _Tables:
    """Rows of the tables by what they belong to."""

    def __init__(self, db: Connection) -> None:
        self.drafts: dict[str, Row[Any]] = {row.id: row for row in db.execute(select(drafts))}
        self.versions = _group(db, select(versions).order_by(versions.c.number), "draft_id")
        self.edits = _group(
            db, select(edits).order_by(edits.c.version, edits.c.position), "draft_id"
        )
        self.suggestions = _group(db, select(suggestions), "draft_id")
        self.entries = _group(db, select(entries), "draft_id")
        self.scores = _group(db, select(scores), "suggestion_id")


def _group(db: Connection, query: Any, column: str) -> dict[str, list[Row[Any]]]:
    rows = defaultdict(list)
    for row in db.execute(query):
        rows[getattr(row, column)].append(row)
    return rows


def _audit_draft(found: Found, tables: _Tables, told: Told, before: float) -> None:
    row = tables.drafts.get(told.id)
    if row is None:
        found.need(told.opened_at >= before, f"draft {told.key} is lost")
        return
    found.counts["drafts"] += 1
    saved = tables.versions[told.id]
    found.need(
        [each.number for each in saved] == list(range(1, row.version + 1)),
        f"draft {told.key} is at version {row.version} and has {len(saved)}",
    )
    expected = sum(moment < before for _, moment in told.keys)
    found.need(row.version >= expected, f"draft {told.key}: {expected - row.version} savings lost")
    answered = [key for key, _ in told.keys]
    found.need(
        [each.key for each in saved] == answered[: row.version],
        f"draft {told.key}: savings have other keys than those that were answered",
    )
    text = ""
    by_version = defaultdict(list)
    for edit in tables.edits[told.id]:
        by_version[edit.version].append(edit)
    for number in range(1, row.version + 1):
        for edit in by_version[number]:
            is_same = text[edit.start : edit.stop] == edit.removed
            found.need(is_same, f"draft {told.key}: the log of version {number} does not fit")
            text = text[: edit.start] + edit.inserted + text[edit.stop :]
        is_same = number < len(told.texts) and text == told.texts[number]
        found.need(is_same, f"draft {told.key}: version {number} has another text")
        found.counts["versions with the text that was answered"] += is_same
    found.need(text == row.text, f"draft {told.key}: its log does not give its text")


def _audit_suggestions(found: Found, tables: _Tables, told: Told, before: float) -> None:
    rows = {row.key: row for row in tables.suggestions[told.id]}
    found.need(
        len(rows) == len(tables.suggestions[told.id]), f"draft {told.key}: a suggestion twice"
    )
    found.need(
        rows.keys() <= told.suggestions.keys(), f"draft {told.key}: a suggestion nobody asked for"
    )
    for key, (suggestion_id, moment) in told.suggestions.items():
        row = rows.get(key)
        if row is None or row.id != suggestion_id:
            found.need(moment >= before, f"suggestion {key} is lost")
            continue
        found.counts[f"suggestions {row.status}"] += 1
        if row.status == "done":
            found.need(bool(row.generated), f"suggestion {key} is done and empty")
        if row.status == "done" and suggestion_id in told.finished:
            is_same = row.generated == told.finished[suggestion_id]
            found.need(is_same, f"suggestion {key} has changed after it was done")


def _audit_entry(found: Found, tables: _Tables, told: Told, before: float) -> None:
    rows = tables.entries[told.id]
    if told.entry is None or not rows:
        is_due = told.entry is not None and told.published_at < before
        found.need(not is_due, f"the entry of draft {told.key} is lost")
        found.need(not rows, f"draft {told.key} has an entry that nobody published")
        return
    entry_id, seq_id, scored = told.entry
    found.need(len(rows) == 1, f"draft {told.key} has {len(rows)} entries")
    found.counts["entries"] += len(rows)
    row = rows[0]
    found.need((row.id, row.seq_id) == (entry_id, seq_id), f"draft {told.key}: another entry")
    found.need(row.text == told.text, f"draft {told.key}: the entry has another text")
    asked = tables.suggestions[told.id]
    found.need(
        all(each.published == told.text and each.entry_id == entry_id for each in asked),
        f"draft {told.key}: a suggestion does not hold what was published",
    )
    stored = [score for each in asked for score in tables.scores[each.id]]
    kinds = {(score.suggestion_id, score.scorer, score.aspect) for score in stored}
    found.need(
        len(stored) == len(kinds) == scored, f"draft {told.key}: {len(stored)} scores, not {scored}"
    )
    found.counts["scores"] += len(stored)


def _audit_whole(found: Found, db: Connection, told: list[Told], *, is_whole: bool) -> None:
    """Count what nobody was told of, and the numbers of entries in their games."""
    known = {one.id for one in told}
    extra = sum(draft_id not in known for draft_id in db.scalars(select(drafts.c.id)))
    # A draft that is in a backup may have been answered after it: it is known all the same.
    found.need(not extra, f"there are {extra} drafts that nobody was told of")
    query = select(entries.c.game_id, func.count(), func.max(entries.c.seq_id))
    for game_id, number, last in db.execute(query.group_by(entries.c.game_id)):
        found.need(number == last, f"game {game_id}: {number} entries, the last is {last}")
    if is_whole:
        published = sum(one.entry is not None for one in told)
        found.need(found.counts["entries"] == published, "entries and answers differ in number")
    if db.dialect.name == "sqlite":
        damage = db.exec_driver_sql("PRAGMA integrity_check").scalar()
        found.need(damage == "ok", f"SQLite says: {damage}")
        orphans = db.exec_driver_sql("PRAGMA foreign_key_check").all()
        found.need(not orphans, f"{len(orphans)} rows point nowhere")
