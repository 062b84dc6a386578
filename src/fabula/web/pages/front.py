"""The front page."""

from __future__ import annotations

from starlette.responses import Response

from fabula.web.identity import Passer
from fabula.web.pages import make_page_router, show

router = make_page_router()


@router.get("/")
def show_front(visit: Passer) -> Response:
    """Say what this is, and where to go on."""
    return show(visit, "front.html")
