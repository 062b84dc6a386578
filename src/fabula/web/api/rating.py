"""What raters of a campaign do: come in, agree, practise, take a task, save it, hand it in.

A rater is known by a cookie of the campaign, which `enter` gives together with the word that has to
come along, as `X-CSRF-Token`, with whatever changes something.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path
from pydantic import BaseModel, Field
from starlette.responses import Response

from fabula.studio.campaigns.answers import (
    Receipt,
    Saved,
    release_task,
    save_answers,
    submit_answers,
)
from fabula.studio.campaigns.assigning import take_task
from fabula.studio.campaigns.raters import (
    Rater,
    Step,
    TrainingResult,
    enter_campaign,
    give_consent,
    make_csrf,
    read_door,
    read_rater,
    try_training,
)
from fabula.studio.campaigns.showing import (
    Asked,
    Assignment,
    OwnTask,
    Turn,
    describe_campaign,
    list_assignments,
    read_assignment,
    read_picture,
)
from fabula.web.api.shapes import Body, Small, make_router
from fabula.web.identity import Call, Id, Passer, Rating, name_rater_cookie

router = make_router("rating", "/rating")
Code = Annotated[str, Path(pattern="^[A-Za-z0-9_-]{1,64}$", description="Of the link.")]
Short = Annotated[str, Field(max_length=500)]
# A rater comes back to a study after weeks, and not after a year.
_COOKIE_S = 180 * 24 * 3600.0
# Pictures do not change: their address holds their digest.
_CACHED = "private, max-age=86400, immutable"


class Entering(Body):
    """What the address of a link says beside its code, and whether the consent text was agreed to
    on the same page."""

    parameters: dict[Short, Short] = Field(default_factory=dict)
    consents: bool = False


class RaterAnswer(BaseModel):
    """Who one is in a campaign, what comes next, and the word for `X-CSRF-Token`."""

    campaign_id: str
    number: int
    step: Step
    csrf: str
    practised: int = Field(description="Training stories that are done.")
    asked: Asked


class Practice(Body):
    """Answers to a training story, by its number from 0."""

    number: Small
    answers: dict[str, Any]


class Answers(Body):
    """Answers to a task, the version that they were given on, and for how long it was in sight."""

    version: Small
    answers: dict[str, Any]
    visible_s: Annotated[float, Field(ge=0, le=1e7)] = 0.0


@router.post("/enter/{code}")
def enter(visit: Passer, response: Response, code: Code, body: Entering) -> RaterAnswer:
    """Come in by a link, or come back; gives the cookie of the campaign."""
    # A class of forty comes in at once, behind one address.
    visit.web.people.take(visit.address)
    _, campaign = read_door(visit.studio, code)
    cookie = name_rater_cookie(campaign.id)
    shown = visit.read_cookie(cookie)
    entrance = enter_campaign(
        visit.studio,
        code,
        parameters=body.parameters,
        person=visit.person if isinstance(visit, Call) else None,
        secret=shown,
    )
    secret = entrance.secret or shown
    if body.consents:
        give_consent(visit.studio, campaign.id, secret)
    visit.set_cookie(response, secret, what=cookie, seconds=_COOKIE_S)
    return _describe(read_rater(visit.studio, campaign.id, secret), secret)


@router.get("/{campaign_id}")
def read_self(call: Rating) -> RaterAnswer:
    """Give who one is in a campaign, what is asked, and what comes next."""
    return _describe(read_rater(call.studio, call.campaign_id, call.secret), call.secret)


@router.post("/{campaign_id}/consent")
def consent(call: Rating) -> RaterAnswer:
    """Agree to the consent text."""
    return _describe(give_consent(call.studio, call.campaign_id, call.secret), call.secret)


@router.post("/{campaign_id}/training")
def practise(call: Rating, body: Practice) -> TrainingResult:
    """Answer a training story; they are answered in order, each until it is right."""
    return try_training(call.studio, call.campaign_id, call.secret, body.number, body.answers)


@router.post("/{campaign_id}/next")
def take_next(call: Rating) -> Turn:
    """Take the next task: the one that one has, if it is not handed in."""
    return take_task(call.studio, call.campaign_id, call.secret)


@router.get("/{campaign_id}/tasks")
def list_own(call: Rating) -> list[OwnTask]:
    """List the tasks that one has or had, in order."""
    return list_assignments(call.studio, call.campaign_id, call.secret)


@router.get("/{campaign_id}/tasks/{assignment_id}")
def read_own_task(call: Rating, assignment_id: Id) -> Assignment:
    """Give a task of one's own; answers from before the cookie was given are left out."""
    return read_assignment(call.studio, call.campaign_id, call.secret, assignment_id)


@router.put("/{campaign_id}/tasks/{assignment_id}")
def save_task(call: Rating, assignment_id: Id, body: Answers) -> Saved:
    """Keep what is answered so far, some of it or all."""
    return save_answers(
        call.studio, call.campaign_id, call.secret, assignment_id, **body.model_dump()
    )


@router.post("/{campaign_id}/tasks/{assignment_id}/submit")
def submit_task(call: Rating, assignment_id: Id, body: Answers) -> Receipt:
    """Hand a task in; the same again gives the same receipt."""
    return submit_answers(
        call.studio, call.campaign_id, call.secret, assignment_id, **body.model_dump()
    )


@router.post("/{campaign_id}/tasks/{assignment_id}/release", status_code=204)
def give_back_task(call: Rating, assignment_id: Id) -> None:
    """Give a task back to be done by others."""
    release_task(call.studio, call.campaign_id, call.secret, assignment_id)


@router.get(
    "/{campaign_id}/pictures/{digest}",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {}}}},
)
def show_picture(call: Rating, digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$")]) -> Response:
    """Give a picture of a story."""
    picture = read_picture(call.studio, call.campaign_id, call.secret, digest)
    return Response(picture.data, media_type=picture.media_type, headers={"Cache-Control": _CACHED})


def _describe(rater: Rater, secret: str) -> RaterAnswer:
    return RaterAnswer(
        campaign_id=rater.campaign.id,
        number=rater.number,
        step=rater.step,
        csrf=make_csrf(secret),
        practised=int(rater.training.get("done", 0)),
        asked=describe_campaign(rater.campaign.definition),
    )
