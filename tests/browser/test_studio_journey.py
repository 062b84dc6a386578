"""The whole way, as somebody goes it who has just installed Fabula: `fabula serve`, sign up, an
example game, a suggestion, an edit, publishing with a rating, the dashboard and the film; on both
databases and at a phone's width. And a server that is killed while one writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from fabula.studio.database import open_studio
from fakes.postgres import serve_postgres
from fakes.studio_program import StudioProgram

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
pytestmark = pytest.mark.browser

DESK = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WAIT_MS = 60_000
LATIN = "lorem(delay_s=0.02, words=40)"
_numbers = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str | None]:
    with serve_postgres() as server:
        yield server


def make_database(kind: str, folder: Path, server: str | None) -> str:
    if kind == "sqlite":
        return f"sqlite:///{folder / 'studio.sqlite'}"
    if server is None:
        pytest.skip("there is no PostgreSQL: set FABULA_TEST_DATABASE_URL, or install one")
    head, _, query = server.partition("?")
    name = f"journey_{next(_numbers)}"
    root = open_studio(f"{head}/postgres?{query}")
    connection = root.engine.raw_connection()
    connection.detach()
    connection.dbapi_connection.autocommit = True
    connection.cursor().execute(f"CREATE DATABASE {name}")
    connection.close()
    root.close()
    return f"{head}/{name}?{query}"


def open_browser(browser: Browser, options: dict[str, Any]) -> tuple[Page, list[str]]:
    """A page, and what goes wrong in it."""
    troubles: list[str] = []
    page = browser.new_context(**options).new_page()
    page.set_default_timeout(WAIT_MS)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("console", lambda told: troubles.append(told.text) if "Content" in told.text else None)
    return page, troubles


def sign_up(page: Page, program: StudioProgram) -> None:
    page.goto(program.find_link())
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password").fill("a lantern under the stairs")
    page.get_by_role("button", name="Come in").click()
    page.get_by_role("button", name="Open an example game").wait_for()


def open_example(page: Page) -> None:
    page.get_by_role("button", name="Open an example game").click()
    page.get_by_role("button", name="Write", exact=True).click()
    expect(page.locator("#desk .desk-text")).to_be_focused(timeout=WAIT_MS)


def find_words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def write_with_a_machine(page: Page) -> str:
    """Type, take what is suggested, write on; what the machine wrote."""
    sheet, keys = page.locator("#desk .desk-text"), page.keyboard
    keys.type("The glass was cold to the touch.")
    page.get_by_role("button", name="Suggest", exact=True).click()
    # It may be done before anybody could look at it being written.
    expect(page.locator("#suggestion")).to_contain_text(
        re.compile("is writing|Again"), timeout=WAIT_MS
    )
    page.get_by_role("button", name="Take it").wait_for()
    suggested = (page.locator("#desk .ghost").text_content() or "").strip()
    # A co-author that really writes may be done after a word or two.
    assert find_words(suggested)
    page.get_by_role("button", name="Take it").click()
    expect(sheet.locator(".by-machine").first).to_be_visible()
    sheet.focus()
    keys.press("Control+End")
    keys.type(" Nobody wiped it.")
    expect(page.locator("main")).to_contain_text("Saved", timeout=WAIT_MS)
    return suggested


def publish_and_rate(page: Page) -> None:
    page.get_by_role("button", name="Publish").click()
    dialogue = page.get_by_role("dialog", name="Publish")
    for aspect, value in (("Relevance", "2"), ("Fluency", "4"), ("Coherence", "3")):
        dialogue.get_by_role("group", name=aspect).get_by_label(value).check()
    dialogue.get_by_role("button", name="Publish").click()
    result = page.get_by_role("dialog", name=re.compile("Published as entry"))
    # All of it was kept.
    expect(result).to_contain_text(re.compile(r"USER 100 %"), timeout=WAIT_MS)
    result.get_by_role("link", name="Replay").click()


def watch_the_film(page: Page, suggested: str) -> None:
    page.locator("#slider").wait_for()
    page.locator("#slider").focus()
    page.keyboard.press("End")
    expect(page.locator("#text")).to_contain_text("Nobody wiped it.")
    page.get_by_role("button", name="One edit back").click()
    expect(page.locator("#text")).not_to_contain_text("Nobody wiped it.")
    page.locator("#slider").focus()
    page.keyboard.press("Home")
    expect(page.locator("#text")).to_have_text("")
    page.keyboard.press("End")
    expect(page.locator("#text")).to_contain_text(suggested[:30])
    assert int(page.locator("#count-machine").inner_text()) >= len(find_words(suggested))


def look_at_the_dashboard(page: Page, program: StudioProgram, suggested: str) -> None:
    page.goto(f"{program.url}/dashboard/")
    expect(page.locator("#board")).to_contain_text("USER")
    diff = page.locator("#edits .edit").first
    kept = find_words("".join(diff.locator(".diff-kept").all_inner_texts()))
    # The diff is one of words: a quotation mark that begins a suggestion is none.
    assert kept[:4] == find_words(suggested)[:4]
    assert "Nobody wiped it." in "".join(diff.locator(".diff-added").all_inner_texts())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def go_the_whole_way(page: Page, program: StudioProgram) -> None:
    sign_up(page, program)
    open_example(page)
    suggested = write_with_a_machine(page)
    publish_and_rate(page)
    watch_the_film(page, suggested)
    look_at_the_dashboard(page, program, suggested)


@pytest.mark.parametrize(
    ("kind", "options"),
    [("sqlite", DESK), ("postgresql", DESK), ("sqlite", PHONE)],
    ids=["sqlite", "postgresql", "phone"],
)
def test_from_the_first_command_to_the_film(browser, tmp_path, postgres, kind, options):
    program = StudioProgram(make_database(kind, tmp_path, postgres), tmp_path / "log")
    program.run("studio", "migrate")
    program.run("studio", "machine", "add", "latin", LATIN)
    try:
        program.start()
        page, troubles = open_browser(browser, options)
        go_the_whole_way(page, program)
        page.context.close()
        assert troubles == []
    finally:
        program.end()


@pytest.mark.assets
def test_the_same_with_the_co_author_that_really_writes(browser, tmp_path):
    program = StudioProgram(f"sqlite:///{tmp_path / 'studio.sqlite'}", tmp_path / "log")
    try:
        program.start()
        page, troubles = open_browser(browser, DESK)
        page.set_default_timeout(3 * WAIT_MS)
        go_the_whole_way(page, program)
        page.context.close()
        assert troubles == []
    finally:
        program.end()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_server_that_is_killed_while_one_types_costs_nothing(browser, tmp_path, postgres, kind):
    program = StudioProgram(make_database(kind, tmp_path, postgres), tmp_path / "log")
    program.run("studio", "migrate")
    program.run("studio", "machine", "add", "latin", LATIN)
    words = [f"word{number} " for number in range(60)]
    try:
        program.start()
        page, _ = open_browser(browser, DESK)
        sign_up(page, program)
        open_example(page)
        for number, word in enumerate(words):
            page.keyboard.type(word, delay=15)
            if number == 30:
                program.kill()
        expect(page.locator("main")).to_contain_text(re.compile("Offline|kept here"))
        program.start()
        page.reload()
        sheet = page.locator("#desk .desk-text")
        expect(sheet).to_be_visible(timeout=WAIT_MS)
        # Not more than two seconds of typing may be gone; nothing is.
        expect(sheet).to_have_text("".join(words).rstrip(), timeout=WAIT_MS)
        # What the page says of it, in the meantime, is looked at in desk/test_crashes.py.
        expect(page.locator("main")).to_contain_text("Saved", timeout=WAIT_MS)
        page.reload()
        expect(sheet).to_have_text("".join(words).rstrip(), timeout=WAIT_MS)
        page.context.close()
    finally:
        program.end()
