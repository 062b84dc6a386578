"""What all pages of the studio have."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_what_is_not_there_is_said_on_a_page(visit):
    page = visit("/nothing-here")
    assert page.locator("h1").inner_text() == "Nothing here"
    assert page.get_by_role("link", name="Back to the library").is_visible()
