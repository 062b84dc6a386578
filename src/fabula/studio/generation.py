"""What a worker writes down while a machine writes: each verb is one transaction.

A suggestion and its job change together, and only for the worker that holds the lease: the job
is locked first, then the suggestion. What a machine has written is stored whole each time, so a
step that is done again changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Table, bindparam, select, update

from fabula.core.author import Piece, SeenSegment
from fabula.studio.author_child import Order
from fabula.studio.database import Studio
from fabula.studio.jobs import (
    LEASE_S,
    Job,
    back_off_s,
    fail_job,
    finish_job,
    give_back,
    hold_jobs,
    lost_jobs,
    read_clock,
)
from fabula.studio.suggestions import UNWRITTEN, draft_context, load_context
from fabula.studio.tables import jobs as job_table
from fabula.studio.tables import machines, new_id, now, stories, suggestions
from fabula.text.context.segments import context_to_json

_LONGEST_PROBLEM = 500
# What to type says where the program lies, which is nothing for authors to know.
_PROGRAM_PLACE = re.compile(r"(?:\.{0,2}/[\w.@+-]+)+/(?=(?:fabula|python[\d.]*|pip)\b)")


@dataclass
class Writing:
    """A suggestion while it is written: the text so far, and how it ended (`status`)."""

    job: Job
    text: str = ""
    tokens: int = 0
    seen: tuple[SeenSegment, ...] = ()
    first_token_at: datetime | None = None
    status: str = ""
    problem: str = ""
    is_stored: bool = field(default=True, compare=False)

    def add(self, piece: Piece) -> None:
        """Take in what was written since."""
        self.text = piece.text if piece.replaces else self.text + piece.text
        self.tokens += piece.tokens
        self.seen = piece.seen or self.seen
        if self.text and self.first_token_at is None:
            self.first_token_at = now()
        self.status, self.problem = piece.status, piece.problem
        self.is_stored = False


def start_suggestions(studio: Studio, leased: Collection[Job]) -> list[tuple[Job, Order]]:
    """Begin with what was leased and give, beside every job, what the co-author needs.

    A job whose suggestion is not there or has ended is done.
    """
    keys = [job.key for job in leased]
    with studio.read() as db:
        rows = {
            row.id: row for row in db.execute(select(suggestions).where(suggestions.c.id.in_(keys)))
        }
        contexts = {key: load_context(db, row) for key, row in rows.items()}
    orders = []
    with studio.write() as db:
        held = hold_jobs(db, leased)
        for job in (each for each in leased if each.id in held):
            begun = {**UNWRITTEN, "status": "executing", "started_at": now()}
            if job.key in rows and _change(db, job, begun, among=("pending", "executing")):
                row = rows[job.key]
                order = Order(new_id(), contexts[row.id], row.wanted, row.decoding, row.seed)
                orders.append((job, order))
            else:
                finish_job(db, job)
    return orders


def store_pieces(
    studio: Studio, writings: Collection[Writing], *, lease_s: float = LEASE_S
) -> set[str]:
    """Store the texts so far of a whole batch and prolong its leases; ids of jobs still held.

    A job that is missing was cancelled, or is somebody else's now.
    """
    fresh = [writing for writing in writings if not writing.is_stored]
    with studio.write() as db:
        held = hold_jobs(db, [writing.job for writing in writings])
        until = read_clock(db) + timedelta(seconds=lease_s)
        db.execute(
            update(job_table).where(job_table.c.id.in_(sorted(held))).values(leased_until=until)
        )
        texts = [
            {"which": each.job.key, "text": tidy_text(each.text), "first": each.first_token_at}
            for each in fresh
            if each.job.id in held
        ]
        if texts:
            which = (suggestions.c.id == bindparam("which")) & (suggestions.c.status == "executing")
            changed = update(suggestions).where(which)
            db.execute(
                changed.values(generated=bindparam("text"), first_token_at=bindparam("first")),
                texts,
            )
    for writing in fresh:
        writing.is_stored = True
    return held


def end_suggestions(studio: Studio, writings: Collection[Writing], signature: str) -> None:
    """Write down how suggestions ended, with their jobs: all of it or nothing.

    What is no longer this worker's is passed over.
    """
    with studio.write() as db:
        held = hold_jobs(db, [writing.job for writing in writings])
        for writing in (each for each in writings if each.job.id in held):
            problem = tidy_problem(writing.problem)
            values = {
                "status": writing.status,
                "problem": problem,
                "generated": tidy_text(writing.text),
                "tokens": writing.tokens,
                "seen": [_show(segment) for segment in writing.seen] or None,
                "signature": signature,
                "first_token_at": writing.first_token_at,
                "ended_at": now(),
            }
            _change(db, writing.job, values, among=("executing",))
            if writing.status == "failed":
                fail_job(db, writing.job, problem)
            else:
                finish_job(db, writing.job)


def retry_suggestions(studio: Studio, leased: Collection[Job], problem: str) -> list[Job]:
    """Let what an attempt did not bring to its end be tried again, and give those for which it
    was the last: they have failed, and `problem` is what their authors read."""
    failed = []
    with studio.write() as db:
        held = hold_jobs(db, leased)
        for job in (each for each in leased if each.id in held):
            if fail_job(db, job, problem, retry_in_s=back_off_s(job.attempts)) == "waiting":
                _change(db, job, UNWRITTEN, among=("executing",))
            else:
                _fail(db, job, problem)
                failed.append(job)
    return failed


def fail_suggestions(studio: Studio, leased: Collection[Job], problem: str) -> None:
    """Give up what was leased; `problem` is what the authors read."""
    with studio.write() as db:
        held = hold_jobs(db, leased)
        for job in (each for each in leased if each.id in held):
            fail_job(db, job, problem)
            _fail(db, job, problem)


def return_suggestions(studio: Studio, leased: Collection[Job]) -> None:
    """Let another worker do what was leased, from the beginning; it counts as no attempt."""
    with studio.write() as db:
        held = hold_jobs(db, leased)
        for job in (each for each in leased if each.id in held):
            give_back(db, job)
            _change(db, job, UNWRITTEN, among=("executing",))


def fail_lost(studio: Studio) -> int:
    """End the jobs that no worker brought to an end in as many attempts as they have; how many."""
    with studio.read() as db:
        if not (found := lost_jobs(db)):
            return 0
        names = {row.id: row.name for row in db.execute(select(machines.c.id, machines.c.name))}
    with studio.write() as db:
        held = hold_jobs(db, found)
        for job in (each for each in found if each.id in held):
            problem = apologise(names.get(job.machine_id or "", ""))
            fail_job(db, job, problem)
            _fail(db, job, problem)
    return len(held)


def read_preparation(studio: Studio, job: Job) -> Mapping[str, Any] | None:
    """What a co-author is to get ready for, as a plain context; None if it is gone.

    A job names an open draft (`draft_id`), an uploaded story (`story_id`), or is the context.
    """
    with studio.read() as db:
        if draft_id := job.payload.get("draft_id"):
            context = draft_context(db, draft_id)
            return None if context is None else context_to_json(context)
        if story_id := job.payload.get("story_id"):
            story = db.scalar(select(stories.c.story).where(stories.c.id == story_id))
            return None if story is None else {"story": story_id, "segments": [], "game": story}
    return job.payload.get("context")


def end_preparation(studio: Studio, job: Job, problem: str = "") -> None:
    """Say that a co-author is ready for a story, or why it will not be."""
    with studio.write() as db:
        if not hold_jobs(db, [job]):
            return
        if problem:
            fail_job(db, job, tidy_problem(problem))
            _fail(db, job, problem)
            return
        finish_job(db, job)
        if story := job.payload.get("story_id"):
            db.execute(update(stories).where(stories.c.id == story).values(status="ready"))


def apologise(name: str) -> str:
    """What an author reads of a machine that could not write, whatever the reason was."""
    machine = f"The co-author {name}" if name else "The co-author"
    return f"{machine} could not write this time; ask again or choose another."


def tidy_text(text: str) -> str:
    """What a database can hold of what a machine wrote: no zeros and no halves of characters."""
    whole = text.replace("\0", "").encode("utf-16", "surrogatepass")
    return whole.decode("utf-16", "replace")


def _show(segment: SeenSegment) -> dict[str, Any]:
    shown = asdict(segment)
    return shown | {"text": tidy_text(segment.text), "title": tidy_text(segment.title)}


def tidy_problem(problem: str) -> str:
    """One line, of a length that a page can show, and without places on the studio's machine."""
    line = _PROGRAM_PLACE.sub("", " ".join(tidy_text(problem).split()))
    return line if len(line) <= _LONGEST_PROBLEM else f"{line[: _LONGEST_PROBLEM - 1]}…"


def _fail(db: Connection, job: Job, problem: str) -> None:
    """Mark as failed what a job was for."""
    if job.kind == "suggest":
        values = {"status": "failed", "problem": tidy_problem(problem), "ended_at": now()}
        _change(db, job, values, among=("pending", "executing"))
    elif story := job.payload.get("story_id"):
        is_it = (stories.c.id == story) & (stories.c.status == "pending")
        db.execute(update(stories).where(is_it).values(status="failed"))


def _change(db: Connection, job: Job, values: Mapping[str, Any], *, among: Iterable[str]) -> bool:
    """Change the suggestion of a job, if it is still in one of these states."""
    table: Table = suggestions
    which = (table.c.id == job.key) & table.c.status.in_(list(among))
    return db.execute(update(table).where(which).values(**values)).rowcount == 1
