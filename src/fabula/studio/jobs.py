"""The queue of work that is done outside the web process: a table, leased row by row.

A job is known by its kind and its key. It waits; a worker leases it for some seconds and says
now and then that it is still at it (`beat`); it ends as done, failed or cancelled. A worker that
is not heard of loses its lease, and the job goes to the next who asks. Every lease has a name of
its own, and what a worker writes it writes in one transaction with a look at that name
(`finish_job`, `fail_job`, `hold_jobs`): so what was given to somebody else, or cancelled, is
never done twice.

On PostgreSQL workers pass over rows that others have locked (SKIP LOCKED); on SQLite they take
turns (BEGIN IMMEDIATE), and look without a lock first, so that an idle worker disturbs nobody.
Moments are the database's, not those of the machines around it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, and_, func, or_, select, update

from fabula.core.errors import Conflict, NoCapacity
from fabula.studio.database import Studio, make_insert
from fabula.studio.tables import jobs, machines, new_id, now, suggestions

LEASE_S = 10.0
# Jobs of a kind that may wait for one machine; who asks for more is told to come back. Several
# who ask at the same moment may exceed it by their number.
MOST_WAITING: Mapping[str, int] = {"suggest": 500, "prepare": 2000}
_MOST_WAITING_OF_OTHERS = 10_000
_QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True)
class Job:
    """Work that a worker has leased; `lease` names the lease, `problem` is what hindered it the
    last time."""

    id: str
    kind: str
    key: str
    machine_id: str | None
    payload: Mapping[str, Any]
    attempts: int
    most_attempts: int
    lease: str
    priority: int = 0
    problem: str = ""
    created_at: datetime = field(default_factory=now)

    @property
    def is_last_attempt(self) -> bool:
        """Whether a failure now is the end of it."""
        return self.attempts >= self.most_attempts


class LeaseLost(Conflict):
    """A job that belongs to somebody else now, or was cancelled."""

    def __init__(self, job: Job) -> None:
        super().__init__(
            f"the lease of {job.kind} {job.key} has passed on", "drop what was made of it"
        )

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Travel between processes as the plain conflict that it is."""
        return Conflict, (self.problem, self.remedy)


def read_clock(db: Connection) -> datetime:
    """This moment by the clock of the database, which all workers share."""
    if db.dialect.name == "sqlite":
        return now()
    moment: datetime = db.execute(select(func.clock_timestamp())).scalar_one()
    return moment


def back_off_s(attempts: int) -> float:
    """Seconds to wait after so many attempts: 1/2, 2, 8, 32, at most 60."""
    return float(min(0.5 * 4 ** max(attempts - 1, 0), 60.0))


def add_job(
    db: Connection,
    kind: str,
    key: str,
    *,
    machine_id: str | None = None,
    payload: Mapping[str, Any] | None = None,
    priority: int = 0,
    due_at: datetime | None = None,
    again: bool = False,
) -> str:
    """Put a job into the queue and give its identity; the one of that key if it is there already.

    `again`: a job that has ended waits once more, with this payload. The greater the `priority`,
    the sooner it is done. A queue that is full is `NoCapacity`.
    """
    values: dict[str, Any] = {"machine_id": machine_id, "payload": dict(payload or {})}
    values |= {"state": "waiting", "priority": priority, "due_at": due_at or read_clock(db)}
    known = select(jobs.c.id, jobs.c.state).where(_is(kind, key))
    row = db.execute(known.with_for_update()).first()
    if row is None:
        _need_room(db, kind, machine_id)
        new = make_insert(db, jobs).values(id=new_id(), kind=kind, key=key, **values)
        # Somebody may have added it since the look above: theirs counts.
        db.execute(new.on_conflict_do_nothing(index_elements=["kind", "key"]))
        row = db.execute(known).one()
    elif again and row.state in ("done", "failed", "cancelled"):
        values |= {"attempts": 0, "problem": "", "worker": None, "ended_at": None}
        db.execute(update(jobs).where(jobs.c.id == row.id).values(**values))
    return str(row.id)


