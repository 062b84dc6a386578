"""Raters: the doors they come in by, what their browser shows to be known again, their consent and
their training.

A browser holds a secret of 256 bits, the studio its digest. Who comes by a crowd site is also
known by the name that the site puts into the address. That name is no secret (it stands in links,
and others may read it), so it opens little: who comes back by it alone goes on where they were and
gets a new secret, the old one ends, and no answers given before are shown to the new one. Somebody
who forges a name can spoil that rater's place in the campaign, as the site's own link lets anybody
who has it, but reads nothing. A rater with an account shows the studio's own session.
"""

from __future__ import annotations

import hashlib
import secrets as randomness
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, and_, func, insert, select, update

from fabula.core.errors import Conflict, InputError, NotAllowed, NotFound
from fabula.studio._secrets import digest_secret, make_secret
from fabula.studio.campaigns.opening import Campaign, find_campaign_row, load_campaign
from fabula.studio.database import Studio
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import campaign_doors, campaign_raters, campaigns, new_id, now

Way = Literal["code", "prolific", "mturk", "account"]
Step = Literal["consent", "training", "failed", "excluded", "tasks"]
# What crowd sites put into the address: whose name it is, and what else is kept for paying.
_NAMED_BY = {"prolific": "PROLIFIC_PID", "mturk": "workerId"}
_KEPT = {"prolific": ("STUDY_ID", "SESSION_ID"), "mturk": ("assignmentId", "hitId")}
# What stands in a link for the site to fill in, or for who writes the HIT.
_PARAMETERS = {
    "prolific": "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
    "&SESSION_ID={{%SESSION_ID%}}",
    "mturk": "?workerId=WORKER&assignmentId=ASSIGNMENT&hitId=HIT",
}
_NOT_AVAILABLE = "ASSIGNMENT_ID_NOT_AVAILABLE"
_LONGEST_NAME = 200
_SEEN_EVERY = timedelta(minutes=1)


class NoRater(NotAllowed):
    """A browser that shows no secret of a rater of this campaign."""

    def __init__(self) -> None:
        super().__init__(
            "you are not known in this campaign", "open the link that you were given again"
        )


@dataclass(frozen=True)
class Door:
    """A way in, as researchers see it; `raters` came by it."""

    id: str
    way: Way
    code: str
    completion: str
    most: int
    created_at: datetime
    closed_at: datetime | None
    raters: int = 0

    def spell_link(self, origin: str, campaign: str) -> str:
        """The link as raters, or the crowd site, are given it."""
        return f"{origin}/campaigns/{campaign}/{self.code}{_PARAMETERS.get(self.way, '')}"


@dataclass(frozen=True)
class Rater:
    """Who rates, in one campaign. `step` is what comes next for them; answers from before
    `secret_at` are not for the browser that asks."""

    id: str
    number: int
    campaign: Campaign
    step: Step
    training: Mapping[str, Any]
    secret_at: datetime
    completion: str
    finished_at: datetime | None


@dataclass(frozen=True)
class Entrance:
    """Who came in, the secret for the browser (None: the one it has is good), and the word that
    pages send along with what changes something."""

    rater: Rater
    secret: str | None


@dataclass(frozen=True)
class TrainingResult:
    """What a try at a training story came to: the questions whose answers will not do, what is
    said of the story, how many tries at it are left, and what comes next for the rater."""

    wrong: tuple[str, ...]
    feedback: str
    tries_left: int
    step: Step


def make_csrf(secret: str) -> str:
    """Give the word that a rater's pages send along: nobody else's page can know it."""
    return hashlib.sha256(f"csrf {secret}".encode()).hexdigest()


