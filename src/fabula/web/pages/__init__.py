"""The studio's pages, one a file: fetch, authorise, and fill a template.

A page reads; what changes something goes through the API, by the scripts of the page. A module
with a `router` is a page: no list is to be edited.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from fastapi import APIRouter
from starlette.responses import HTMLResponse

from fabula.web.identity import Call, Visit
from fabula.web.rendering import answer_page, fill


def make_page_router() -> APIRouter:
    """Make the router of a page; the API's description does not speak of it."""
    return APIRouter(include_in_schema=False)


def show(visit: Visit, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Fill a template for who asks, and answer with it.

    Every template has `person` (None for a stranger), `csrf`, `path`, `is_local`, and which of
    the pages that not everybody may see are for them.
    """
    call = visit if isinstance(visit, Call) else None
    shared = {
        "person": call.person if call else None,
        "csrf": call.session.csrf if call and call.session else "",
        "path": visit.request.url.path,
        "is_local": visit.web.settings.is_local,
        "may_see_figures": call is not None and _may_see_figures(call),
        "may_review": call is not None or visit.web.settings.review.is_open,
    }
    return answer_page(fill(template, {**shared, **values}), status)


def _may_see_figures(call: Call) -> bool:
    person = call.person
    may_read = person.may("author", "researcher") or "user_edits" in person.scopes
    return may_read or call.web.settings.public_dashboard


def find_routers() -> tuple[APIRouter, ...]:
    """Find the routers of all pages."""
    names = sorted(found.name for found in iter_modules(__path__) if found.name[0] != "_")
    return tuple(import_module(f"{__name__}.{name}").router for name in names)
