"""Any co-author as a server of STORIUM's model protocol (ASGI).

`POST /story/snapshot` takes a story, `POST /figment/{story_id}/new` goes on with an entry of it by
the range of its header. Nobody signs in: who can reach the address may ask, so it listens on this
machine unless told otherwise, and pages of other sites are turned away.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

from fabula.authors.context.ranges import count_units, parse_wanted
from fabula.authors.serving.batches import BatchWriter, WritingFailed
from fabula.core.author import Decoding, Request, Wanted
from fabula.core.bodies import Compressed, TooBig, Unreadable, collect_body, inflate, read_json
from fabula.core.errors import (
    InputError,
    NoCapacity,
    NotAllowed,
    NotFound,
    PackageMissing,
    UserError,
)
from fabula.text.context.segments import storium_context

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request as HttpRequest
    from starlette.responses import Response

MIB = 1024 * 1024
SUGGESTION_TYPE = "scene_entry"
_LONGEST_ID = 200
# The co-author ends a text that takes too long; should it not, whoever asked is told soon after.
_GRACE_S = 5.0


class RangeRefused(UserError):
    """A range that cannot be written."""


_STATUSES: dict[type[UserError], int] = {
    NotAllowed: 403,
    NotFound: 404,
    WritingFailed: 406,
    TooBig: 413,
    Compressed: 415,
    RangeRefused: 416,
    InputError: 422,
    Unreadable: 400,
    NoCapacity: 503,
}


@dataclass(frozen=True)
class ServingSettings:
    """Bounds, the seed of all texts, and whether quirks of STORIUM's platform are kept."""

    compat: bool = False
    seed: int = 0
    max_body: int = 8 * MIB
    max_inflated: int = 32 * MIB
    body_within_s: float = 30.0
    stories: int = 1024
    stories_bytes: int = 512 * MIB


