"""Who is to be paid what: the one place where raters stand under the names that crowd sites know.

It is for paying alone, and no part of any export.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, and_, case, func, select

from fabula.studio.campaigns.opening import find_campaign_row
from fabula.studio.database import Studio
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import (
    campaign_assignments,
    campaign_doors,
    campaign_raters,
    people,
)


@dataclass(frozen=True)
class Payment:
    """What a rater did and is owed. `name` is what the crowd site calls them, or their account's;
    empty for who came by a link, and for who was forgotten. `completion` is the code they got."""

    rater: str
    way: str
    name: str
    completion: str
    is_finished: bool
    accepted: int
    rejected: int
    amount: float
    currency: str


def list_payments(studio: Studio, actor: Person | None, campaign: str) -> list[Payment]:
    """List what raters are owed: pay a task for all that they submitted and nobody rejected.

    Work that checks them, or came when no place was left, was done as well and counts as any other.
    Who looks is written down.
    """
    with studio.write() as db:
        found = find_campaign_row(db, actor, campaign)
        write_audit(db, actor, "list_payments", found.id)
        rows = db.execute(_count_work(found.id)).all()
    pay = found.definition.pay
    return [
        Payment(
            rater=f"r{row.number}",
            way=row.way,
            name=row.name,
            completion=row.completion,
            is_finished=row.finished_at is not None,
            accepted=int(row.accepted),
            rejected=int(row.rejected),
            # Cents do not add up in floats.
            amount=round(pay.amount * int(row.accepted), 2),
            currency=pay.currency,
        )
        for row in rows
    ]


def _count_work(campaign_id: str) -> Select[Any]:
    """Raters by what a crowd site or their account calls them, with how much they did."""
    work, raters, doors = campaign_assignments, campaign_raters, campaign_doors
    is_done = work.c.state.in_(("submitted", "surplus"))
    is_accepted = and_(is_done, work.c.rejected_at.is_(None))
    is_rejected = and_(is_done, work.c.rejected_at.is_not(None))
    return (
        select(
            raters.c.number,
            doors.c.way,
            func.coalesce(raters.c.external_id, people.c.name, "").label("name"),
            raters.c.completion,
            raters.c.finished_at,
            func.sum(case((is_accepted, 1), else_=0)).label("accepted"),
            func.sum(case((is_rejected, 1), else_=0)).label("rejected"),
        )
        .join(doors, doors.c.id == raters.c.door_id)
        .outerjoin(people, people.c.id == raters.c.person_id)
        .outerjoin(work, work.c.rater_id == raters.c.id)
        .where(raters.c.campaign_id == campaign_id)
        .group_by(raters.c.id, doors.c.way, people.c.name)
        .order_by(raters.c.number)
    )
