"""What the studio has found out, for researchers: all of it in one archive, or a campaign's."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Path as PathParameter
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from fabula.studio.campaigns.export import export_campaign
from fabula.studio.campaigns.opening import find_campaign
from fabula.studio.export import export_studio
from fabula.web.api.shapes import make_router
from fabula.web.identity import Somebody

router = make_router("exports")
_ZIP: dict[int | str, dict[str, Any]] = {200: {"content": {"application/zip": {}}}}
Name = Annotated[str, PathParameter(min_length=1, max_length=100, description="Name or identity.")]


@router.get("/export", response_class=FileResponse, responses=_ZIP)
def export(
    call: Somebody, form: Literal["json", "csv"] = "json", excluded: bool = False
) -> FileResponse:
    """Give suggestions, ratings, scores, edits and assignments as files in a ZIP archive.

    People are pseudonyms. `stories.jsonl` and `scores.jsonl` in it are what `fabula meta` reads.
    Games that were excluded are left out unless asked for.
    """

    def write(folder: Path) -> None:
        export_studio(call.studio, call.person, folder, form=form, excluded=excluded)

    return _send_archive("studio", write)


@router.get("/campaigns/{campaign}/export", response_class=FileResponse, responses=_ZIP)
def export_ratings(
    call: Somebody, campaign: Name, form: Literal["csv", "jsonl", "parquet"] = "csv"
) -> FileResponse:
    """Give all work of a campaign, its stories, scores and a study file in a ZIP archive.

    Raters are pseudonyms; what was rejected is in it, marked.
    """
    name = find_campaign(call.studio, call.person, campaign).name

    def write(folder: Path) -> None:
        export_campaign(call.studio, call.person, name, folder, form=form)

    return _send_archive(name, write)


def _send_archive(name: str, write: Callable[[Path], None]) -> FileResponse:
    """Send a folder that is written now, and is gone once it was sent."""
    folder = Path(tempfile.mkdtemp(prefix="fabula-export-"))
    try:
        write(folder / name)
        archive = shutil.make_archive(str(folder / name), "zip", folder / name)
    except BaseException:
        shutil.rmtree(folder)
        raise
    gone = BackgroundTask(shutil.rmtree, folder)
    return FileResponse(
        archive, media_type="application/zip", filename=f"{name}.zip", background=gone
    )
