"""Campaigns from their file to their end: created of a definition and stories, opened, paused,
closed. For researchers; `actor` is None for who runs the machine.

A draft is seen by nobody who rates. An open campaign lets raters in and gives out tasks; a paused
one gives out nothing new, and takes what is being worked on; in a closed one what still comes in is
kept as surplus, so that its counts stay what they are. Any of them can be opened again.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal

from sqlalchemy import Connection, Row, and_, func, insert, or_, select, update

from fabula.core.errors import Conflict, NotFound
from fabula.core.story import Story
from fabula.models.reading.pictures import PictureReader, to_pillow
from fabula.studio.campaigns.definition import Definition, make_definition
from fabula.studio.campaigns.stories import Material, check_material
from fabula.studio.campaigns.tasks import PlannedTask, plan_tasks
from fabula.studio.database import Studio, insert_new
from fabula.studio.people import Person, write_audit
from fabula.studio.tables import (
    campaign_assignments,
    campaign_pictures,
    campaign_raters,
    campaign_stories,
    campaign_tasks,
    campaigns,
    new_id,
    now,
)

CampaignState = Literal["draft", "open", "paused", "closed"]
# Larger pictures are made smaller: they are looked at on a page.
_LONGEST_SIDE = 1600
_JPEG_QUALITY = 88


@dataclass(frozen=True)
class Campaign:
    """A campaign; `digest` is that of its definition and stories."""

    id: str
    name: str
    owner_id: str
    definition: Definition
    digest: str
    state: CampaignState
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None


@dataclass(frozen=True)
class Progress:
    """How far a campaign is: places in tasks that are `wanted`, `accepted` or `leased` now, and
    raters who came in. Checks of raters are not counted."""

    stories: int
    tasks: int
    wanted: int
    accepted: int
    leased: int
    raters: int


def create_campaign(
    studio: Studio, owner: Person, definition: Definition, material: Sequence[Material | Story]
) -> Campaign:
    """Keep a campaign with its stories, pictures and tasks, as a draft."""
    owner.need("researcher")
    given = [each if isinstance(each, Material) else Material(each) for each in material]
    check_material(definition, given)
    planted = _make_planted(definition)
    tasks = plan_tasks(definition, [each.story for each in given], [each.story for each in planted])
    pictures = _read_pictures(given) if definition.show.pictures else {}
    plain = json.loads(json.dumps(asdict(definition)))
    campaign_id = new_id()
    rows = [
        _make_story_row(each, pictures) | {"campaign_id": campaign_id, "is_planted": is_planted}
        for is_planted, several in ((False, given), (True, planted))
        for each in several
    ]
    row = {"id": campaign_id, "name": definition.name, "owner_id": owner.id, "definition": plain}
    with studio.write() as db:
        if insert_new(db, campaigns, row | {"digest": _digest(plain, rows)}) is None:
            raise Conflict(
                f"there is a campaign {definition.name} already",
                "give this one another name, or"
                f" go on with that one: fabula campaign open {definition.name}",
            )
        db.execute(insert(campaign_stories), rows)
        for picture in {picture["digest"]: picture for picture in pictures.values()}.values():
            db.execute(insert(campaign_pictures).values(campaign_id=campaign_id, **picture))
        db.execute(insert(campaign_tasks), _make_task_rows(campaign_id, tasks, rows))
        write_audit(db, owner, "create_campaign", campaign_id, stories=len(given))
        return load_campaign(db, campaign_id)


def _make_planted(definition: Definition) -> list[Material]:
    stories = definition.planted if definition.checks.planted else ()
    return [
        Material(
            Story(
                f"planted-{number}",
                story.text,
                story.prompt or None,
                (story.reference,) if story.reference else (),
            )
        )
        for number, story in enumerate(stories, 1)
    ]


def _read_pictures(material: Sequence[Material]) -> dict[str, dict[str, Any]]:
    """Make pictures fit to be served, by the names of their files: upright, of a bounded size, and
    nothing in them but what is seen."""
    reader = PictureReader(longest_side=_LONGEST_SIDE)
    pictures: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(name for each in material for name in each.story.images):
        image = to_pillow(reader.read(name).pixels)
        file = io.BytesIO()
        image.save(file, "JPEG", quality=_JPEG_QUALITY)
        data = file.getvalue()
        pictures[name] = {
            "digest": hashlib.sha256(data).hexdigest(),
            "media_type": "image/jpeg",
            "width": image.width,
            "height": image.height,
            "data": data,
        }
    return pictures


def _make_story_row(each: Material, pictures: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    story = each.story
    return {
        "id": new_id(),
        "name": story.id,
        "text": story.text,
        "prompt": story.prompt,
        "reference_texts": list(story.nonblank_references),
        "pictures": [pictures[name]["digest"] for name in story.images if name in pictures],
        "system": story.system,
        "item": story.item,
        "extra": dict(each.extra),
    }


def _make_task_rows(
    campaign_id: str, tasks: Sequence[PlannedTask], stories: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    return [
        {
            "id": new_id(),
            "campaign_id": campaign_id,
            "number": number,
            "kind": task.kind,
            "stories": [stories[place]["id"] for place in task.stories],
            "item": task.item,
            "systems": list(task.systems),
            "wanted": task.wanted,
        }
        for number, task in enumerate(tasks, 1)
    ]


def _digest(plain: Mapping[str, Any], stories: Sequence[Mapping[str, Any]]) -> str:
    """Name what was asked: the same file and the same stories have the same digest."""
    told = [
        {name: row[name] for name in row if name not in ("id", "campaign_id")} for row in stories
    ]
    text = json.dumps([plain, told], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def set_campaign_state(
    studio: Studio, actor: Person | None, name: str, state: Literal["open", "paused", "closed"]
) -> Campaign:
    """Open a campaign, pause it or close it; the same again changes nothing."""
    with studio.write() as db:
        campaign = find_campaign_row(db, actor, name, lock=True)
        if campaign.state == state:
            return campaign
        if campaign.state == "draft" and state != "open":
            raise Conflict(f"the campaign {campaign.name} is a draft", "open it first")
        moment = now()
        values: dict[str, Any] = {"state": state, "closed_at": None}
        if state == "closed":
            values["closed_at"] = moment
        if state == "open" and campaign.opened_at is None:
            values["opened_at"] = moment
        db.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(**values))
        write_audit(db, actor, "set_campaign_state", campaign.id, state=state)
        return load_campaign(db, campaign.id)


def find_campaign(studio: Studio, actor: Person | None, name: str) -> Campaign:
    """Find a campaign by its name or identity."""
    with studio.read() as db:
        return find_campaign_row(db, actor, name)


def list_campaigns(studio: Studio, actor: Person | None) -> list[tuple[Campaign, Progress]]:
    """Give all campaigns with how far they are, the newest first."""
    if actor:
        actor.need("researcher")
    order = (campaigns.c.created_at.desc(), campaigns.c.id)
    with studio.snapshot() as db:
        rows = db.execute(select(campaigns).order_by(*order)).all()
        return [(_make_campaign(row), read_progress(db, row.id)) for row in rows]


def find_campaign_row(
    db: Connection, actor: Person | None, name: str, *, lock: bool = False
) -> Campaign:
    """Find a campaign for a researcher, in a transaction; `lock` it to change it."""
    if actor:
        actor.need("researcher")
    wanted = select(campaigns).where(or_(campaigns.c.name == name, campaigns.c.id == name))
    row = db.execute(wanted.with_for_update(key_share=True) if lock else wanted).first()
    if row is None:
        raise NotFound(f"there is no campaign {name}", "look at: fabula campaign list")
    return _make_campaign(row)


def load_campaign(db: Connection, campaign_id: str) -> Campaign:
    """Read a campaign that is known to be there."""
    return _make_campaign(db.execute(select(campaigns).where(campaigns.c.id == campaign_id)).one())


def read_progress(db: Connection, campaign_id: str, moment: datetime | None = None) -> Progress:
    """Count places, and who came in."""
    work, tasks = campaign_assignments, campaign_tasks
    is_accepted = and_(work.c.state == "submitted", work.c.rejected_at.is_(None))
    is_leased = and_(work.c.state == "leased", work.c.leased_until > (moment or now()))
    held = (
        select(
            func.count().filter(is_accepted).label("accepted"),
            func.count().filter(is_leased).label("leased"),
        )
        .join(tasks, tasks.c.id == work.c.task_id)
        .where(work.c.campaign_id == campaign_id, tasks.c.kind == "story")
    )
    planned = select(func.count(), func.coalesce(func.sum(tasks.c.wanted), 0)).where(
        tasks.c.campaign_id == campaign_id, tasks.c.kind == "story"
    )
    stories = select(func.count()).where(
        campaign_stories.c.campaign_id == campaign_id, campaign_stories.c.is_planted.is_(False)
    )
    raters = select(func.count()).where(campaign_raters.c.campaign_id == campaign_id)
    count, wanted = db.execute(planned).one()
    accepted, leased = db.execute(held).one()
    return Progress(
        db.scalar(stories) or 0, count, int(wanted), accepted, leased, db.scalar(raters) or 0
    )


# Raters ask for it with every request, and it does not change.
@lru_cache(maxsize=64)
def _parse_definition(text: str) -> Definition:
    return make_definition(json.loads(text))


def _make_campaign(row: Row[Any]) -> Campaign:
    definition = _parse_definition(json.dumps(row.definition))
    fields = {name: getattr(row, name) for name in Campaign.__annotations__ if name != "definition"}
    return Campaign(definition=definition, **fields)
