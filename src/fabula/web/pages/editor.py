"""Where one writes: a draft on the desk."""

from __future__ import annotations

from dataclasses import asdict

from fastapi.encoders import jsonable_encoder
from starlette.responses import HTMLResponse

from fabula.studio.drafts import read_draft
from fabula.studio.versions import read_past
from fabula.web.identity import Id, Reader
from fabula.web.pages import make_page_router, show

router = make_page_router()


@router.get("/drafts/{draft_id}")
def show_editor(call: Reader, draft_id: Id) -> HTMLResponse:
    """Show a draft to be written."""
    draft = read_draft(call.studio, call.person, draft_id)
    past = read_past(call.studio, call.person, draft_id)
    data = {
        "draft": asdict(draft),
        "log": asdict(past),
        "person_id": call.person.id,
    }
    return show(call, "editor.html", data=jsonable_encoder(data))