def _is(kind: str, key: str) -> ColumnElement[bool]:
    return and_(jobs.c.kind == kind, jobs.c.key == key)


def _need_room(db: Connection, kind: str, machine_id: str | None) -> None:
    most = MOST_WAITING.get(kind, _MOST_WAITING_OF_OTHERS)
    waiting = select(jobs.c.id).where(
        jobs.c.state == "waiting", jobs.c.kind == kind, jobs.c.machine_id == machine_id
    )
    if db.scalar(select(func.count()).select_from(waiting.limit(most).subquery())) == most:
        raise NoCapacity(f"{most} requests are waiting already", "try again in a minute")


def lease_jobs(
    studio: Studio,
    worker: str,
    *,
    kinds: Collection[str],
    machine_id: str | None = None,
    most: int = 1,
    lease_s: float = LEASE_S,
) -> list[Job]:
    """Take up to `most` jobs that are due, the most urgent and then the oldest first.

    Those whose worker was not heard of are due as well, unless they have used up their attempts:
    these are for `lost_jobs`. `machine_id`: only jobs for that machine.
    """
    if studio.is_sqlite:
        with studio.read() as db:
            if not _find_free(db, kinds, machine_id, most):
                return []
    with studio.write() as db:
        rows = _find_free(db, kinds, machine_id, most)
        if not rows:
            return []
        lease = f"{worker[:60]}#{new_id()}"
        until = read_clock(db) + timedelta(seconds=lease_s)
        db.execute(
            update(jobs)
            .where(jobs.c.id.in_([row.id for row in rows]))
            .values(state="leased", worker=lease, attempts=jobs.c.attempts + 1, leased_until=until)
        )
    return [_read_job(row, lease, row.attempts + 1) for row in rows]


def _find_free(
    db: Connection, kinds: Collection[str], machine_id: str | None, most: int
) -> Sequence[Row[Any]]:
    moment = read_clock(db)
    waits = and_(jobs.c.state == "waiting", jobs.c.due_at <= moment)
    is_free = or_(waits, and_(_is_expired(moment), jobs.c.attempts < jobs.c.most_attempts))
    query = select(jobs).where(is_free, jobs.c.kind.in_(list(kinds)))
    if machine_id is not None:
        query = query.where(jobs.c.machine_id == machine_id)
    order = (jobs.c.priority.desc(), jobs.c.due_at, jobs.c.created_at, jobs.c.id)
    return db.execute(query.order_by(*order).limit(most).with_for_update(skip_locked=True)).all()


def _is_expired(moment: datetime) -> ColumnElement[bool]:
    return and_(jobs.c.state == "leased", jobs.c.leased_until <= moment)


def _read_job(row: Row[Any], lease: str, attempts: int) -> Job:
    return Job(
        id=row.id,
        kind=row.kind,
        key=row.key,
        machine_id=row.machine_id,
        payload=row.payload,
        attempts=attempts,
        most_attempts=row.most_attempts,
        lease=lease,
        priority=row.priority,
        problem=row.problem,
        created_at=row.created_at,
    )


def lost_jobs(db: Connection) -> list[Job]:
    """Find jobs whose last attempt was not heard of to its end: who asks is to fail them.

    A job that kills its worker every time ends here.
    """
    is_lost = and_(_is_expired(read_clock(db)), jobs.c.attempts >= jobs.c.most_attempts)
    rows = db.execute(select(jobs).where(is_lost).order_by(jobs.c.id).limit(100))
    return [_read_job(row, row.worker, row.attempts) for row in rows]


def hold_jobs(db: Connection, leased: Collection[Job]) -> set[str]:
    """Lock those jobs that are still their lease's until this transaction ends; their ids.

    In the order of their keys, as everybody does who locks several: so nobody waits in a circle.
    """
    if not leased:
        return set()
    query = (
        select(jobs.c.id, jobs.c.worker)
        .where(jobs.c.id.in_([job.id for job in leased]), jobs.c.state == "leased")
        .order_by(jobs.c.kind, jobs.c.key)
        .with_for_update()
    )
    leases = {job.id: job.lease for job in leased}
    return {row.id for row in db.execute(query) if leases[row.id] == row.worker}


