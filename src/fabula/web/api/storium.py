"""STORIUM's endpoints: what a platform that was written for STORIUM's server asks of ours.

The platform shows the shared secret as the query parameter `token`, or sends a token of scope
`backend`; to everybody else there is nothing here. Bodies may be compressed, and long answers are.
docs/studio/storium.md says what differs from the original.
"""

from __future__ import annotations

import csv
import io
import json
import secrets
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Depends, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, Field, WithJsonSchema
from starlette.responses import FileResponse, StreamingResponse

from fabula.core.errors import NotFound
from fabula.datasets.story_games.game import ENTRY_KEYS
from fabula.studio.filters import Filter
from fabula.studio.judgements import COLUMNS, stream_contexts, stream_stories
from fabula.studio.quality import count_sentences
from fabula.studio.storium_door import (
    PLATFORM,
    DoorStatus,
    Kind,
    StoryStatus,
    ask_for_story,
    need_scope,
    read_door_suggestion,
    story_status,
    upload_story,
)
from fabula.studio.storium_feedback import (
    Feedback,
    FeedbackPrompt,
    FeedbackType,
    finalize,
    give_feedback,
    list_prompts,
)
from fabula.web.api.shapes import make_router
from fabula.web.errors import Problem, Unauthenticated
from fabula.web.identity import Anybody, Call, Id, Visit, find_call

STORIUM = "/api/storium"
router = make_router("storium", api=STORIUM)
MachineStatus = Annotated[
    Literal["active", "inactive"] | None, Query(description="Machines of this status alone.")
]
SceneEntry = Annotated[
    dict[str, Any],
    WithJsonSchema({"title": "SceneEntry", "type": "object", "required": list(ENTRY_KEYS)}),
]


class StoryId(BaseModel):
    """Which story it is: the MD5 of its JSON, keys in order, without blanks."""

    story_id: str


class StoryReadiness(BaseModel):
    """Whether suggestions can be asked for."""

    status: StoryStatus


class NewSuggestion(BaseModel):
    """An entry to be written: as it will be, but without a description."""

    story_id: str
    context: SceneEntry
    type: Kind = "scene_entry"


class SuggestionAsked(BaseModel):
    """Which suggestion it is, and what its author is to be asked; all but some is optional."""

    suggestion_id: str
    required_feedback: list[FeedbackPrompt]


class SuggestionReading(BaseModel):
    """The entry with the text so far."""

    status: DoorStatus
    suggestion: SceneEntry


class FeedbackAnswer(BaseModel):
    """What an author says: one of the choices, or words."""

    type: FeedbackType
    response: Annotated[str, Field(max_length=100_000)] | int


def find_backend(request: Request) -> Call:
    """Let the platform in. A browser's cookie is none: no page may send one along."""
    visit = Visit(request)
    secret = visit.web.settings.storium.secret
    shown = request.query_params.get("token", "")
    if secret and secrets.compare_digest(shown.encode(), secret.encode()):
        return Call(request, PLATFORM)
    if "authorization" not in request.headers:
        raise NotFound("there is nothing at this address")
    try:
        call = find_call(request)
    except Unauthenticated:
        raise NotFound("there is nothing at this address") from None
    need_scope(call.person, "backend")
    return call


def find_reader(request: Request) -> Call:
    """Find out who reads; a browser that nobody has signed in with is sent where one can."""
    try:
        return find_call(request)
    except Unauthenticated:
        if Visit(request).web.provider is None or "authorization" in request.headers:
            raise
    here = f"{request.url.path}?{request.url.query}".removesuffix("?")
    login = f"/account/login?{urlencode({'next': here})}"
    raise HTTPException(303, "sign in first", {"Location": login})


def read_suggestion_id(
    suggestion_id: Annotated[str, Path(max_length=64, description="A UUID.")],
) -> str:
    """Read a UUID in any of its spellings; what is none names nothing."""
    try:
        return UUID(suggestion_id).hex
    except ValueError:
        raise NotFound("there is no such suggestion", "send the id that was given") from None


Backend = Annotated[Call, Depends(find_backend)]
Reader = Annotated[Call, Depends(find_reader)]
SuggestionId = Annotated[str, Depends(read_suggestion_id)]


@router.post("/stories/create", status_code=202)
def create_story(
    call: Backend, response: Response, body: Annotated[dict[str, Any], Field()]
) -> StoryId:
    """Upload a story, whole; the same again is the same, and is tried again if it failed."""
    uploaded = upload_story(call.studio, call.person, body)
    response.headers["Location"] = f"{STORIUM}/stories/{uploaded.id}/status"
    return StoryId(story_id=uploaded.id)


@router.get("/stories/{story_id}/status")
def read_status(call: Backend, story_id: Id) -> StoryReadiness:
    """Say whether the story's machine is ready to write for it."""
    return StoryReadiness(status=story_status(call.studio, call.person, story_id).status)