def make_door(
    studio: Studio,
    actor: Person | None,
    campaign: str,
    *,
    way: Way = "code",
    completion: str = "",
    most: int = 0,
) -> Door:
    """Make a way into a campaign; `completion` is the code that raters get at the end, empty for
    one of its own for each."""
    if way not in ("code", "prolific", "mturk", "account"):
        raise InputError(f"there is no way {way!r}", "code, prolific, mturk or account")
    if most < 0 or len(completion) > _LONGEST_NAME or not completion.isprintable():
        raise InputError("most or completion will not do", "0 raters are any number")
    row = {"id": new_id(), "way": way, "code": randomness.token_urlsafe(12), "most": most}
    row["completion"] = completion.strip()
    with studio.write() as db:
        found = find_campaign_row(db, actor, campaign)
        db.execute(insert(campaign_doors).values(campaign_id=found.id, **row))
        write_audit(db, actor, "make_door", found.id, way=way, most=most)
        return _read_doors(db, campaign_doors.c.id == row["id"])[0]


def list_doors(studio: Studio, actor: Person | None, campaign: str) -> list[Door]:
    """Give the ways into a campaign, the oldest first."""
    with studio.snapshot() as db:
        found = find_campaign_row(db, actor, campaign)
        return _read_doors(db, campaign_doors.c.campaign_id == found.id)


def close_door(studio: Studio, actor: Person | None, campaign: str, door_id: str) -> Door:
    """Let nobody new in by a door; who came by it goes on."""
    with studio.write() as db:
        found = find_campaign_row(db, actor, campaign)
        is_it = and_(campaign_doors.c.id == door_id, campaign_doors.c.campaign_id == found.id)
        is_open = campaign_doors.c.closed_at.is_(None)
        if db.execute(
            update(campaign_doors).where(is_it, is_open).values(closed_at=now())
        ).rowcount:
            write_audit(db, actor, "close_door", found.id, door=door_id)
        if not (doors := _read_doors(db, is_it)):
            raise NotFound("there is no such door", "look at: fabula campaign doors")
        return doors[0]


def _read_doors(db: Connection, which: ColumnElement[bool]) -> list[Door]:
    raters = (
        select(func.count())
        .where(campaign_raters.c.door_id == campaign_doors.c.id)
        .scalar_subquery()
    )
    columns = [campaign_doors.c[name] for name in Door.__annotations__ if name != "raters"]
    query = select(*columns, raters.label("raters")).where(which)
    order = (campaign_doors.c.created_at, campaign_doors.c.id)
    return [Door(**row._mapping) for row in db.execute(query.order_by(*order))]


def enter_campaign(
    studio: Studio,
    code: str,
    *,
    parameters: Mapping[str, str] | None = None,
    person: Person | None = None,
    secret: str = "",
) -> Entrance:
    """Come in by a door, for the first time or again.

    `parameters` are those of the address, `secret` what the browser shows (if it was here before).
    """
    with studio.write() as db:
        door = _find_door(db, code)
        campaign = load_campaign(db, door.campaign_id)
        name, kept = _read_name(door.way, parameters or {})
        if door.way == "account" and person is None:
            raise NotAllowed("this door is for people with an account here", "sign in first")
        known = _find_known(db, campaign, door.way, name, person, secret)
        if known is not None and digest_secret(secret) == known.digest:
            return Entrance(_make_rater(known, campaign), None)
        fresh, moment = make_secret(), now()
        values: dict[str, Any] = {"digest": digest_secret(fresh), "seen_at": moment}
        if known is not None:
            # An account says who it is; a name in an address does not.
            if person is None:
                values["secret_at"] = moment
            changed = update(campaign_raters).where(campaign_raters.c.id == known.id)
            db.execute(changed.values(**values))
            return Entrance(_make_rater(_load_row(db, known.id), campaign), fresh)
        _need_room(db, campaign, door)
        own = person.id if person and door.way == "account" else None
        last = select(func.coalesce(func.max(campaign_raters.c.number), 0))
        number = db.scalar(last.where(campaign_raters.c.campaign_id == campaign.id)) or 0
        values |= {"id": new_id(), "campaign_id": campaign.id, "door_id": door.id}
        values |= {"number": number + 1, "person_id": own, "external_id": name, "external": kept}
        values["completion"] = door.completion or randomness.token_hex(5).upper()
        db.execute(insert(campaign_raters).values(**values))
        return Entrance(_make_rater(_load_row(db, values["id"]), campaign), fresh)


