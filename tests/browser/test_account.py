"""From the first link to an account with a token, out and in again; and a studio without any."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabula.studio.database import open_studio
from fabula.studio.links import find_link, make_link, use_link
from fabula.studio.local import welcome_owner
from fabula.studio.machines import list_machines
from fabula.studio.migrations import migrate
from fabula.studio.people import find_person
from fabula.studio.tokens import find_token
from fabula.web.app import create_app
from fakes.served_studio import PASSWORD, QUICK, ServedStudio, serve_app

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from fabula.studio.database import Studio

pytestmark = pytest.mark.browser
OTHER_PASSWORD = "a boat without a bottom"
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


def come_by_the_first_link(page: Page) -> None:
    page.get_by_label("Name").fill("Ida")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Come in").click()
    page.get_by_role("link", name="ida", exact=True).click()
    page.get_by_label("Name as others see it").fill("Ida Lind")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("status").get_by_text("Your profile is changed.").wait_for()
    assert page.locator("h1").inner_text() == "Ida Lind"


def make_and_revoke_a_token(page: Page, studio: Studio) -> None:
    page.get_by_label("What it is for").fill("notebook")
    page.get_by_label("read the studio’s figures").check()
    page.get_by_role("button", name="Make it").click()
    output = page.locator("#new-token output")
    output.wait_for()
    secret = output.inner_text()
    assert find_token(studio, secret).scopes == {"metrics"}
    assert page.evaluate("document.activeElement.id") == "new-token"
    page.get_by_role("button", name="Copy").click()
    page.locator("#new-token button", has_text="Copied").or_(
        page.locator("#new-token button", has_text="Ctrl")
    ).wait_for()
    # It is shown once.
    page.get_by_role("button", name="Done").click()
    revoke = page.get_by_role("button", name="Revoke notebook")
    revoke.wait_for()
    assert secret not in page.content()
    page.once("dialog", lambda dialog: dialog.accept())
    revoke.click()
    page.get_by_role("status").get_by_text("The token works no more.").wait_for()
    assert find_token(studio, secret) is None


def take_ones_data_along(page: Page) -> None:
    with page.expect_download() as download:
        page.get_by_role("link", name="Download it").click()
    assert download.value.suggested_filename == "fabula-ida.json"
    assert json.loads(download.value.path().read_text())["profile"]["name"] == "ida"


def change_the_password(page: Page) -> None:
    page.get_by_label("The password of now").fill("not this one")
    page.get_by_label("A new one").fill(OTHER_PASSWORD)
    page.get_by_role("button", name="Change it").click()
    page.get_by_text("the old password is wrong").wait_for()
    # What was typed is still there.
    assert page.get_by_label("A new one").input_value() == OTHER_PASSWORD
    page.get_by_label("The password of now").fill(PASSWORD)
    page.get_by_role("button", name="Change it").click()
    page.get_by_role("status").get_by_text("Your password is changed").wait_for()


def sign_out_and_in(page: Page, url: str) -> None:
    page.get_by_role("link", name="Sign out").click()
    page.wait_for_url(url + "/")
    page.goto(f"{url}/account")
    page.get_by_label("Name or e-mail").fill("ida")
    page.get_by_label("Password").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").get_by_text("name or password is wrong").wait_for()
    assert page.get_by_label("Name or e-mail").input_value() == "ida"
    page.get_by_label("Password").fill(OTHER_PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(url + "/account")


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_from_the_first_link_to_a_token_and_back(served, visit, options):
    first = make_link(served.studio, None, purpose="first")
    page = visit(f"/account/link/{first}", None, **options)
    come_by_the_first_link(page)
    make_and_revoke_a_token(page, served.studio)
    take_ones_data_along(page)
    change_the_password(page)
    assert page.evaluate(WIDE) == 0
    sign_out_and_in(page, served.url)


def give_a_role_and_invite(page: Page, studio: Studio) -> None:
    page.locator(".people summary").click()
    page.locator(".people").get_by_label("researcher").check()
    page.get_by_role("button", name="Change the roles").click()
    page.locator(".people .chip", has_text="researcher").wait_for()
    assert find_person(studio, "ben").roles == {"author", "researcher"}
    page.locator("summary", has_text="Invite somebody").click()
    page.get_by_role("button", name="Make a link", exact=True).click()
    invitation = page.locator("#new-invitation output")
    invitation.wait_for()
    assert find_link(studio, invitation.inner_text().rpartition("/")[2]).purpose == "invite"


def offer_a_co_author(page: Page, studio: Studio) -> None:
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


@pytest.mark.parametrize("served", [replace(QUICK, sign_up="open")], indirect=True)
def test_somebody_signs_up_is_given_a_role_and_leaves(served, visit):
    use_link(
        served.studio, make_link(served.studio, None, purpose="first"), name="ida",
        password=PASSWORD,
    )  # fmt: skip
    other = visit("/sign-up", None)
    other.get_by_label("Name").fill("ben")
    other.get_by_label("Password").fill(PASSWORD)
    other.get_by_role("button", name="Make my account").click()
    other.wait_for_url(served.url + "/")
    page = visit("/people?q=ben", "ida", **PHONE)
    give_a_role_and_invite(page, served.studio)
    page.goto(f"{served.url}/machines")
    offer_a_co_author(page, served.studio)
    assert page.evaluate(WIDE) == 0
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
def test_on_ones_own_machine_nobody_signs_in(served, visit):
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
