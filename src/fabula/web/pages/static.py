"""Files that pages are made of."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from fabula.web.pages import make_page_router
from fabula.web.rendering import answer_file, spell_static

router = make_page_router()
_FOREVER = "public, max-age=31536000, immutable"


@router.get("/static/{file_name}")
async def send_static(request: Request, file_name: str) -> Response:
    """Send a file; asked for by what it holds, it never has to be asked for again."""
    response = answer_file(file_name)
    version = request.query_params.get("v")
    if version and spell_static(file_name).endswith(f"?v={version}"):
        response.headers["Cache-Control"] = _FOREVER
    if request.headers.get("if-none-match") == response.headers["etag"]:
        told = {name: response.headers[name] for name in ("ETag", "Cache-Control")}
        return Response(status_code=304, headers=told)
    return response
