"""Suggestions: asked for, read, watched while they are written, cancelled, rated."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from fabula.core.errors import NoCapacity
from fabula.studio.ratings import QUESTIONS, Question, Rating, rate_suggestion, read_ratings
from fabula.studio.suggestions import (
    WANTED,
    Suggestion,
    ask_suggestion,
    cancel_suggestion,
    list_suggestions,
    read_context,
    read_suggestion,
)
from fabula.web.api.shapes import Body, Key, Line, Page, Prose, Seed, Small, Wanted, make_router
from fabula.web.identity import Call, Id, Somebody

router = make_router("suggestions")
# How often the database is asked: soon after something was written, rarely while all wait.
LOOK_EVERY_S, LOOK_AT_LEAST_EVERY_S = 0.15, 0.5
_ALIVE_EVERY_S = 15.0
_WATCH_FOR_S = 900.0
# Of one process: each asks the database again and again.
_MOST_STREAMS = 200


class Asking(Body):
    """What a co-author is to write, where, and how; what is left out, the studio chooses."""

    key: Key
    position: Small | None = None
    wanted: Annotated[str, Field(max_length=64)] = WANTED
    decoding: Annotated[dict[str, float | int | bool], Field(max_length=20)] | None = None
    seed: Seed | None = None
    machine: Line | None = None


class RatingBody(Body):
    """Answers to the questions, from 1 to 5, and words of one's own; some may be left out."""

    ratings: Annotated[dict[Line, Annotated[int, Field(ge=1, le=5)]], Field(max_length=10)] = Field(
        default_factory=dict
    )
    comment: Prose = ""


@router.get("/questions")
def read_questions(call: Somebody) -> list[Question]:
    """List what authors are asked about a suggestion."""
    return list(QUESTIONS.values())


@router.post("/drafts/{draft_id}/suggestions", status_code=202)
def ask(call: Somebody, draft_id: Id, body: Asking) -> Suggestion:
    """Ask a co-author to write on."""
    return ask_suggestion(call.studio, call.person, draft_id, **body.model_dump())


@router.get("/drafts/{draft_id}/suggestions")
def read_all(call: Somebody, draft_id: Id, window: Wanted) -> Page[Suggestion]:
    """List what was suggested in a draft."""
    return window.cut(list_suggestions(call.studio, call.person, draft_id))


@router.get("/suggestions/{suggestion_id}")
def read_one(call: Somebody, suggestion_id: Id) -> Suggestion:
    """Give a suggestion; while it is written, the text so far."""
    return read_suggestion(call.studio, call.person, suggestion_id)


@router.get("/suggestions/{suggestion_id}/context")
def read_seen(call: Somebody, suggestion_id: Id) -> dict[str, Any]:
    """Give what the co-author was to write on from."""
    return dict(read_context(call.studio, call.person, suggestion_id))


@router.post("/suggestions/{suggestion_id}/cancel")
def cancel(call: Somebody, suggestion_id: Id) -> Suggestion:
    """Let a suggestion go no further; what was written stays."""
    return cancel_suggestion(call.studio, call.person, suggestion_id)


@router.get("/suggestions/{suggestion_id}/ratings")
def read_opinions(call: Somebody, suggestion_id: Id) -> list[Rating]:
    """List the ratings of a suggestion."""
    return read_ratings(call.studio, call.person, suggestion_id)


@router.put("/suggestions/{suggestion_id}/ratings")
def rate(call: Somebody, suggestion_id: Id, body: RatingBody) -> list[Rating]:
    """Say what one thinks of a suggestion."""
    given, comment = body.ratings, body.comment
    return rate_suggestion(call.studio, call.person, suggestion_id, given, comment)


@router.get(
    "/suggestions/{suggestion_id}/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def watch(call: Somebody, suggestion_id: Id) -> StreamingResponse:
    """Watch a suggestion being written, by server-sent events.

    `text` adds to what was there, `replace` stands for all of it, and the last event is `status`.
    """
    first = await run_in_threadpool(read_suggestion, call.studio, call.person, suggestion_id)
    if call.web.streams >= _MOST_STREAMS:
        raise NoCapacity("too many suggestions are being watched", "read it now and then instead")
    return StreamingResponse(
        tell_events(call, first),
        media_type="text/event-stream",
        headers={"X-Accel-Buffering": "no"},
    )


async def tell_events(call: Call, suggestion: Suggestion) -> AsyncIterator[str]:
    """Give the events of a suggestion until it has ended, or nobody listens any more."""
    told, spoken_at, pause_s = "", time.monotonic(), LOOK_EVERY_S
    until = spoken_at + _WATCH_FOR_S
    call.web.streams += 1
    try:
        while True:
            if event := _tell_text(told, suggestion.generated):
                told, spoken_at, pause_s = suggestion.generated, time.monotonic(), LOOK_EVERY_S
                yield event
            if suggestion.is_finished or time.monotonic() > until:
                end = {"status": suggestion.status, "problem": suggestion.problem}
                yield _spell_event("status", end)
                return
            if time.monotonic() - spoken_at > _ALIVE_EVERY_S:
                spoken_at = time.monotonic()
                yield ": still at it\n\n"
            await asyncio.sleep(pause_s)
            pause_s = min(1.25 * pause_s, LOOK_AT_LEAST_EVERY_S)
            suggestion = await run_in_threadpool(
                read_suggestion, call.studio, call.person, suggestion.id
            )
    finally:
        call.web.streams -= 1


def _tell_text(told: str, text: str) -> str:
    if text == told:
        return ""
    if text.startswith(told):
        return _spell_event("text", {"text": text[len(told) :]})
    return _spell_event("replace", {"text": text})


def _spell_event(name: str, data: dict[str, str]) -> str:
    # JSON has no line breaks of its own, which would end the event.
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"
