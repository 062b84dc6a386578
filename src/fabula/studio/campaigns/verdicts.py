"""What people decide about submitted work: reject it, restore it, exclude a rater and undo that.

Flags decide nothing. A verdict is a person's, is kept with its reason, and can be taken back; all
of them stay in the log. Rejected work opens its place again for others and stays in the export,
marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, insert, select, update

from fabula.core.errors import Conflict, InputError, NotFound
from fabula.studio.campaigns.assigning import is_held, lock_task
from fabula.studio.campaigns.opening import find_campaign_row
from fabula.studio.campaigns.work import HANDED_IN
from fabula.studio.database import Studio
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import (
    campaign_assignments,
    campaign_raters,
    campaign_tasks,
    campaign_verdicts,
    now,
)

Decision = Literal["rejected", "restored"]
_LONGEST_REASON = 2000


@dataclass(frozen=True)
class Decided:
    """What a verdict changed: the assignments it was about, in the order they were given."""

    rater: str
    assignments: tuple[str, ...]


def reject_work(
    studio: Studio, person: Person, name: str, assignments: Sequence[str], *, reason: str
) -> tuple[str, ...]:
    """Reject submitted assignments: their places are open again. Gives those that changed.

    What is rejected already stays so, and gets no second verdict.
    """
    return _decide(studio, person, name, assignments, "rejected", _check_reason(reason))


def restore_work(
    studio: Studio, person: Person, name: str, assignments: Sequence[str], *, reason: str = ""
) -> tuple[str, ...]:
    """Take rejected assignments in again; what has lost its place meanwhile is kept as surplus.

    The work of a rater who is excluded stays rejected: that comes first.
    """
    return _decide(studio, person, name, assignments, "restored", reason.strip())


def exclude_rater(studio: Studio, person: Person, name: str, rater: str, *, reason: str) -> Decided:
    """Give a rater no more tasks and reject all that they submitted; what they hold is released.

    `rater` is an identity, or the name in the campaign (`r3`).
    """
    reason = _check_reason(reason)
    with studio.write() as db:
        campaign = find_campaign_row(db, person, name)
        row = _find_rater(db, campaign.id, rater)
        if row.excluded_at is not None:
            raise Conflict(f"r{row.number} is excluded already", "nothing is to be done")
        changed = update(campaign_raters).where(campaign_raters.c.id == row.id)
        db.execute(changed.values(excluded_at=now()))
        table = campaign_assignments
        held = (table.c.rater_id == row.id) & (table.c.state == "leased")
        db.execute(update(table).where(held).values(state="released"))
        ids = _write_verdicts(db, person, _lock_work(db, row.id), "rejected", reason)
        write_audit(db, person, "exclude_rater", row.id, campaign=campaign.id, rejected=len(ids))
    return Decided(row.id, ids)


def include_rater(
    studio: Studio, person: Person, name: str, rater: str, *, reason: str = ""
) -> Decided:
    """Let a rater go on who was excluded, and restore the work that fell with them.

    What had been rejected before they were excluded stays rejected.
    """
    with studio.write() as db:
        campaign = find_campaign_row(db, person, name)
        row = _find_rater(db, campaign.id, rater)
        if row.excluded_at is None:
            raise Conflict(f"r{row.number} is not excluded", "nothing is to be done")
        changed = update(campaign_raters).where(campaign_raters.c.id == row.id)
        db.execute(changed.values(excluded_at=None))
        fell = [one for one in _lock_work(db, row.id) if _fell_then(one, row.excluded_at)]
        ids = _write_verdicts(db, person, fell, "restored", reason.strip()[:_LONGEST_REASON])
        write_audit(db, person, "include_rater", row.id, campaign=campaign.id, restored=len(ids))
    return Decided(row.id, ids)


def _fell_then(assignment: Row[Any], excluded_at: Any) -> bool:
    return assignment.rejected_at is not None and assignment.rejected_at >= excluded_at


def _check_reason(reason: str) -> str:
    if not reason.strip():
        raise InputError("a rejection needs a reason", "say what is wrong with the work")
    if len(reason) > _LONGEST_REASON:
        raise InputError(f"a reason has at most {_LONGEST_REASON:,} characters", "shorten it")
    return reason.strip()


def _decide(
    studio: Studio,
    person: Person,
    name: str,
    assignments: Sequence[str],
    verdict: Decision,
    reason: str,
) -> tuple[str, ...]:
    with studio.write() as db:
        campaign = find_campaign_row(db, person, name)
        rows = _lock_assignments(db, campaign.id, assignments)
        if verdict == "restored":
            _refuse_excluded(db, rows)
        ids = _write_verdicts(db, person, rows, verdict, reason)
        if ids:
            action = "reject_work" if verdict == "rejected" else "restore_work"
            write_audit(db, person, action, campaign.id, assignments=list(ids))
    return ids


def _find_rater(db: Connection, campaign: str, rater: str) -> Row[Any]:
    table = campaign_raters
    number = int(rater[1:]) if rater[:1] == "r" and rater[1:].isdecimal() else -1
    named = (table.c.id == rater) | (table.c.number == number)
    wanted = select(table).where(table.c.campaign_id == campaign, named).with_for_update()
    row = db.execute(wanted).one_or_none()
    if row is None:
        raise NotFound(f"there is no rater {rater} in this campaign", "raters are r1, r2, …")
    return row


def _lock_work(db: Connection, rater: str) -> list[Row[Any]]:
    table = campaign_assignments
    wanted = select(table).where(table.c.rater_id == rater, table.c.state.in_(HANDED_IN))
    return list(db.execute(wanted.order_by(table.c.id).with_for_update()))


def _lock_assignments(db: Connection, campaign: str, ids: Sequence[str]) -> list[Row[Any]]:
    """Give the assignments asked for, locked in one order, so that two verdicts do not cross."""
    table = campaign_assignments
    wanted = select(table).where(table.c.campaign_id == campaign, table.c.id.in_(ids))
    rows = {row.id: row for row in db.execute(wanted.order_by(table.c.id).with_for_update())}
    for one in ids:
        if one not in rows:
            raise NotFound(f"there is no assignment {one} in this campaign", "look at its work")
        if rows[one].state not in HANDED_IN:
            raise Conflict(
                f"assignment {one} is not submitted", "only work that was handed in is judged"
            )
    return [rows[one] for one in dict.fromkeys(ids)]


def _refuse_excluded(db: Connection, rows: Iterable[Row[Any]]) -> None:
    table = campaign_raters
    raters = {row.rater_id for row in rows}
    wanted = select(table.c.number).where(table.c.id.in_(raters), table.c.excluded_at.is_not(None))
    if number := db.scalar(wanted.limit(1)):
        raise Conflict(f"r{number} is excluded", "take the rater in again first")


def _write_verdicts(
    db: Connection, person: Person, rows: Sequence[Row[Any]], verdict: Decision, reason: str
) -> tuple[str, ...]:
    """Write a verdict on the assignments that it changes, and mark them."""
    moment = now()
    rejects = verdict == "rejected"
    ids = tuple(row.id for row in rows if (row.rejected_at is None) == rejects)
    if ids:
        verdicts = [
            {"assignment_id": one, "person_id": person.id, "verdict": verdict,
             "reason": reason, "at": moment}
            for one in ids
        ]  # fmt: skip
        db.execute(insert(campaign_verdicts), verdicts)
        marked = update(campaign_assignments).where(campaign_assignments.c.id.in_(ids))
        db.execute(marked.values(rejected_at=moment if rejects else None))
        if not rejects:
            _spare_the_late(db, [row for row in rows if row.id in ids], moment)
    return ids


def _spare_the_late(db: Connection, rows: Sequence[Row[Any]], moment: datetime) -> None:
    """Make surplus of restored work whose place somebody else has, so that no task has too many."""
    work, tasks = campaign_assignments, campaign_tasks
    for row in sorted(rows, key=lambda row: (row.task_id, row.id)):
        if row.state != "submitted":
            continue
        lock_task(db, row.task_id)
        wanted = db.execute(
            select(tasks.c.wanted, tasks.c.kind).where(tasks.c.id == row.task_id)
        ).one()
        held = select(func.count()).where(work.c.task_id == row.task_id, is_held(moment))
        if wanted.kind == "story" and (db.scalar(held) or 0) > wanted.wanted:
            db.execute(update(work).where(work.c.id == row.id).values(state="surplus"))
