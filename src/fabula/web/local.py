"""The door of a studio on one's own machine (`fabula serve --local`): no page asks who it is.

Whoever opens a page there is given a session of the one person it belongs to. The gate has seen
to it that they are on this machine and call it by its own name; here a browser that was led in by
another site's page is told apart: it gets no session before its user opens the studio themselves.
"""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fabula.studio.local import open_own_session
from fabula.web.errors import wants_page
from fabula.web.identity import Visit, find_session_of

# What a browser says of a page that its user opened by an address, a bookmark, or from here.
_OWN_SITES = ("none", "same-origin")


class LocalDoor:
    """Gives a session to who opens a page and has none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not _is_opened_here(scope):
            await self._app(scope, receive, send)
            return
        visit = Visit(Request(scope))
        if await run_in_threadpool(find_session_of, visit):
            await self._app(scope, receive, send)
            return
        session = await run_in_threadpool(open_own_session, visit.studio)
        given = Response()
        visit.begin_session(given, session)
        cookie = (b"set-cookie", given.headers["set-cookie"].encode("latin-1"))

        async def send_with_cookie(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), cookie]
            await send(message)

        await self._app(_show_cookie(scope, visit, session.secret), receive, send_with_cookie)


def _is_opened_here(scope: Scope) -> bool:
    site = Headers(scope=scope).get("sec-fetch-site", "none")
    return scope["method"] == "GET" and wants_page(scope) and site in _OWN_SITES


def _show_cookie(scope: Scope, visit: Visit, secret: str) -> Scope:
    """The request as the browser will send it from now on."""
    others = [pair for pair in scope["headers"] if pair[0] != b"cookie"]
    cookie = (b"cookie", f"{visit.name_cookie()}={secret}".encode())
    return {**scope, "headers": [*others, cookie]}
