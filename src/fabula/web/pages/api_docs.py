"""What the API can do, on a page of our own: others' pages load scripts of others."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from fabula.web.identity import Passer
from fabula.web.pages import make_page_router, show

router = make_page_router()


@router.get("/api/docs")
def show_api(visit: Passer) -> Response:
    """List what the API can do."""
    described: dict[str, Any] = visit.request.app.openapi()
    operations = [
        (method.upper(), path, operation.get("description", "").partition(".")[0])
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]
    words = described["info"]["description"]
    return show(visit, "api_docs.html", words=words, operations=operations)
