"""What the studio has found out, for researchers: all of it in one archive."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Literal

from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from fabula.studio.export import export_studio
from fabula.web.api.shapes import make_router
from fabula.web.identity import Somebody

router = make_router("exports")


@router.get(
    "/export",
    response_class=FileResponse,
    responses={200: {"content": {"application/zip": {}}}},
)
def export(
    call: Somebody, form: Literal["json", "csv"] = "json", excluded: bool = False
) -> FileResponse:
    """Give suggestions, ratings, scores, edits and assignments as files in a ZIP archive.

    People are pseudonyms. `stories.jsonl` and `scores.jsonl` in it are what `fabula meta` reads.
    Games that were excluded are left out unless asked for.
    """
    folder = Path(tempfile.mkdtemp(prefix="fabula-export-"))
    try:
        export_studio(call.studio, call.person, folder / "studio", form=form, excluded=excluded)
        archive = shutil.make_archive(str(folder / "studio"), "zip", folder / "studio")
    except BaseException:
        shutil.rmtree(folder)
        raise
    gone = BackgroundTask(shutil.rmtree, folder)
    return FileResponse(
        archive, media_type="application/zip", filename="studio.zip", background=gone
    )
