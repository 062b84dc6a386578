"""Drafts: opened, saved as edits, looked back on, restored, thrown away, published."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Path, Query, Response
from pydantic import AwareDatetime, BaseModel, Field

from fabula.studio.drafts import (
    Draft,
    change_draft,
    discard_draft,
    list_drafts,
    open_draft,
    read_draft,
)
from fabula.studio.edits import MOST_EDITS, Edit, LoggedEdit
from fabula.studio.publishing import publish_entry
from fabula.studio.versions import (
    Version,
    list_versions,
    name_version,
    read_log,
    read_version,
    restore_version,
    save_draft,
)
from fabula.web.api.shapes import Body, Identity, Key, Line, Page, Prose, Small, Wanted, make_router
from fabula.web.identity import Id, Somebody

router = make_router("drafts")
Format = Literal["establishment", "addition", "conclusion", "move", "refresh", "subplot"]
Number = Annotated[int, Path(ge=0, le=2**31 - 1)]
Cards = Annotated[
    dict[
        Annotated[str, Field(pattern="^(challenge|target|played|place|pickup)$")],
        Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=50)],
    ],
    Field(description="Cards to be on the table, by their use."),
]


class NewDraft(Body):
    """An entry to be written."""

    key: Key
    game_id: Identity
    scene_id: Identity
    format: Format = "move"
    character_id: Identity | None = None
    cards: Cards | None = None


class DraftChange(Body):
    """The cards that are to be on the table."""

    cards: Cards


class EditBody(Body):
    """Characters `start` to `stop` give way to `inserted`; positions count code points."""

    start: Small
    stop: Small
    inserted: Prose = ""
    source: Literal["person", "machine"] = "person"
    suggestion_id: Identity | None = None
    made_at: AwareDatetime | None = None


class Saving(Body):
    """Edits, one after the other, to the text of `base_version`."""

    key: Key
    base_version: Small
    edits: Annotated[list[EditBody], Field(max_length=MOST_EDITS)]
    name: Line | None = None


class Restoring(Body):
    """Which version is to stand again; `base_version` is the one that stands."""

    key: Key
    number: Small
    base_version: Small


class VersionName(Body):
    """What a version is called."""

    name: Line | None


class Publishing(Body):
    """Which version goes out: what one has seen."""

    version: Small


class ScoreAnswer(BaseModel):
    """What a metric says of a suggestion beside what was published; no value where the status
    says why."""

    suggestion_id: str
    scorer: str
    aspect: str
    value: float | None
    status: str
    note: str


class PublishedAnswer(BaseModel):
    """An entry, its number in the game, and the scores of what was suggested for it."""

    entry_id: str
    seq_id: int
    published_at: datetime
    scores: list[ScoreAnswer]


@router.post("/drafts", status_code=201)
def begin_draft(call: Somebody, body: NewDraft) -> Draft:
    """Open a draft in a scene."""
    return open_draft(call.studio, call.person, **body.model_dump())


@router.get("/drafts")
def read_drafts(
    call: Somebody,
    window: Wanted,
    game_id: Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")] = None,
    state: Literal["open", "published", "discarded", "any"] = "open",
) -> Page[Draft]:
    """List one's drafts."""
    wanted = None if state == "any" else state
    return window.cut(list_drafts(call.studio, call.person, game_id=game_id, state=wanted))


@router.get("/drafts/{draft_id}")
def read_one(call: Somebody, draft_id: Id) -> Draft:
    """Give a draft as it stands."""
    return read_draft(call.studio, call.person, draft_id)


@router.patch("/drafts/{draft_id}")
def alter_draft(call: Somebody, draft_id: Id, body: DraftChange) -> Draft:
    """Lay other cards on the table."""
    return change_draft(call.studio, call.person, draft_id, cards=body.cards)


@router.post("/drafts/{draft_id}/save")
def save(call: Somebody, draft_id: Id, body: Saving) -> Draft:
    """Save edits as the next version. Who has an old text is told: 409."""
    edits = [Edit(**edit.model_dump()) for edit in body.edits]
    return save_draft(
        call.studio,
        call.person,
        draft_id,
        key=body.key,
        base_version=body.base_version,
        edits=edits,
        name=body.name,
    )


@router.get("/drafts/{draft_id}/versions")
def read_versions(call: Somebody, draft_id: Id, window: Wanted) -> Page[Version]:
    """List a draft's versions."""
    return window.cut(list_versions(call.studio, call.person, draft_id))


@router.get("/drafts/{draft_id}/versions/{number}")
def read_old(call: Somebody, draft_id: Id, number: Number) -> Draft:
    """Give a draft as it was at a version."""
    return read_version(call.studio, call.person, draft_id, number)


@router.put("/drafts/{draft_id}/versions/{number}/name", status_code=204)
def call_version(call: Somebody, draft_id: Id, number: Number, body: VersionName) -> None:
    """Give a version a name."""
    name_version(call.studio, call.person, draft_id, number, body.name)


@router.post("/drafts/{draft_id}/restore")
def restore(call: Somebody, draft_id: Id, body: Restoring) -> Draft:
    """Let an old version stand again, as a new one."""
    return restore_version(call.studio, call.person, draft_id, **body.model_dump())


@router.get("/drafts/{draft_id}/log")
def read_edits(
    call: Somebody,
    draft_id: Id,
    window: Wanted,
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> Page[LoggedEdit]:
    """List every edit after a version, as it was made: who wrote what, and when."""
    return window.cut(read_log(call.studio, call.person, draft_id, after=after))


@router.post("/drafts/{draft_id}/discard")
def discard(call: Somebody, draft_id: Id) -> Draft:
    """Throw a draft away; its log stays."""
    return discard_draft(call.studio, call.person, draft_id)


@router.post("/drafts/{draft_id}/publish", response_model=PublishedAnswer)
def publish(call: Somebody, draft_id: Id, body: Publishing) -> Response:
    """Publish a draft as an entry of its scene; sent again, it gives the same entry."""
    published = publish_entry(call.studio, call.person, draft_id, version=body.version)
    answer = PublishedAnswer(
        entry_id=published.entry_id,
        seq_id=published.seq_id,
        published_at=published.published_at,
        scores=[
            ScoreAnswer(
                suggestion_id=score.story,
                scorer=score.scorer,
                aspect=score.aspect,
                value=score.value if score.ok else None,
                status=score.status.value,
                note=score.note,
            )
            for score in published.scores
        ],
    )
    # It is what the model says: to check it again, in another thread, takes longer than to write.
    return Response(answer.model_dump_json(), media_type="application/json")
