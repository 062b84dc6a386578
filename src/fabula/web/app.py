"""The studio as an ASGI app: `create_app` puts its parts together."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from multiprocessing.process import BaseProcess
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from fabula.meta.distributions import t_quantile
from fabula.studio.database import Studio, open_studio
from fabula.studio.kept import score_suggestion
from fabula.web import health
from fabula.web.api import ROUTERS as API_ROUTERS
from fabula.web.api.shapes import API
from fabula.web.api.storium import STORIUM
from fabula.web.errors import PROBLEMS, add_error_answers
from fabula.web.health import RequestFigures
from fabula.web.identity import CSRF_HEADER, Web
from fabula.web.local import LocalDoor
from fabula.web.pages import find_routers
from fabula.web.rendering import compile_templates
from fabula.web.security import Gate
from fabula.web.settings import Settings, read_settings

ROUTERS = (*API_ROUTERS, *find_routers(), health.router)
_FOR_ANYBODY = (
    "/healthz",
    "/readyz",
    f"{API}/sign-in",
    f"{API}/links/use",
    f"{API}/rating/enter/{{code}}",
    f"{STORIUM}/dashboard/sentence/histogram",
)
_RATER_PATHS = f"{API}/rating/"
_PLATFORM_PATHS = (f"{STORIUM}/stories/", f"{STORIUM}/suggestions/")
# Answers of STORIUM's door are compressed when they are longer, in bytes.
_PACKED_FROM = 1000
_DESCRIPTION = f"""
Sign in at `{API}/sign-in` and send the cookie, with the header `{CSRF_HEADER}` on whatever changes
something; or send a personal token: `Authorization: Bearer SECRET`. What creates something takes a
`key` of your choice: sent again with the same key, it gives the same thing. Errors are
`{{"message", "remedy"}}`.
"""


def create_app(studio: Studio, settings: Settings | None = None) -> FastAPI:
    """Make the app over an open studio, whose tables are current."""
    settings = settings or Settings()
    figures = RequestFigures()
    app = FastAPI(
        title="Fabula Studio",
        # The API's own: a release of Fabula that changes nothing of it does not show here.
        version="1",
        description=_DESCRIPTION,
        # Their pages load scripts of others; `pages/api_docs.py` is our own.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=_live,
    )
    app.state.web = Web(studio, settings)
    app.state.figures = figures
    add_error_answers(app)
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = cache(lambda: describe_api(app))  # type: ignore[method-assign]
    app.add_middleware(PackedAnswers)
    if settings.is_local:
        app.add_middleware(LocalDoor)
    app.add_middleware(Gate, settings=settings, observer=figures)
    if settings.proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.proxies))
    return app


class PackedAnswers:
    """Compresses answers of STORIUM's door for who can read them so; our own hold secrets beside
    what others may have written, whose length would tell of them."""

    def __init__(self, app: ASGIApp) -> None:
        self._plain, self._packed = app, GZipMiddleware(app, minimum_size=_PACKED_FROM)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. A data set is a file, of which parts may be asked for."""
        path = scope.get("path", "")
        is_packed = path.startswith(f"{STORIUM}/") and not path.startswith(f"{STORIUM}/data/")
        await (self._packed if is_packed else self._plain)(scope, receive, send)


def make_app() -> FastAPI:
    """Make the app as the environment says: what every process of a server calls."""
    if parent := multiprocessing.parent_process():
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return create_app(open_studio(), read_settings())


def _end_with(parent: BaseProcess) -> None:
    """End in good order once the process that started this one is gone, however it went."""
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


@asynccontextmanager
async def _live(app: FastAPI) -> AsyncIterator[None]:
    threading.Thread(target=_warm_up, daemon=True).start()
    yield
    app.state.web.reviews.end()
    app.state.web.studio.close()


def _warm_up() -> None:
    """Load and compile what takes seconds: the first who publishes, or opens the dashboard, need
    not wait for it."""
    score_suggestion("one", "one")
    t_quantile(0.975, 10)
    compile_templates()


def describe_api(app: FastAPI) -> dict[str, Any]:
    """The app's OpenAPI document, with the ways to say who one is."""
    described = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    described["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "fabula-session"},
        "platform": {"type": "apiKey", "in": "query", "name": "token"},
        "rater": {"type": "apiKey", "in": "cookie", "name": "fabula-rater-CAMPAIGN_ID"},
    }
    problems = described["components"]["responses"] = {}
    for path, operations in described["paths"].items():
        for operation in operations.values():
            if path.startswith(_RATER_PATHS) and path not in _FOR_ANYBODY:
                operation["security"] = [{"rater": []}]
            elif path not in _FOR_ANYBODY:
                other = "platform" if path.startswith(_PLATFORM_PATHS) else "session"
                operation["security"] = [{"token": []}, {other: []}]
            # Said once, and not with every operation.
            if not path.startswith((API, STORIUM)):
                continue
            for status in {str(status) for status in PROBLEMS} & operation["responses"].keys():
                problems[status] = operation["responses"][status]
                operation["responses"][status] = {"$ref": f"#/components/responses/{status}"}
    return described
