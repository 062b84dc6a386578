"""A draft of Ann's, in a browser and behind its back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fabula.studio.drafts import Draft, open_draft, read_draft
from fabula.studio.edits import Edit
from fabula.studio.versions import save_draft
from fakes.desk import WRITABLE


@pytest.fixture
def draft(served):
    """An empty draft of Ann's."""
    ids = served.ids
    return open_draft(
        served.studio, served.people["ann"], game_id=ids["game"], scene_id=ids["scene"],
        key="draft", character_id=ids["character"],
    )  # fmt: skip


@pytest.fixture
def read(served, draft) -> Callable[[], Draft]:
    """The draft as the studio has it now."""
    return lambda: read_draft(served.studio, served.people["ann"], draft.id)


@pytest.fixture
def save(served, draft, read) -> Callable[..., Draft]:
    """Saves edits of Ann's from another device."""

    def save_edits(*edits: Edit) -> Draft:
        version = read().version
        return save_draft(
            served.studio, served.people["ann"], draft.id, key=f"other-{version}",
            base_version=version, edits=edits,
        )  # fmt: skip

    return save_edits


@pytest.fixture
def write(visit, draft):
    """Opens the draft, ready to be written."""

    def open_draft_page(**options):
        page = visit(f"/drafts/{draft.id}", **options)
        page.locator(WRITABLE).focus()
        return page

    return open_draft_page