class Snapshots:
    """Stories by their id, those that were used last, bounded in number and in bytes."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._stories: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def put(self, name: str, story: dict[str, Any]) -> None:
        """Keep a story; one of the same id gives way."""
        packed = json.dumps(story).encode()
        with self._lock:
            self._size += len(packed) - len(self._stories.pop(name, b""))
            self._stories[name] = packed
            while len(self._stories) > self._most or self._size > self._most_bytes:
                self._size -= len(self._stories.popitem(last=False)[1])

    def get(self, name: str) -> dict[str, Any]:
        """Give a story; one that is not kept any more has to be sent again."""
        with self._lock:
            if name not in self._stories:
                raise NotFound("this story is not known here", "send its snapshot")
            self._stories.move_to_end(name)
            packed = self._stories[name]
        story: dict[str, Any] = json.loads(packed)
        return story


def create_app(writer: BatchWriter, settings: ServingSettings | None = None) -> Starlette:
    """Make the app over a co-author that has been started; it ends with the app."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ImportError:
        raise PackageMissing("fastapi", "web") from None
    doors = _Doors(writer, settings or ServingSettings())

    @asynccontextmanager
    async def live(app: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(writer.close)

    routes = [
        Route("/story/snapshot", doors.guard(doors.take_story), methods=["POST"]),
        Route("/figment/{story_id}/new", doors.guard(doors.write), methods=["POST"]),
        Route("/healthz", doors.guard(doors.tell_health), methods=["GET"]),
    ]
    return Starlette(routes=routes, lifespan=live)


def listen(app: Starlette, host: str, port: int, *, announce: Callable[[], None]) -> None:
    """Answer until Ctrl-C or SIGTERM; texts that were asked for are written to their end.

    `announce` is called when the first request can be answered.
    """
    import signal

    import uvicorn

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                announce()

    # The command line ends a process soon after Ctrl-C; here requests are answered first.
    signal.set_wakeup_fd(-1)
    config = uvicorn.Config(
        app, host=host, port=port, log_level="warning", access_log=False, server_header=False
    )
    Announcing(config).run()


class _Doors:
    """What is done with a request, by its address."""

    def __init__(self, writer: BatchWriter, settings: ServingSettings) -> None:
        self.writer, self.settings = writer, settings
        self.snapshots = Snapshots(settings.stories, settings.stories_bytes)

    def guard(
        self, act: Callable[[HttpRequest], Awaitable[Response]]
    ) -> Callable[[HttpRequest], Awaitable[Response]]:
        """Answer what is wrong with its status, and `{"message", "remedy"}`."""

        async def answer(request: HttpRequest) -> Response:
            try:
                # Browsers say where a page comes from, and nobody browses here.
                if "origin" in request.headers:
                    raise NotAllowed("pages of other sites may not ask", "use a program")
                return await act(request)
            except UserError as error:
                status = next(
                    (code for kind, code in _STATUSES.items() if isinstance(error, kind)), 422
                )
                told = {"message": error.problem, "remedy": error.remedy}
                return _answer_json(told, status)

        return answer

    async def tell_health(self, request: HttpRequest) -> Response:
        """Say that it is there, and who writes."""
        return _answer_json({"status": "ok", "author": self.writer.author.signature}, 200)

    async def take_story(self, request: HttpRequest) -> Response:
        """Keep a story and have the co-author get ready for it."""
        body = await self._read_object(request)
        name, story = body.get("story_id"), body.get("story")
        if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_ID:
            raise InputError("story_id is no name of a story", f"give 1 to {_LONGEST_ID} letters")
        if not isinstance(story, dict):
            raise InputError("story is no object", "give the story as STORIUM's JSON")
        compat = self.settings.compat
        context = await asyncio.to_thread(storium_context, story, {}, story=name, compat=compat)
        await self._wait(request, self.writer.preprocess(context))
        await asyncio.to_thread(self.snapshots.put, name, story)
        return _answer_json({}, 200)

    async def write(self, request: HttpRequest) -> Response:
        """Go on with an entry of a story that is known."""
        if request.query_params.get("suggestion_type", SUGGESTION_TYPE) != SUGGESTION_TYPE:
            raise InputError("this type of suggestion is not written here", SUGGESTION_TYPE)
        name = request.path_params["story_id"]
        story = await asyncio.to_thread(self.snapshots.get, name)
        entry = await self._read_object(request)
        text = entry.get("description")
        text = "" if text is None else text
        if not isinstance(text, str):
            raise InputError("description is no text", "give the text so far, or null")
        wanted = _read_range(request.headers.get("range"), text)
        compat = self.settings.compat
        context = await asyncio.to_thread(storium_context, story, entry, story=name, compat=compat)
        decoding = Decoding(compat=compat)
        asked = Request(name, context, wanted, decoding, self.settings.seed)
        fresh = await self._wait(request, self.writer.write(asked))
        if compat and not fresh:
            raise WritingFailed("the co-author wrote nothing")
        status = find_status(wanted, text, fresh, compat=compat)
        return _answer_json(entry | {"description": text + fresh}, status)

    async def _read_object(self, request: HttpRequest) -> dict[str, Any]:
        """Read the body: an object of JSON, perhaps compressed, of bounded size."""
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if encoding.removeprefix("x-") not in ("identity", "gzip", "deflate"):
            raise Compressed("this compression is not known", "send gzip, deflate or none")
        length = request.headers.get("content-length", "")
        try:
            async with asyncio.timeout(self.settings.body_within_s):
                data = await collect_body(request.receive, self.settings.max_body, length)
        except TimeoutError:
            raise Unreadable("the body did not come in time", "send it again") from None
        if encoding != "identity":
            most = self.settings.max_inflated
            data = await asyncio.to_thread(inflate, data, encoding.removeprefix("x-"), most)
        value = await asyncio.to_thread(read_json, data)
        if not isinstance(value, dict):
            raise InputError("the body is no object", "send an object of JSON")
        return value

    async def _wait(self, request: HttpRequest, future: Future[str]) -> str:
        """Wait for the co-author; who goes away meanwhile cancels what they asked for."""
        limit_s = self.writer.settings.timeout_s + _GRACE_S
        text = asyncio.ensure_future(asyncio.wrap_future(future))
        # The body has been read: what comes now is that the connection has ended.
        gone = asyncio.ensure_future(request.receive())
        either: set[asyncio.Future[Any]] = {text, gone}
        await asyncio.wait(either, timeout=limit_s, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if text.done():
            return text.result()
        text.cancel()
        raise WritingFailed(f"nothing was written within {limit_s:g} s")


def find_status(wanted: Wanted, text: str, fresh: str, *, compat: bool = False) -> int:
    """200 where the text is complete, 206 where more may be asked for.

    A range with both ends is complete when the co-author is done with it, and so is a text to which
    it adds nothing. `compat`: only one that has more units than such a range, so that `words=-50`
    is always answered with 206.
    """
    has_both = wanted.start is not None and wanted.stop is not None
    if compat:
        length = count_units(text + fresh, wanted.unit, keep_fragments=False)
        return 200 if has_both and length > (wanted.stop or 0) + 1 else 206
    return 200 if has_both or not fresh else 206


def _read_range(header: str | None, text: str) -> Wanted:
    """Read the one range there may be: with an end, and beginning where the text ends."""
    if header is None:
        raise RangeRefused("the header Range is missing", "send Range: words=-50")
    try:
        wanted = parse_wanted(header)
    except InputError as error:
        raise RangeRefused(error.problem, error.remedy) from None
    if wanted.stop is None and wanted.count is None:
        raise RangeRefused(f"the range {header!r} has no end", "give one: words=0-249")
    length = count_units(text, wanted.unit, keep_fragments=False)
    if wanted.start not in (None, length):
        raise RangeRefused(
            f"the range {header!r} does not begin where the text ends", f"begin it with {length}"
        )
    return wanted


def _answer_json(value: dict[str, Any], status: int) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse(value, status)