@router.post("/suggestions/create", status_code=202, response_model_exclude_none=True)
def create_suggestion(call: Backend, response: Response, body: NewSuggestion) -> SuggestionAsked:
    """Ask for an entry; the same again is the same, and is tried again if it failed."""
    asked = ask_for_story(call.studio, call.person, body.story_id, body.context, body.type)
    response.headers["Location"] = f"{STORIUM}/suggestions/{asked.id}"
    prompts = list_prompts(call.web.settings.storium.required)
    return SuggestionAsked(suggestion_id=asked.id, required_feedback=prompts)


@router.get("/suggestions/{suggestion_id}")
def read_suggestion(call: Backend, suggestion_id: SuggestionId) -> SuggestionReading:
    """Give a suggestion; while it is written, with the text so far."""
    read = read_door_suggestion(call.studio, call.person, suggestion_id)
    return SuggestionReading(status=read.status, suggestion=dict(read.entry))


@router.post("/suggestions/{suggestion_id}/feedback")
def take_feedback(
    call: Backend,
    suggestion_id: SuggestionId,
    body: Annotated[list[FeedbackAnswer], Field(max_length=20)],
) -> None:
    """Say what the author thinks of a suggestion that is done, each question once."""
    given = [Feedback(answer.type, str(answer.response)) for answer in body]
    required = call.web.settings.storium.required
    give_feedback(call.studio, call.person, suggestion_id, given, required=required)


@router.post("/suggestions/{suggestion_id}/finalize")
def finish_suggestion(call: Backend, suggestion_id: SuggestionId, body: SceneEntry) -> None:
    """Say what the author has published, once; what was kept of the suggestion is measured."""
    finalize(call.studio, call.person, suggestion_id, body)


@router.get("/dashboard/sentence/histogram")
def read_histogram(
    visit: Anybody,
    model: Annotated[str | None, Query(max_length=200)] = None,
    status: MachineStatus = None,
) -> dict[int, int]:
    """Count the published sentences that come from the first, second, … one of a suggestion."""
    return count_sentences(visit.studio, Filter(machines=(model,) if model else (), status=status))


@router.get(
    "/judgement/contexts",
    response_class=StreamingResponse,
    responses={
        200: {"content": {"text/csv": {}, "text/json": {}}},
        303: {"description": "Sign in first."},
        406: {"model": Problem, "description": "Neither text/csv nor text/json will do."},
    },
)
def read_contexts(
    call: Reader,
    limit: Annotated[int, Query(ge=0, le=1_000_000, description="Of a model; 0: all.")] = 0,
    status: MachineStatus = None,
) -> StreamingResponse:
    """Give what judges need to know of every suggestion that was published.

    As text/csv the texts around each, as text/json whole stories.
    """
    need_scope(call.person, "judgement")
    form = choose_form(call.request.headers.get("accept", "*/*"))
    wanted: dict[str, Any] = {"limit": limit, "status": status}
    spelled = (
        spell_csv(stream_contexts(call.studio, call.person, **wanted))
        if form == "csv"
        else spell_list(stream_stories(call.studio, call.person, **wanted))
    )
    headers = {"Content-Disposition": f'attachment; filename="contexts.{form}"'}
    return StreamingResponse(spelled, media_type=f"text/{form}", headers=headers)


@router.get(
    "/data/download",
    response_class=FileResponse,
    responses={
        200: {"content": {"application/octet-stream": {}}},
        303: {"description": "Sign in first."},
    },
)
def download_data(call: Reader) -> FileResponse:
    """Give the data set of this studio, where there is one."""
    need_scope(call.person, "dataset")
    file = call.web.settings.storium.dataset
    if file is None or not file.is_file():
        raise NotFound("there is no data set here", "set FABULA_STORIUM_DATASET")
    return FileResponse(file, filename=file.name)


def choose_form(accept: str) -> Literal["csv", "json"]:
    """Choose what a client likes best of text/csv and text/json; anything is CSV."""
    likings: dict[Literal["csv", "json"], float] = {}
    for part in accept.split(","):
        kind, *parameters = (word.strip().lower() for word in part.split(";"))
        forms = {"text/csv": "csv", "text/json": "json", "text/*": "csv", "*/*": "csv"}
        form: Any = forms.get(kind)
        weight = next((word[2:] for word in parameters if word.startswith("q=")), "1")
        liking = float(weight) if weight.replace(".", "", 1).isdecimal() else 0.0
        if form is not None and liking > likings.get(form, 0.0):
            likings[form] = liking
    if not likings:
        raise HTTPException(406, "there is text/csv and text/json here, and nothing else")
    return max(likings, key=lambda each: likings[each])


def spell_csv(rows: Iterable[dict[str, str]]) -> Iterator[str]:
    """Spell rows as CSV, one after the other."""
    buffer = io.StringIO()
    table = csv.DictWriter(buffer, COLUMNS)
    table.writeheader()
    for row in rows:
        table.writerow(row)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def spell_list(values: Iterable[Any]) -> Iterator[str]:
    """Spell values as a list of JSON, one after the other."""
    before = "["
    for value in values:
        yield before + json.dumps(value, ensure_ascii=False)
        before = ",\n"
    yield "[]" if before == "[" else "]"
