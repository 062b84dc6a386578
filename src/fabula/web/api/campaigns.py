"""Campaigns, for researchers: made, opened, paused, closed; their doors, verdicts and export."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path
from pydantic import BaseModel, Field

from fabula.core.errors import InputError
from fabula.core.story import Story
from fabula.studio.campaigns.checks import Flag, find_flags
from fabula.studio.campaigns.definition import make_definition
from fabula.studio.campaigns.opening import (
    Campaign,
    CampaignState,
    Progress,
    create_campaign,
    find_campaign,
    list_campaigns,
    set_campaign_state,
)
from fabula.studio.campaigns.raters import (
    Door,
    Way,
    close_door,
    forget_rater,
    list_doors,
    make_door,
)
from fabula.studio.campaigns.stories import Material
from fabula.studio.campaigns.verdicts import (
    exclude_rater,
    include_rater,
    reject_work,
    restore_work,
)
from fabula.studio.campaigns.work import read_work
from fabula.web.api.shapes import Body, Identity, Line, Prose, Small, make_router
from fabula.web.identity import Id, Somebody

router = make_router("campaigns", "/campaigns")
Name = Annotated[str, Path(min_length=1, max_length=100, description="Name or identity.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1, description="Of the rater, in the campaign.")]
Reason = Annotated[str, Field(max_length=2000)]


class NewStory(Body):
    """A story to ask about; `extra` is what else is shown of it."""

    id: Annotated[str, Field(min_length=1, max_length=500)]
    text: Prose
    prompt: Prose | None = None
    references: list[Prose] = Field(default_factory=list)
    system: Line | None = None
    item: Line | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class NewCampaign(Body):
    """A campaign: what its file says, as JSON, and its stories."""

    definition: dict[str, Any]
    stories: Annotated[list[NewStory], Field(min_length=1, max_length=100_000)]


class NewState(Body):
    """What a campaign is to be."""

    state: Literal["open", "paused", "closed"]


class NewDoor(Body):
    """A way in: `completion` is what raters are given at the end, `most` how many may come."""

    way: Way = "code"
    completion: Annotated[str, Field(max_length=200)] = ""
    most: Small = 0


class NewVerdict(Body):
    """A judgement of work that was handed in."""

    verdict: Literal["rejected", "restored"]
    assignments: Annotated[list[Identity], Field(min_length=1, max_length=10_000)]
    reason: Reason = ""


class Exclusion(Body):
    """Whether a rater takes part, and why not."""

    is_excluded: bool = True
    reason: Reason = ""


class CampaignLine(BaseModel):
    """A campaign in a list, and how far it is."""

    id: str
    name: str
    title: str
    state: CampaignState
    created_at: datetime
    opened_at: datetime | None
    closed_at: datetime | None
    progress: Progress


class Changed(BaseModel):
    """The assignments that a verdict changed."""

    assignments: list[str]


@router.get("")
def list_all(call: Somebody) -> list[CampaignLine]:
    """List campaigns, the newest first."""
    return [
        CampaignLine(
            title=campaign.definition.title,
            progress=progress,
            **{name: getattr(campaign, name) for name in CampaignLine.model_fields
               if name not in ("title", "progress")},
        )
        for campaign, progress in list_campaigns(call.studio, call.person)
    ]  # fmt: skip


@router.post("", status_code=201)
def create(call: Somebody, body: NewCampaign) -> Campaign:
    """Make a campaign, as a draft. Stories with pictures come by `fabula campaign open`."""
    call.person.need("researcher")
    definition = make_definition(body.definition, "definition")
    if definition.show.pictures:
        raise InputError("pictures do not come this way", "run: fabula campaign open")
    material = [
        Material(
            Story(
                story.id,
                story.text,
                story.prompt,
                tuple(story.references),
                system=story.system,
                item=story.item,
            ),
            story.extra,
        )
        for story in body.stories
    ]
    return create_campaign(call.studio, call.person, definition, material)


@router.get("/{campaign}")
def read(call: Somebody, campaign: Name) -> Campaign:
    """Give a campaign."""
    return find_campaign(call.studio, call.person, campaign)


@router.put("/{campaign}/state")
def change_state(call: Somebody, campaign: Name, body: NewState) -> Campaign:
    """Open a campaign, pause it or close it."""
    return set_campaign_state(call.studio, call.person, campaign, body.state)


@router.get("/{campaign}/doors")
def read_doors(call: Somebody, campaign: Name) -> list[Door]:
    """List the ways into a campaign."""
    return list_doors(call.studio, call.person, campaign)


@router.post("/{campaign}/doors", status_code=201)
def add_door(call: Somebody, campaign: Name, body: NewDoor) -> Door:
    """Make a way into a campaign."""
    return make_door(call.studio, call.person, campaign, **body.model_dump())


@router.delete("/{campaign}/doors/{door}")
def shut_door(call: Somebody, campaign: Name, door: Id) -> Door:
    """Let nobody new in by a door."""
    return close_door(call.studio, call.person, campaign, door)


@router.get("/{campaign}/flags")
def read_flags(call: Somebody, campaign: Name) -> list[Flag]:
    """List what is odd about the work that was handed in."""
    name = find_campaign(call.studio, call.person, campaign).name
    return find_flags(read_work(call.studio, call.person, name))


@router.post("/{campaign}/verdicts")
def judge(call: Somebody, campaign: Name, body: NewVerdict) -> Changed:
    """Reject work, whose places are open again, or restore it."""
    name = find_campaign(call.studio, call.person, campaign).name
    decide = reject_work if body.verdict == "rejected" else restore_work
    changed = decide(call.studio, call.person, name, body.assignments, reason=body.reason)
    return Changed(assignments=list(changed))


@router.put("/{campaign}/raters/{number}/excluded")
def exclude(call: Somebody, campaign: Name, number: Number, body: Exclusion) -> Changed:
    """Let a rater take no part any more, and reject their work; or take both back."""
    name = find_campaign(call.studio, call.person, campaign).name
    decide = exclude_rater if body.is_excluded else include_rater
    decided = decide(call.studio, call.person, name, f"r{number}", reason=body.reason)
    return Changed(assignments=list(decided.assignments))


@router.delete("/{campaign}/raters/{number}/identity", status_code=204)
def forget(call: Somebody, campaign: Name, number: Number) -> None:
    """Empty what a crowd site or an account says of who a rater is."""
    forget_rater(call.studio, call.person, campaign, number)