def read_door(studio: Studio, code: str) -> tuple[Door, Campaign]:
    """Give the door of a code and where it leads, to whoever has it."""
    with studio.snapshot() as db:
        doors = _read_doors(db, campaign_doors.c.code == code)
        leads = select(campaign_doors.c.campaign_id).where(campaign_doors.c.code == code)
        campaign = load_campaign(db, db.scalars(leads).one()) if doors else None
        if campaign is None or campaign.state == "draft":
            raise NotFound(
                "this link leads nowhere", "look whether it is whole, or ask for another"
            )
        return doors[0], campaign


def _find_door(db: Connection, code: str) -> Row[Any]:
    """Find a door, and keep its campaign to oneself: numbers and places are given one by one."""
    door = db.execute(select(campaign_doors).where(campaign_doors.c.code == code)).first()
    if door is None:
        raise NotFound("this link leads nowhere", "look whether it is whole, or ask for another")
    locked = (
        select(campaigns.c.state)
        .where(campaigns.c.id == door.campaign_id)
        .with_for_update(key_share=True)
    )
    if db.scalar(locked) == "draft":
        raise NotFound("this link leads nowhere yet", "come back when the campaign is open")
    return door


def _read_name(way: Way, parameters: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
    """Read what a crowd site says in the address: a name, and what is kept of the rest."""
    if way not in _NAMED_BY:
        return None, {}
    name = parameters.get(_NAMED_BY[way], "").strip()
    if parameters.get("assignmentId") == _NOT_AVAILABLE:
        raise InputError("this is a preview", "accept the task to begin")
    # What a site puts in place of a name when a link was copied out of its settings.
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable() or "{" in name:
        raise InputError(
            f"the address names nobody ({_NAMED_BY[way]} is missing)", "come by the site's own link"
        )
    kept = {each: parameters[each][:_LONGEST_NAME] for each in _KEPT[way] if each in parameters}
    return name, kept


def _find_known(
    db: Connection,
    campaign: Campaign,
    way: Way,
    name: str | None,
    person: Person | None,
    secret: str,
) -> Row[Any] | None:
    """Find who was here before: by account, by the site's name, or by the browser alone."""
    if way == "account":
        is_known = campaign_raters.c.person_id == (person.id if person else "")
    elif name is not None:
        is_known = campaign_raters.c.external_id == name
    else:
        is_known = campaign_raters.c.digest == digest_secret(secret)
    wanted = select(campaign_raters).where(campaign_raters.c.campaign_id == campaign.id, is_known)
    return db.execute(wanted.with_for_update(key_share=True)).first()


def _need_room(db: Connection, campaign: Campaign, door: Row[Any]) -> None:
    if campaign.state == "closed" or door.closed_at is not None:
        raise Conflict("nobody new is asked any more", "thank you for coming")
    if campaign.state == "paused":
        raise Conflict("the campaign pauses", "come back later")
    count = select(func.count()).where(campaign_raters.c.door_id == door.id)
    if door.most and (db.scalar(count) or 0) >= door.most:
        raise Conflict("enough people have come by this link", "thank you for coming")


def find_rater(db: Connection, campaign_id: str, secret: str, *, lock: bool = False) -> Rater:
    """Find whose secret a browser shows, in a transaction; `lock` the rater to give a task."""
    is_it = and_(
        campaign_raters.c.campaign_id == campaign_id,
        campaign_raters.c.digest == digest_secret(secret),
    )
    wanted = select(campaign_raters).where(is_it)
    row = (
        db.execute(wanted.with_for_update(key_share=True) if lock else wanted).first()
        if secret
        else None
    )
    if row is None:
        raise NoRater
    return _make_rater(row, load_campaign(db, campaign_id))


def read_rater(studio: Studio, campaign_id: str, secret: str) -> Rater:
    """Find whose secret a browser shows."""
    with studio.read() as db:
        return find_rater(db, campaign_id, secret)


def give_consent(studio: Studio, campaign_id: str, secret: str) -> Rater:
    """Note that a rater has read the consent text and agrees; the same again changes nothing."""
    with studio.write() as db:
        rater = find_rater(db, campaign_id, secret, lock=True)
        is_first = and_(campaign_raters.c.id == rater.id, campaign_raters.c.consented_at.is_(None))
        db.execute(update(campaign_raters).where(is_first).values(consented_at=now()))
        return find_rater(db, campaign_id, secret)


def try_training(
    studio: Studio, campaign_id: str, secret: str, number: int, answers: Mapping[str, Any]
) -> TrainingResult:
    """Answer the training story of that number, from 0: in order, and each until it is right.

    Who has no tries left at a story is not asked further.
    """
    with studio.write() as db:
        rater = find_rater(db, campaign_id, secret, lock=True)
        stories = rater.campaign.definition.training
        if rater.step != "training":
            raise Conflict("there is nothing to practise now", "go on")
        done = int(rater.training.get("done", 0))
        if number != done:
            raise Conflict(f"story {number + 1} is not the one to practise on", "load the page")
        story, most = stories[number], rater.campaign.definition.training_tries
        wrong = tuple(
            name for name, right in story.answers.items() if answers.get(name) not in right
        )
        tries = [*rater.training.get("tries", []), {"story": number, "answers": dict(answers)}]
        left = most - sum(each["story"] == number for each in tries)
        training = {"done": done + (not wrong), "tries": tries}
        values: dict[str, Any] = {"training": training, "seen_at": now()}
        if wrong and left <= 0:
            training["failed"] = True
        elif training["done"] == len(stories):
            values["trained_at"] = now()
        db.execute(update(campaign_raters).where(campaign_raters.c.id == rater.id).values(**values))
        step = find_rater(db, campaign_id, secret).step
    return TrainingResult(wrong, story.feedback, max(0, left), step)


def forget_rater(studio: Studio, actor: Person | None, campaign: str, number: int) -> None:
    """Empty what a crowd site or an account says of who a rater is; the work stays."""
    with studio.write() as db:
        found = find_campaign_row(db, actor, campaign)
        is_it = and_(campaign_raters.c.campaign_id == found.id, campaign_raters.c.number == number)
        emptied: dict[str, Any] = {"external_id": None, "external": {}, "person_id": None}
        # Nobody is known by a digest that no secret has.
        emptied["digest"] = digest_secret(make_secret())
        if not db.execute(update(campaign_raters).where(is_it).values(**emptied)).rowcount:
            raise NotFound(f"there is no rater {number}", "look at: fabula campaign status")
        write_audit(db, actor, "forget_rater", found.id, number=number)


def _load_row(db: Connection, rater_id: str) -> Row[Any]:
    return db.execute(select(campaign_raters).where(campaign_raters.c.id == rater_id)).one()


def _make_rater(row: Row[Any], campaign: Campaign) -> Rater:
    definition = campaign.definition
    step: Step = "tasks"
    if row.excluded_at is not None:
        step = "excluded"
    elif definition.consent.strip() and row.consented_at is None:
        step = "consent"
    elif definition.training and row.trained_at is None:
        step = "failed" if row.training.get("failed") else "training"
    return Rater(
        id=row.id,
        number=row.number,
        campaign=campaign,
        step=step,
        training=row.training,
        secret_at=row.secret_at,
        completion=row.completion,
        finished_at=row.finished_at,
    )
