"""Drafts of Ann's in a studio that answers, and the editor's page in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fabula.studio.drafts import open_draft, read_draft
from fabula.studio.edits import Edit
from fabula.studio.versions import save_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from fakes.served_studio import ServedStudio

BEGINNING = "The lamp went out."
# Machines that test are busy.
WAIT_MS = 20_000


def begin(served: ServedStudio, text: str = BEGINNING, key: str = "d", **other: Any) -> str:
    """A draft of Ann's with something in it."""
    ann, ids = served.people["ann"], served.ids
    place = {"game_id": ids["game"], "scene_id": ids["scene"]}
    given = {"character_id": ids["character"]} | other
    draft = open_draft(served.studio, ann, key=key, **place, **given)
    if text:
        edits = [Edit(0, 0, text)]
        save_draft(served.studio, ann, draft.id, key=key, base_version=0, edits=edits)
    return draft.id


def text_of(served: ServedStudio, draft_id: str) -> str:
    """What the studio holds of a draft."""
    return read_draft(served.studio, served.people["ann"], draft_id).text


def sheet(page: Page) -> Locator:
    """Where one writes."""
    return page.locator("#desk .desk-text")


def focus_sheet(page: Page) -> None:
    """Go to the sheet as a mouse or a finger does: the cursor is where it was a moment later."""
    sheet(page).focus()
    page.evaluate("() => new Promise((resolve) => setTimeout(resolve, 50))")


def open_draft_page(visit: Callable[..., Page], draft_id: str, **options: Any) -> Page:
    """Open a draft as Ann, until she can write."""
    from playwright.sync_api import expect

    page = visit(f"/drafts/{draft_id}", **options)
    expect(sheet(page)).to_be_focused()
    return page
