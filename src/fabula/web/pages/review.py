"""The review page: a story is pasted, brought as a file or picked, and read part by part.

Nothing of it is kept here: the reader's process forgets it, and what is saved the browser saves.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, StreamingResponse

from fabula.core.errors import InputError, NotFound
from fabula.core.story import Story
from fabula.datasets import load_dataset
from fabula.datasets.tables.uploads import read_upload
from fabula.studio.drafts import read_draft
from fabula.studio.tables import new_id
from fabula.studio.versions import read_version
from fabula.web.api.shapes import Body, Line, Prose
from fabula.web.errors import Unauthenticated
from fabula.web.identity import Call, Passer, StrictRoute, Visit, find_call
from fabula.web.pages import show
from fabula.web.review_reader import Event, ReadingOrder

router = APIRouter(include_in_schema=False, route_class=StrictRoute)
# A novel takes minutes, and its review says no more than that of a chapter.
MOST_CHARACTERS = 100_000
MOST_PROMPT_CHARACTERS = 10_000
_UNNAMED = "Your story"
_WRITERS = {"human": "", "loop": " (repeats itself)", "scatter": " (incoherent)",
            "stray": " (off the prompt)"}  # fmt: skip

Identity = Annotated[str | None, Query(pattern="^[0-9a-f]{32}$")]
Number = Annotated[int | None, Query(ge=0, le=2**31 - 1)]


def find_reviewer(request: Request) -> Visit:
    """Find out who asks for a review: somebody, or anybody where the studio is open to strangers.
    A browser that is signed in has to show that the page was ours."""
    try:
        return find_call(request)
    except Unauthenticated:
        if not (visit := Visit(request)).web.settings.review.is_open:
            raise
        return visit


Reviewer = Annotated[Visit, Depends(find_reviewer)]


class DraftBody(Body):
    """A text, what it is called, and the prompt that it answers."""

    text: Prose
    title: Line = ""
    prompt: Prose = ""


class ReviewBody(Body):
    """A story, or two drafts of one, the older first."""

    drafts: Annotated[list[DraftBody], Field(min_length=1, max_length=2)]


class StoryAnswer(BaseModel):
    """A story for the page's form."""

    title: str
    text: str
    prompt: str = ""


@router.get("/review")
def show_review(
    visit: Passer,
    draft: Identity = None,
    version: Number = None,
    other: Annotated[Number, Query(alias="with")] = None,
) -> HTMLResponse:
    """Show the form; with a draft of the studio it is filled, and read at once."""
    if not isinstance(visit, Call) and not visit.web.settings.review.is_open:
        raise Unauthenticated("nobody is signed in", "sign in")
    drafts = _find_drafts(visit, draft, [version, other]) if draft else []
    return show(
        visit,
        "review.html",
        drafts=drafts,
        draft_id=draft,
        examples=_list_examples(),
        most_characters=MOST_CHARACTERS,
        most_bytes=visit.web.settings.max_body,
        can_write=isinstance(visit, Call) and visit.person.may("author"),
    )


def _find_drafts(visit: Visit, draft_id: str, numbers: list[int | None]) -> list[StoryAnswer]:
    """Find the versions of a draft that are to be read, with the rights of who asks."""
    if not isinstance(visit, Call):
        raise Unauthenticated("nobody is signed in", "sign in")
    wanted = [number for number in numbers if number is not None]
    if not wanted:
        text = read_draft(visit.studio, visit.person, draft_id).text
        return [StoryAnswer(title="The draft as it is", text=text)]
    return [
        StoryAnswer(
            title=f"Version {number}",
            text=read_version(visit.studio, visit.person, draft_id, number).text,
        )
        for number in wanted
    ]


@cache
def _load_examples() -> dict[str, Story]:
    return {story.id: story for story in load_dataset("examples").stories}


def _list_examples() -> dict[str, list[tuple[str, str]]]:
    """Names and titles of the example stories, by what they are told of."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for story in _load_examples().values():
        topic = _spell_topic(story)
        groups.setdefault(topic, []).append(
            (story.id, topic + _WRITERS.get(story.system or "", ""))
        )
    return groups


def _spell_topic(story: Story) -> str:
    return (story.item or story.id).replace("-", " ").capitalize()


@router.get("/review/examples/{example}")
def read_example(visit: Reviewer, example: Annotated[str, Path(max_length=100)]) -> StoryAnswer:
    """Give an example story."""
    story = _load_examples().get(example)
    if story is None:
        raise NotFound("there is no such example", "choose one of the list")
    title = _spell_topic(story) + _WRITERS.get(story.system or "", "")
    return StoryAnswer(title=title, text=story.text, prompt=story.prompt or "")


@router.post("/review/file")
async def read_file(
    visit: Reviewer, request: Request, name: Annotated[str, Query(max_length=1000)]
) -> StoryAnswer:
    """Read the story of a file, which is the body as it is; nothing of it is written anywhere."""
    visit.web.review_rate.take(_spell_who(visit))
    data, most = await request.body(), visit.web.settings.max_inflated
    text = await run_in_threadpool(read_upload, name, data, most_bytes=most)
    _check_length(text, MOST_CHARACTERS, "the file's story")
    return StoryAnswer(title=name.replace("\\", "/").rpartition("/")[2][:200], text=text)


@router.post("/review/read")
async def review(visit: Reviewer, body: ReviewBody) -> StreamingResponse:
    """Read a story, or two drafts, and give the parts of the page as they are made: a JSON object
    a line, the last of which is `done` or `problem`."""
    visit.web.review_rate.take(_spell_who(visit))
    settings = visit.web.settings.review
    stories = tuple(_make_story(draft) for draft in body.drafts)
    order = ReadingOrder(new_id(), stories, settings.weights, settings.order)
    events = await visit.web.reviews.read(_spell_who(visit), order)
    return StreamingResponse(
        _spell_lines(events),
        media_type="application/x-ndjson",
        headers={"X-Accel-Buffering": "no"},
    )


def _make_story(draft: DraftBody) -> Story:
    text = draft.text.replace("\r\n", "\n").strip("\n")
    if not text.strip():
        raise InputError("there is no text to read", "paste a story, choose a file or an example")
    _check_length(text, MOST_CHARACTERS, "the story")
    _check_length(draft.prompt, MOST_PROMPT_CHARACTERS, "the prompt")
    return Story(draft.title.strip() or _UNNAMED, text, prompt=draft.prompt.strip() or None)


def _check_length(text: str, most: int, what: str) -> None:
    if len(text) > most:
        raise InputError(
            f"{what} has {len(text):,} characters, and {most:,} are read",
            "give a part of it: a chapter, or a scene",
        )


def _spell_who(visit: Visit) -> str:
    """Whose turn it is: a person's, or a stranger's address."""
    return visit.person.id if isinstance(visit, Call) else f"address {visit.address}"


async def _spell_lines(events: AsyncIterator[Event]) -> AsyncIterator[str]:
    async for event in events:
        yield _spell_line(event)


def _spell_line(event: dict[str, Any]) -> str:
    return json.dumps(event, ensure_ascii=False) + "\n"
