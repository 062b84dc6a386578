"""What all pages of the studio have."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_what_is_not_there_is_said_on_a_page(visit):
    page = visit("/nothing-here")
    assert page.locator("h1").inner_text() == "Nothing here"
    assert page.get_by_role("link", name="Back to the library").is_visible()


def test_a_form_that_is_sent_before_its_script_is_there_waits_for_it(visit, served):
    page = visit("/sign-in", who=None)
    page.context.add_cookies([served.cookie("ann")])
    held = []

    def hold_the_first(route):
        held.append(route)
        if len(held) > 1:
            route.continue_()

    page.route("**/static/forms.js*", hold_the_first)
    page.goto(served.url, wait_until="commit")
    page.get_by_role("button", name="Start a story").click()
    page.wait_for_timeout(200)
    assert page.url.rstrip("/") == served.url
    held[0].continue_()
    page.wait_for_url("**/drafts/*")
