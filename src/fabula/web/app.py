"""The studio as an ASGI app: `create_app` puts its parts together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from fabula._version import __version__
from fabula.studio.database import Studio, open_studio
from fabula.web import front, health
from fabula.web.api import ROUTERS
from fabula.web.errors import Problem, add_error_answers
from fabula.web.health import RequestFigures
from fabula.web.identity import CSRF_HEADER, StrictRoute, Web
from fabula.web.security import Gate
from fabula.web.settings import Settings, read_settings

API = "/api/v1"
_FOR_ANYBODY = ("/healthz", "/readyz", f"{API}/sign-in", f"{API}/links/use")
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
        version=__version__,
        description=_DESCRIPTION,
        # Their pages load scripts of others; `front` has one of our own.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=_close_at_end,
        generate_unique_id_function=_name_operation,
        responses=_describe_problems(),
    )
    app.state.web = Web(studio, settings)
    app.state.figures = figures
    app.router.route_class = StrictRoute
    add_error_answers(app)
    app.include_router(front.router)
    app.include_router(health.router)
    api = APIRouter(prefix=API, route_class=StrictRoute)
    for router in ROUTERS:
        api.include_router(router)
    app.include_router(api)
    app.openapi = cache(lambda: describe_api(app))  # type: ignore[method-assign]
    app.add_middleware(Gate, settings=settings, observer=figures)
    if settings.proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(settings.proxies))
    return app


def make_app() -> FastAPI:
    """Make the app as the environment says: what every process of a server calls."""
    return create_app(open_studio(), read_settings())


@asynccontextmanager
async def _close_at_end(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.web.studio.close()


def _name_operation(route: APIRoute) -> str:
    """Call an operation as its function is called, in its module."""
    return f"{route.endpoint.__module__.rpartition('.')[2]}.{route.endpoint.__name__}"


def _describe_problems() -> dict[int | str, dict[str, Any]]:
    """What any request may be answered with."""
    problems = {
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
    return {
        status: {"model": Problem, "description": sentence} for status, sentence in problems.items()
    }


def describe_api(app: FastAPI) -> dict[str, Any]:
    """The app's OpenAPI document, with the two ways to say who one is."""
    described = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    described["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "fabula-session"},
    }
    for path, operations in described["paths"].items():
        for operation in operations.values():
            if path not in _FOR_ANYBODY:
                operation["security"] = [{"token": []}, {"session": []}]
    return described
