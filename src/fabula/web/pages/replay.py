"""How a draft came to be, as a film: the log is sent once, and the page goes through it."""

from __future__ import annotations

from starlette.responses import Response

from fabula.core.table import json_text
from fabula.studio.film import read_film, read_place
from fabula.studio.versions import list_versions
from fabula.web.identity import Id, Reader
from fabula.web.pages import make_page_router, show

router = make_page_router()


@router.get("/drafts/{draft_id}/replay")
def show_replay(call: Reader, draft_id: Id) -> Response:
    """Show the film of a draft."""
    return show(call, "replay.html", place=read_place(call.studio, call.person, draft_id))


@router.get("/drafts/{draft_id}/replay/film")
def send_film(call: Reader, draft_id: Id) -> Response:
    """Send what the film is made of; a hundred thousand edits are two megabytes."""
    film = read_film(call.studio, call.person, draft_id)
    versions = list_versions(call.studio, call.person, draft_id)
    named = [[version.number, version.name] for version in versions if version.name]
    began_at = film.began_at.isoformat() if film.began_at else None
    columns = vars(film) | {"began_at": began_at, "names": named}
    return Response(json_text(columns), media_type="application/json")