def beat(studio: Studio, leased: Collection[Job], *, lease_s: float = LEASE_S) -> set[str]:
    """Say that one is still at these jobs; the ids of those that are still one's own.

    One that is missing was cancelled, or is somebody else's: what is made of it is for nobody.
    """
    if not leased:
        return set()
    with studio.write() as db:
        held = hold_jobs(db, leased)
        until = read_clock(db) + timedelta(seconds=lease_s)
        db.execute(update(jobs).where(jobs.c.id.in_(sorted(held))).values(leased_until=until))
    return held


def finish_job(db: Connection, job: Job) -> None:
    """End a job whose result is written in the same transaction; `LeaseLost` undoes both."""
    _end(db, job, state="done", problem="", ended_at=read_clock(db))


def fail_job(
    db: Connection, job: Job, problem: str, *, retry_in_s: float | None = None
) -> Literal["waiting", "failed"]:
    """Say that a job could not be done; with `retry_in_s` it waits and is tried again after that
    time, unless this was its last attempt."""
    moment = read_clock(db)
    if retry_in_s is None or job.is_last_attempt:
        _end(db, job, state="failed", problem=problem, ended_at=moment)
        return "failed"
    due = moment + timedelta(seconds=retry_in_s)
    _end(db, job, state="waiting", problem=problem, due_at=due, worker=None)
    return "waiting"


def give_back(db: Connection, job: Job) -> None:
    """Let another worker do it; that it was leased does not count as an attempt."""
    _end(db, job, state="waiting", worker=None, attempts=job.attempts - 1)


def _end(db: Connection, job: Job, **values: Any) -> None:
    owned = (jobs.c.id == job.id, jobs.c.state == "leased", jobs.c.worker == job.lease)
    changed = db.execute(update(jobs).where(*owned).values(leased_until=None, **values))
    if changed.rowcount != 1:
        raise LeaseLost(job)


def cancel_job(db: Connection, kind: str, key: str) -> bool:
    """Cancel a job that has not ended; whether there was one. Its worker hears of it soon."""
    open_job = jobs.c.state.in_(("waiting", "leased"))
    values = {"state": "cancelled", "ended_at": read_clock(db), "leased_until": None}
    changed = db.execute(update(jobs).where(_is(kind, key), open_job).values(**values))
    return changed.rowcount == 1


def queue_figures(studio: Studio) -> dict[str, Any]:
    """What there is to say of the queue, for those who watch it.

    `waiting` and `leased` jobs by kind and the age of the oldest that is due, `done`, `failed`
    and `cancelled` since the beginning, and how long those who asked in the last hour waited for
    the first word: quantiles in seconds, and how many they were.
    """
    states = ("waiting", "leased", "done", "failed", "cancelled")
    figures: dict[str, Any] = {state: {} for state in states}
    with studio.read() as db:
        moment = read_clock(db)
        counted = select(jobs.c.state, jobs.c.kind, func.count().label("number"))
        for row in db.execute(counted.group_by(jobs.c.state, jobs.c.kind)):
            figures[row.state][row.kind] = row.number
        due = and_(jobs.c.state == "waiting", jobs.c.due_at <= moment)
        oldest = db.execute(select(func.min(jobs.c.due_at)).where(due)).scalar()
        # By the index of machines and moments: rows are long.
        recent = select(suggestions.c.asked_at, suggestions.c.first_token_at).where(
            suggestions.c.machine_id.in_(select(machines.c.id)),
            suggestions.c.asked_at >= moment - timedelta(hours=1),
            suggestions.c.first_token_at.is_not(None),
        )
        waits = sorted((first - asked).total_seconds() for asked, first in db.execute(recent))
    figures["oldest_waiting_s"] = (moment - oldest).total_seconds() if oldest else 0.0
    figures["first_token_s"] = {
        quantile: waits[math.ceil(quantile * len(waits)) - 1] for quantile in _QUANTILES if waits
    }
    figures["first_token_count"] = len(waits)
    return figures
