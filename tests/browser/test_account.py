"""From the first link to an account with a token, out and in again; and a studio without any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabula.studio.database import open_studio
from fabula.studio.links import make_link
from fabula.studio.local import welcome_owner
from fabula.studio.machines import list_machines
from fabula.studio.migrations import migrate
from fabula.studio.people import find_person
from fabula.studio.tokens import find_token
from fabula.web.app import create_app
from fakes.served_studio import PASSWORD, QUICK, ServedStudio, serve_app

if TYPE_CHECKING:
    from browser.conftest import OpenPage

pytestmark = pytest.mark.browser
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def served(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[ServedStudio]:
    """A studio that nobody is in yet; in local mode whose machine it is."""
    settings = getattr(request, "param", QUICK)
    studio = open_studio(f"sqlite:///{tmp_path / 'studio.sqlite'}")
    migrate(studio)
    if settings.is_local:
        welcome_owner(studio, "ida")
    with serve_app(create_app(studio, settings)) as address:
        yield ServedStudio(address, studio)
    studio.close()


@pytest.mark.parametrize("served", [replace(QUICK, sign_up="open")], indirect=True)
@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_from_the_first_link_to_a_token_and_back(
    served: ServedStudio, visit: OpenPage, options: dict
) -> None:
    studio = served.studio
    first = make_link(studio, None, purpose="first")
    page = visit(f"/account/link/{first}", None, **options)
    page.get_by_label("Name").fill("Ida")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Come in").click()
    page.wait_for_url(served.url + "/")
    page.get_by_role("link", name="ida", exact=True).click()

    page.get_by_label("Name as others see it").fill("Ida Lind")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("status").get_by_text("Your profile is changed.").wait_for()
    assert page.locator("h1").inner_text() == "Ida Lind"

    # A token is shown once.
    page.get_by_label("What it is for").fill("notebook")
    page.get_by_label("read the studio’s figures").check()
    page.get_by_role("button", name="Make it").click()
    secret = page.locator("#new-token output")
    secret.wait_for()
    shown = secret.inner_text()
    assert find_token(studio, shown).scopes == {"metrics"}
    assert page.evaluate("document.activeElement.id") == "new-token"
    page.get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").or_(
        page.get_by_role("button", name="Press Ctrl+C")
    ).wait_for()
    page.get_by_role("button", name="Done").click()
    page.get_by_text("never used").or_(page.get_by_text("used ")).first.wait_for()
    assert shown not in page.content()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Revoke notebook").click()
    page.get_by_role("status").get_by_text("The token works no more.").wait_for()
    assert find_token(studio, shown) is None

    with page.expect_download() as download:
        page.get_by_role("link", name="Download it").click()
    assert download.value.suggested_filename == "fabula-ida.json"
    assert json.loads(download.value.path().read_text())["profile"]["name"] == "ida"

    # A wrong password is said in its place, and what was typed stays.
    page.get_by_label("The password of now").fill("not this one")
    page.get_by_label("A new one").fill("a boat without a bottom")
    page.get_by_role("button", name="Change it").click()
    page.get_by_text("the old password is wrong").wait_for()
    page.get_by_label("The password of now").fill(PASSWORD)
    page.get_by_role("button", name="Change it").click()
    page.get_by_role("status").get_by_text("Your password is changed").wait_for()
    assert page.evaluate(WIDE) == 0

    page.get_by_role("link", name="Sign out").click()
    page.wait_for_url(served.url + "/")
    page.goto(f"{served.url}/account")
    page.get_by_label("Name or e-mail").fill("ida")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("name or password is wrong").wait_for()
    assert page.get_by_label("Name or e-mail").input_value() == "ida"
    page.get_by_label("Password").fill("a boat without a bottom")
    page.keyboard.press("Enter")
    page.wait_for_url(served.url + "/account")

    # Somebody else signs up, and is given a role.
    other = visit("/sign-up", None, **options)
    other.get_by_label("Name").fill("ben")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Make my account").click()
    other.wait_for_url(served.url + "/")
    page.goto(f"{served.url}/people?q=ben")
    page.locator(".people summary").click()
    page.locator(".people").get_by_label("researcher").check()
    page.get_by_role("button", name="Change the roles").click()
    page.locator(".people .chip", has_text="researcher").wait_for()
    assert find_person(studio, "ben").roles == {"author", "researcher"}
    page.locator("summary", has_text="Invite somebody").click()
    page.get_by_role("button", name="Make a link", exact=True).click()
    invitation = page.locator("#new-invitation output")
    invitation.wait_for()
    assert invitation.inner_text().startswith(f"{served.url}/account/link/")

    page.goto(f"{served.url}/machines")
    page.get_by_label("Name").fill("lorem")
    page.get_by_label("What it is").fill("lorm")
    page.get_by_role("button", name="Offer it").click()
    page.get_by_role("alert").get_by_text("lorem").wait_for()
    page.get_by_label("What it is").fill("lorem(words=40)")
    page.get_by_role("button", name="Offer it").click()
    page.locator(".card summary").click()
    page.get_by_label("draining").check()
    page.get_by_role("button", name="Save").click()
    page.locator(".chip.draining").wait_for()
    assert [machine.status for machine in list_machines(studio, None)] == ["draining"]
    assert page.evaluate(WIDE) == 0

    # And leaves again, having typed their name.
    other.goto(f"{served.url}/account")
    other.locator("summary", has_text="Delete my account").click()
    other.get_by_label("empty its text").check()
    other.get_by_label("Type your name").fill("somebody")
    other.get_by_role("button", name="Delete me").click()
    other.get_by_role("alert").get_by_text("this is not your name").wait_for()
    other.get_by_label("Type your name").fill("ben")
    other.get_by_role("button", name="Delete me").click()
    other.wait_for_url(served.url + "/")
    other.goto(f"{served.url}/account")
    assert "/sign-in" in other.url


@pytest.mark.parametrize("served", [replace(QUICK, is_local=True)], indirect=True)
def test_on_ones_own_machine_nobody_signs_in(served: ServedStudio, visit: OpenPage) -> None:
    page = visit("/account", None, **PHONE)
    assert page.locator("h1").inner_text() == "ida"
    assert page.get_by_text("asks for no password").is_visible()
    assert page.get_by_role("link", name="Sign out").count() == 0
    page.get_by_label("Name as others see it").fill("Ida Lind")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("status").get_by_text("Your profile is changed.").wait_for()
    page.get_by_role("link", name="Co-authors").click()
    assert page.locator("h1").inner_text() == "Co-authors"
    # A page of another site that leads here opens nothing by itself.
    led = visit("/healthz", None)
    led.goto("about:blank")
    led.set_content(f'<a href="{served.url}/account">a prize</a>')
    led.get_by_role("link").click()
    led.get_by_role("link", name="Open it").wait_for()
    assert led.context.cookies() == []
    led.get_by_role("link", name="Open it").click()
    led.get_by_role("heading", name="Ida Lind").wait_for()
