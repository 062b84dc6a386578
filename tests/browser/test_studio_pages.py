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
    page.route("**/static/forms.js*", lambda route: held.append(route))
    page.goto(served.url, wait_until="commit")
    page.get_by_role("button", name="Start a story").click()
    page.wait_for_timeout(200)
    assert page.url.rstrip("/") == served.url
    page.unroute("**/static/forms.js*")
    held[0].continue_()
    page.wait_for_url("**/drafts/*")
