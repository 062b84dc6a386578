"""Giving out tasks: one at a time to a rater, for as long as a lease says.

A place in a task is held by accepted work, or by a lease that has not run out; a rater who leaves
loses the place when it has, and comes back to it as long as nobody else was given it. Rejected work
holds no place: it goes to another rater. Sound work that came too late for its place (`surplus`)
takes the next place that opens in its task, before anybody is asked again.

Two who ask at the same moment never get the same last place: whoever takes or fills a place holds
the row of its task (and, before that, the row of the rater, whose two tabs get the same task).
Which tasks are open is looked at without a lock; the chosen one is looked at again with it. On
SQLite all of this is one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, or_, select, update

from fabula.models.reading.state_cache import LruCache
from fabula.studio.campaigns.balance import (
    DUPLICATE_GAP,
    Place,
    Seen,
    Systems,
    choose_lot,
    choose_task,
    list_checks_due,
    order_stories,
)
from fabula.studio.campaigns.opening import Campaign
from fabula.studio.campaigns.raters import Rater, find_rater
from fabula.studio.campaigns.showing import DONE, Turn, make_turn, read_own
from fabula.studio.campaigns.stopping import find_cap
from fabula.studio.database import Studio, make_insert
from fabula.studio.jobs import read_clock
from fabula.studio.tables import campaign_assignments, campaign_raters, campaign_tasks, new_id


@dataclass(frozen=True)
class _Task:
    id: str
    number: int
    kind: str
    stories: tuple[str, ...]
    item: str | None
    systems: Systems
    wanted: int


@dataclass(frozen=True)
class _Plan:
    """The tasks of a campaign that hold places, and those with planted stories. They never change:
    repeated stories, which are added, are not among them."""

    tasks: tuple[_Task, ...]
    planted: tuple[_Task, ...]
    kinds: tuple[Systems, ...]


_TAKEN = ""
_plans: LruCache[_Plan] = LruCache(16)


def take_task(studio: Studio, campaign_id: str, secret: str) -> Turn:
    """Give a rater the task to work on: the one they have, or the next one."""
    turn = None
    while turn is None:
        with studio.write() as db:
            turn = _take(db, campaign_id, secret)
    return turn


def _take(db: Connection, campaign_id: str, secret: str) -> Turn | None:
    """Take a task; None where it has to be asked again, because somebody else has the place. (The
    row of a second task is locked in another transaction: so nobody waits in a circle.)"""
    rater = find_rater(db, campaign_id, secret, lock=True)
    plan, own, moment = _read_plan(db, campaign_id), read_own(db, rater.id), read_clock(db)
    tasks = len(plan.tasks)
    if rater.step != "tasks":
        return make_turn(db, rater, own, tasks=tasks)
    until = moment + timedelta(minutes=rater.campaign.definition.lease_minutes)
    if held := next((row for row in own if row.state == "leased"), None):
        if keep_place(db, rater.campaign, held, moment):
            _change(db, held.id, leased_until=until)
            return make_turn(db, rater, own, tasks=tasks, assignment_id=held.id)
        # What was saved stays with the row, and can still be submitted.
        _change(db, held.id, state="released")
        return None
    if rater.campaign.state != "open":
        return make_turn(db, rater, own, tasks=tasks)
    leased = _lease_next(db, rater, own, plan, moment, until)
    if leased == _TAKEN:
        return None
    seen = update(campaign_raters).where(campaign_raters.c.id == rater.id)
    if leased is None:
        db.execute(seen.values(seen_at=moment, finished_at=rater.finished_at or moment))
        return make_turn(db, rater, own, tasks=tasks, is_finished=True)
    db.execute(seen.values(seen_at=moment, finished_at=None))
    return make_turn(db, rater, own, tasks=tasks, assignment_id=leased)


def _lease_next(
    db: Connection,
    rater: Rater,
    own: Sequence[Row[Any]],
    plan: _Plan,
    moment: datetime,
    until: datetime,
) -> str | None:
    """Choose the next task of a rater and lease it; None where there is nothing left for them,
    `_TAKEN` where somebody else was quicker."""
    definition, cap = rater.campaign.definition, find_cap(db, rater.campaign)
    had = [row for row in own if row.state != "released"]
    if definition.most_tasks and len(had) >= definition.most_tasks:
        return None
    number = max((row.number for row in own), default=0) + 1
    lease = {"rater_id": rater.id, "number": number, "opened_at": moment, "leased_until": until}
    mine = {row.task_id: row for row in own}
    seen = [Seen(row.item, tuple(row.systems), row.kind != "story") for row in had]
    places = _find_places(db, plan, rater.campaign.id, mine, cap, moment)
    size = len(plan.tasks)
    place = choose_task(
        places, seen, definition=definition, rater=rater.number, kinds=plan.kinds, tasks=size
    )
    if place is None:
        return None
    if check := _find_check(db, rater, own, plan, number):
        return _insert(db, rater.campaign, check, lease)
    # Tasks that hold places are numbered from 1, without a gap.
    task = plan.tasks[place.number - 1]
    if not _hold_open(db, task.id, _cap(task.wanted, cap), moment):
        return _TAKEN
    if place.is_again:
        return _change(db, mine[task.id].id, **lease, state="leased")
    return _insert(db, rater.campaign, task, lease)


def _find_places(
    db: Connection,
    plan: _Plan,
    campaign_id: str,
    mine: Mapping[str, Row[Any]],
    cap: int | None,
    moment: datetime,
) -> list[Place]:
    """List the tasks with places that are open to a rater, who has had those in `mine`."""
    held = _count_held(db, campaign_id, moment)
    return [
        Place(task.id, task.number, task.item, task.systems, left, task.id in mine)
        for task in plan.tasks
        if (left := _cap(task.wanted, cap) - held.get(task.id, 0)) > 0
        and (task.id not in mine or mine[task.id].state == "released")
    ]


def _cap(wanted: int, cap: int | None) -> int:
    return wanted if cap is None else min(wanted, cap)


def is_held(moment: datetime) -> ColumnElement[bool]:
    """Say which assignments hold a place: accepted work, and leases that have not run out."""
    work = campaign_assignments
    is_accepted = and_(work.c.state == "submitted", work.c.rejected_at.is_(None))
    return or_(is_accepted, and_(work.c.state == "leased", work.c.leased_until > moment))


def _count_held(db: Connection, campaign_id: str, moment: datetime) -> dict[str, int]:
    work = campaign_assignments
    query = select(work.c.task_id, func.count()).where(
        work.c.campaign_id == campaign_id, is_held(moment)
    )
    return {row[0]: row[1] for row in db.execute(query.group_by(work.c.task_id))}


def lock_task(db: Connection, task_id: str) -> None:
    """Keep the places of a task to oneself until this transaction ends."""
    wanted = select(campaign_tasks.c.id).where(campaign_tasks.c.id == task_id)
    db.execute(wanted.with_for_update(key_share=True))


def keep_place(db: Connection, campaign: Campaign, held: Row[Any], moment: datetime) -> bool:
    """Whether the place of an assignment is still the rater's: its lease has not run out, or
    nobody was given the place since. Locks the task where that could change."""
    if held.kind != "story" or (held.state == "leased" and held.leased_until > moment):
        return True
    lock_task(db, held.task_id)
    work = campaign_assignments
    others = select(func.count()).where(
        work.c.task_id == held.task_id, work.c.id != held.id, is_held(moment)
    )
    return bool((db.scalar(others) or 0) < held.wanted)


def _hold_open(db: Connection, task_id: str, wanted: int, moment: datetime) -> bool:
    """Lock a task, and say whether a place in it is open; surplus work takes its place first."""
    lock_task(db, task_id)
    work = campaign_assignments
    held = select(func.count()).where(work.c.task_id == task_id, is_held(moment))
    left = wanted - (db.scalar(held) or 0)
    return left > 0 and left > fill_places(db, task_id, left)


def fill_places(db: Connection, task_id: str, left: int) -> int:
    """Let surplus work have places that are open in a task, which is locked; says how many."""
    work = campaign_assignments
    is_spare = and_(
        work.c.task_id == task_id, work.c.state == "surplus", work.c.rejected_at.is_(None)
    )
    spare = (
        select(work.c.id)
        .join(campaign_raters, campaign_raters.c.id == work.c.rater_id)
        .where(is_spare, campaign_raters.c.excluded_at.is_(None))
        .order_by(work.c.submitted_at, work.c.id)
    )
    filled = db.scalars(spare.limit(left)).all()
    # In the order in which verdicts lock them.
    for assignment_id in sorted(filled):
        _change(db, assignment_id, state="submitted")
    return len(filled)


def _find_check(
    db: Connection, rater: Rater, own: Sequence[Row[Any]], plan: _Plan, number: int
) -> _Task | None:
    """Give the check that is due for a rater, if there is one they have not had."""
    definition = rater.campaign.definition
    had = {row.task_id for row in own}
    given = Counter(row.kind for row in own)
    repeated = {row.original_id for row in own}
    early = [
        row.task_id
        for row in own
        if row.kind == "story" and row.state in DONE and row.number <= number - DUPLICATE_GAP
        and (row.item is None or row.item != own[-1].item)
    ]  # fmt: skip
    for check in list_checks_due(definition, rater=rater.number, number=number, given=given):
        lot = f"{check} {definition.seed} {rater.number} {number}"
        if check == "planted":
            planted = [task for task in plan.planted if task.id not in had]
            if chosen := choose_lot(planted, lot):
                return chosen
        elif original := choose_lot([task for task in early if task not in repeated], lot):
            return _repeat_task(db, rater.campaign.id, plan, original)
    return None


def _repeat_task(db: Connection, campaign_id: str, plan: _Plan, original_id: str) -> _Task:
    """Give the task that shows the stories of another again; the first who needs it makes it."""
    original = next(task for task in plan.tasks if task.id == original_id)
    # Its number is that of the original, after all others: two who make it make the same.
    number = len(plan.tasks) + len(plan.planted) + original.number
    row = {
        "id": new_id(),
        "campaign_id": campaign_id,
        "number": number,
        "kind": "duplicate",
        "stories": list(original.stories),
        "item": original.item,
        "systems": list(original.systems),
        "wanted": 0,
        "original_id": original_id,
    }
    db.execute(make_insert(db, campaign_tasks).values(**row).on_conflict_do_nothing())
    is_it = and_(campaign_tasks.c.campaign_id == campaign_id, campaign_tasks.c.number == number)
    return _make_task(db.execute(select(campaign_tasks).where(is_it)).one())


def _insert(db: Connection, campaign: Campaign, task: _Task, lease: dict[str, Any]) -> str:
    work = campaign_assignments
    turn = db.scalar(select(func.count()).where(work.c.task_id == task.id)) or 0
    seed = campaign.definition.seed
    row = lease | {
        "id": new_id(),
        "campaign_id": campaign.id,
        "task_id": task.id,
        "shown": order_stories(task.stories, seed=seed, task=task.number, turn=turn),
    }
    db.execute(insert(work).values(**row))
    return str(row["id"])


def _change(db: Connection, assignment_id: str, **values: Any) -> str:
    changed = update(campaign_assignments).where(campaign_assignments.c.id == assignment_id)
    db.execute(changed.values(**values))
    return assignment_id


def _read_plan(db: Connection, campaign_id: str) -> _Plan:
    return _plans.get([campaign_id], lambda _: [_make_plan(db, campaign_id)])[0]


def _make_plan(db: Connection, campaign_id: str) -> _Plan:
    table = campaign_tasks
    query = select(table).where(table.c.campaign_id == campaign_id).order_by(table.c.number)
    tasks = [_make_task(row) for row in db.execute(query)]
    asked = tuple(task for task in tasks if task.kind == "story")
    planted = tuple(task for task in tasks if task.kind == "planted")
    return _Plan(asked, planted, tuple(sorted({task.systems for task in asked})))


def _make_task(row: Row[Any]) -> _Task:
    stories, systems = tuple(row.stories), tuple(row.systems)
    return _Task(row.id, row.number, row.kind, stories, row.item, systems, row.wanted)
