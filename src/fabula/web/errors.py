"""What is answered when something is wrong: a status, and `{"message", "remedy"}`; to who reads
pages, a page that says the same."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Scope

from fabula.core.bodies import Compressed, TooBig, Unreadable
from fabula.core.errors import Conflict, NoCapacity, NotAllowed, NotFound, UserError
from fabula.studio.database import NO_ANSWER
from fabula.studio.sign_in import Throttled
from fabula.studio.storium_door import WrittenAlready
from fabula.web.limits import TooMany
from fabula.web.rendering import answer_page, fill

LOG = logging.getLogger("fabula.web")
_CAPACITY_WAIT_S = 5
_SENTENCES = {
    404: ("there is nothing at this address", ""),
    405: ("this cannot be done at this address", ""),
}
# What programs ask for; everything else is for people, if their browser says so.
_FOR_PROGRAMS = ("/api/", "/static/", "/healthz", "/readyz", "/metrics")
_TITLES = {
    403: "Not for you to do",
    404: "Nothing here",
    429: "Slowly, please",
    500: "Something went wrong",
    503: "Not now",
}


class Unauthenticated(UserError):
    """Nobody has said who they are."""


class Problem(BaseModel):
    """What is wrong, and what to do."""

    message: str
    remedy: str = ""
    id: str | None = Field(default=None, description="Stands in the log beside the cause.")


_DESCRIPTIONS = {
    400: "The request cannot be read.",
    401: "Nobody is signed in.",
    403: "This person may not do this.",
    404: "There is no such thing, or not for these eyes.",
    409: "Somebody else was first.",
    413: "The body is too long.",
    415: "The body is compressed where it may not be.",
    422: "A field will not do.",
    429: "Too many requests.",
    503: "Nobody can do this now.",
}
# What any request of the API may be answered with.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": sentence}
    for status, sentence in _DESCRIPTIONS.items()
}
STATUSES: dict[type[UserError], int] = {
    Unauthenticated: 401,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    TooBig: 413,
    Compressed: 415,
    Unreadable: 400,
    WrittenAlready: 400,
    TooMany: 429,
    Throttled: 429,
    NoCapacity: 503,
}


def find_status(error: UserError) -> int:
    """The status of an error; what a user can mend otherwise is 422."""
    return next((code for kind, code in STATUSES.items() if isinstance(error, kind)), 422)


def answer_problem(
    status: int,
    message: str,
    remedy: str = "",
    *,
    id: str | None = None,
    headers: Mapping[str, str] | None = None,
    scope: Scope | None = None,
) -> Response:
    """Make the answer to what is wrong; for a browser that asks for a page (`scope`) it is one."""
    if scope is not None and wants_page(scope):
        title = _TITLES.get(status, "That did not work")
        values = {"title": title, "message": message, "remedy": remedy, "id": id}
        answer = answer_page(fill("error.html", values), status)
        answer.headers.update(headers or {})
        return answer
    problem = Problem(message=message, remedy=remedy, id=id)
    return JSONResponse(problem.model_dump(exclude_none=True), status, headers)


def answer_error(error: UserError, scope: Scope | None = None) -> Response:
    """Make the answer to an error of ours. Who has to sign in to see a page is sent to do so."""
    headers = {}
    if wait_s := measure_wait(error):
        headers["Retry-After"] = str(wait_s)
    if isinstance(error, Unauthenticated):
        if scope is not None and scope["method"] == "GET" and wants_page(scope):
            return RedirectResponse(f"/sign-in?next={quote(_spell_target(scope))}", 303)
        headers["WWW-Authenticate"] = 'Bearer realm="fabula"'
    return answer_problem(
        find_status(error), error.problem, error.remedy, headers=headers, scope=scope
    )


def measure_wait(error: UserError) -> int:
    """How many seconds later it may do; 0 where waiting does not help."""
    if isinstance(error, TooMany | Throttled):
        return max(1, math.ceil(error.wait_s))
    return _CAPACITY_WAIT_S if isinstance(error, NoCapacity) else 0


def wants_page(scope: Scope) -> bool:
    """Whether a browser asks for a page, and not a program or a script for data."""
    is_page = not scope["path"].startswith(_FOR_PROGRAMS)
    return is_page and "text/html" in Headers(scope=scope).get("accept", "")


def _spell_target(scope: Scope) -> str:
    query = scope.get("query_string", b"").decode("latin-1")
    return f"{scope['path']}?{query}" if query else str(scope["path"])


def describe_invalid(error: RequestValidationError) -> str:
    """Name the first fields that will not do; what was sent is not repeated."""
    words = []
    for problem in error.errors()[:3]:
        place = ".".join(str(part) for part in problem["loc"])
        words.append(f"{place}: {problem['msg']}")
    return "; ".join(words) or "the request cannot be read"


def add_error_answers(app: FastAPI) -> None:
    """Let an app answer errors so."""

    @app.exception_handler(UserError)
    async def answer_user_error(request: Request, error: UserError) -> Response:
        return answer_error(error, request.scope)

    @app.exception_handler(RequestValidationError)
    async def answer_invalid(request: Request, error: RequestValidationError) -> Response:
        # An identity that cannot be one names nothing.
        if all(problem["loc"][:1] == ("path",) for problem in error.errors()):
            return answer_problem(404, *_SENTENCES[404], scope=request.scope)
        remedy = "send what the API's description says"
        return answer_problem(422, describe_invalid(error), remedy, scope=request.scope)

    async def answer_silence(request: Request, error: Exception) -> Response:
        LOG.error("request %s: %s", request.state.request_id, error)
        wait = NoCapacity("the database does not answer", "try again soon")
        return answer_error(wait, request.scope)

    for kind in NO_ANSWER:
        app.add_exception_handler(kind, answer_silence)

    @app.exception_handler(HTTPException)
    async def answer_http(request: Request, error: HTTPException) -> Response:
        message, remedy = _SENTENCES.get(error.status_code, (str(error.detail), ""))
        return answer_problem(
            error.status_code, message, remedy, headers=error.headers, scope=request.scope
        )
