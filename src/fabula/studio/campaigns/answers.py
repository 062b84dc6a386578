"""What raters do with a task that they have: save, submit, give back.

A page sends the `version` that it saw last: where another tab has saved since, it is told so and
nothing changes. What is sent twice, because an answer from here got lost, is taken once: the same
answers again are acknowledged again. Work that was handed in is not changed any more.

Work is never lost because it is late. A rater whose lease ran out has the place as long as nobody
else was given it; after that, and in a closed campaign, what is submitted is kept as `surplus` and
acknowledged as such: it counts for pay, stands in the export, marked, and takes the next place that
opens in its task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Connection, Row, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio.campaigns.answer_rules import check_answers
from fabula.studio.campaigns.assigning import keep_place
from fabula.studio.campaigns.balance import find_instructed
from fabula.studio.campaigns.raters import Rater, find_rater
from fabula.studio.campaigns.showing import DONE
from fabula.studio.database import Studio
from fabula.studio.jobs import read_clock
from fabula.studio.tables import campaign_assignments, campaign_stories, campaign_tasks

_LONGEST_S = 1e7


@dataclass(frozen=True)
class Saved:
    """What was kept of a task that is being worked on, and how long it is the rater's."""

    version: int
    leased_until: datetime


@dataclass(frozen=True)
class Receipt:
    """What was handed in: `surplus` where its place was another's by then."""

    assignment_id: str
    number: int
    state: Literal["submitted", "surplus"]
    submitted_at: datetime


def save_answers(
    studio: Studio,
    campaign_id: str,
    secret: str,
    assignment_id: str,
    *,
    version: int,
    answers: Mapping[str, Any],
    visible_s: float = 0.0,
) -> Saved:
    """Keep what is answered so far; it holds the place for as long as a lease."""
    with studio.write() as db:
        rater = find_rater(db, campaign_id, secret, lock=True)
        _need_tasks(rater)
        row = _lock_own(db, rater, assignment_id)
        if row.state in DONE:
            raise Conflict("this task is handed in", "go on with the next")
        kept = _check(db, rater, row, answers, is_whole=False)
        moment = read_clock(db)
        until = moment + timedelta(minutes=rater.campaign.definition.lease_minutes)
        _refuse_stale(row, version, kept)
        values: dict[str, Any] = {"answers": kept, "visible_s": _check_seconds(visible_s)}
        if row.answers != kept or row.version == version:
            values |= {"version": row.version + 1, "saved_at": moment}
        # Who saves is there; a place that was lost is not won back by it.
        if row.state == "leased" and keep_place(db, rater.campaign, row, moment):
            values["leased_until"] = until
        _write(db, row, values)
        return Saved(values.get("version", row.version), values.get("leased_until", moment))


def submit_answers(
    studio: Studio,
    campaign_id: str,
    secret: str,
    assignment_id: str,
    *,
    version: int,
    answers: Mapping[str, Any],
    visible_s: float = 0.0,
) -> Receipt:
    """Hand a task in: all that has to be answered is. The same again gives the same receipt."""
    with studio.write() as db:
        rater = find_rater(db, campaign_id, secret, lock=True)
        _need_tasks(rater)
        row = _lock_own(db, rater, assignment_id)
        kept = _check(db, rater, row, answers, is_whole=True)
        if row.state in DONE:
            if row.answers != kept:
                raise Conflict("this task is handed in, with other answers", "go on with the next")
            return Receipt(row.id, row.number, row.state, row.submitted_at)
        _refuse_stale(row, version, kept)
        moment = read_clock(db)
        is_open = rater.campaign.state != "closed"
        has_place = is_open and keep_place(db, rater.campaign, row, moment)
        state: Literal["submitted", "surplus"] = "submitted" if has_place else "surplus"
        values = {"answers": kept, "visible_s": _check_seconds(visible_s), "state": state}
        values |= {"version": row.version + 1, "saved_at": moment, "submitted_at": moment}
        _write(db, row, values)
        return Receipt(row.id, row.number, state, moment)


def release_task(studio: Studio, campaign_id: str, secret: str, assignment_id: str) -> None:
    """Give a task back: its place is open to others at once. What was saved of it stays, and the
    rater gets it again only if nothing else is left."""
    with studio.write() as db:
        rater = find_rater(db, campaign_id, secret, lock=True)
        _need_tasks(rater)
        row = _lock_own(db, rater, assignment_id)
        if row.state in DONE:
            raise Conflict("this task is handed in", "go on with the next")
        _write(db, row, {"state": "released"})


def _need_tasks(rater: Rater) -> None:
    if rater.step == "excluded":
        raise NotAllowed("you take no part in this campaign any more", "ask who runs it")
    if rater.step != "tasks":
        raise Conflict(f"{rater.step} comes first", "load the page again")


def _lock_own(db: Connection, rater: Rater, assignment_id: str) -> Row[Any]:
    """Read an assignment of the rater, with what its task is, and keep both to oneself."""
    work, tasks = campaign_assignments, campaign_tasks
    is_own = (work.c.id == assignment_id) & (work.c.rater_id == rater.id)
    joined = (
        select(work, tasks.c.kind, tasks.c.wanted)
        .join(tasks, tasks.c.id == work.c.task_id)
        .where(is_own)
    )
    # The task first, as everybody does; of what the rater holds, nobody else changes the state
    # but who judges or excludes, and they lock the assignment.
    row = db.execute(joined.with_for_update(key_share=True, of=tasks)).first()
    if row is None:
        raise NotFound("this is no task of yours", "go on with your own")
    return db.execute(joined.with_for_update(key_share=True, of=work)).one()


def _check(
    db: Connection, rater: Rater, row: Row[Any], answers: Mapping[str, Any], *, is_whole: bool
) -> dict[str, Any]:
    definition = rater.campaign.definition
    table = campaign_stories
    rows = db.execute(select(table.c.id, table.c.text).where(table.c.id.in_(row.shown)))
    found = {each.id: each.text for each in rows}
    instructed = find_instructed(definition, rater=rater.number, number=row.number)
    texts = {story: found[story] for story in row.shown}
    return check_answers(definition, texts, answers, instructed=instructed, is_whole=is_whole)


def _refuse_stale(row: Row[Any], version: int, kept: Mapping[str, Any]) -> None:
    """Refuse a page that has not seen what was saved last, unless it says the same."""
    if version != row.version and row.answers != kept:
        raise Conflict(
            f"another window has saved version {row.version}, this one has {version}",
            "load the page again",
        )


def _check_seconds(visible_s: float) -> float:
    if not 0 <= visible_s <= _LONGEST_S:
        raise InputError(f"visible_s is {visible_s}", "give seconds, from 0")
    return float(visible_s)


def _write(db: Connection, row: Row[Any], values: Mapping[str, Any]) -> None:
    changed = update(campaign_assignments).where(campaign_assignments.c.id == row.id)
    db.execute(changed.values(**values))
