"""Writing with a co-author in a real browser: suggest, take, publish, rate; by keys alone; on a
phone; and what happens when something fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from fabula.studio.drafts import read_draft
from fabula.studio.games import change_game
from fabula.studio.machines import add_machine, change_machine
from fabula.studio.publishing import publish_entry
from fabula.studio.ratings import read_ratings
from fabula.studio.scenes import list_entries
from fabula.studio.suggestions import list_suggestions
from fakes.editor_page import (
    BEGINNING,
    WAIT_MS,
    begin,
    open_draft_page,
    sheet,
    text_of,
)

if TYPE_CHECKING:
    from fakes.served_studio import ServedStudio

expect = pytest.importorskip("playwright.sync_api").expect
pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# Where the third letter of what is offered stands: one of its first word, after a blank.
MIDDLE_OF_A_WORD = """(one) => {
  const range = document.createRange();
  range.setStart(one.firstChild, 3);
  range.setEnd(one.firstChild, 4);
  const { x, y, width, height } = range.getBoundingClientRect();
  return [x + width / 2, y + height / 2];
}"""
expect.set_options(timeout=WAIT_MS)


@pytest.fixture
def worker(served: ServedStudio, tmp_path: Path) -> Iterator[None]:
    """A worker beside the studio, with the co-authors that are on offer by then."""
    url = f"sqlite:///{tmp_path / 'studio.sqlite'}"
    running = subprocess.Popen(
        [sys.executable, "-m", "fabula", "worker"],
        env={**os.environ, "FABULA_DATABASE_URL": url},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield
    running.terminate()
    running.wait(60)


def await_suggestion(page):
    """The words that are offered, once all of them are there."""
    expect(page.get_by_role("button", name="Take it")).to_be_visible()
    return page.locator("#desk .ghost").text_content()


def test_of_an_entry_that_is_not_begun_the_model_saw_nothing_yet(served, worker, visit):
    page = open_draft_page(visit, begin(served, text=""))
    page.get_by_role("button", name="Suggest", exact=True).click()
    await_suggestion(page)
    bar = page.locator("#suggestion")
    bar.get_by_text("What the model saw").click()
    expect(bar.locator(".seen li").last).to_have_text(re.compile("^Your text.*nothing yet$"))


def test_a_suggestion_is_streamed_and_taken_in_part(served, worker, visit):
    change_machine(served.studio, None, "lorem", status="inactive")
    add_machine(served.studio, None, name="steady", spec="lorem(delay_s=0.08)")
    draft_id = begin(served)
    page = open_draft_page(visit, draft_id)
    page.keyboard.type(" She waited.")
    page.get_by_role("button", name="Suggest", exact=True).click()
    ghost, bar = page.locator("#desk .ghost"), page.locator("#suggestion")
    expect(bar).to_contain_text("steady is writing")
    # One goes on writing meanwhile, and what is suggested makes way.
    page.keyboard.type(" Still.")
    offered = await_suggestion(page)
    assert sheet(page).inner_text().startswith(f"{BEGINNING} She waited. Still.{offered[:9]}")
    bar.get_by_text("What the model saw").click()
    expect(bar.locator(".seen li").first).to_contain_text("The character: Mina")
    expect(bar.locator(".seen")).to_contain_text("all of it")

    page.get_by_role("button", name="Sentence").click()
    first = re.match(r".*?[.?!](?=\s|$)", offered, re.S)[0]
    expect(ghost).to_have_text(offered[len(first) :])
    # A click chooses an end: the rest is struck out, and dropped.
    page.mouse.click(*ghost.evaluate(MIDDLE_OF_A_WORD))
    expect(ghost.locator(".rest")).to_have_count(1)
    chosen = ghost.evaluate("one => one.firstChild.data")
    assert re.fullmatch(r"\s*\S+", chosen)
    page.get_by_role("button", name="Take it").click()
    expect(ghost).to_have_count(0)
    page.keyboard.type(" And so did I.")
    page.keyboard.press("Control+s")
    expect(page.locator("#told")).to_have_text("Saved.")
    ours = f"{BEGINNING} She waited. Still."
    draft = read_draft(served.studio, served.people["ann"], draft_id)
    assert draft.text == f"{ours}{first}{chosen} And so did I."
    assert [(run.length, run.origin) for run in draft.marks] == [
        (len(ours), "person"),
        (len(first + chosen), "machine"),
        (len(" And so did I."), "person"),
    ]


def test_publishing_and_rating_are_one_step(served, worker, visit):
    draft_id = begin(served)
    ann = served.people["ann"]
    page = open_draft_page(visit, draft_id)
    page.keyboard.press("Control+Enter")
    offered = await_suggestion(page)
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Publish").click()
    dialogue = page.get_by_role("dialog", name="Publish")
    expect(dialogue).to_contain_text("Do its sentences follow from one another, in this order?")
    dialogue.get_by_role("group", name="Fluency").get_by_label("4").check()
    dialogue.get_by_role("group", name="Likability").get_by_label("2").check()
    dialogue.get_by_label("Anything else?").fill("It likes Latin.")
    dialogue.get_by_role("button", name="Publish").click()
    result = page.get_by_role("dialog", name="Published as entry 1")
    expect(result).to_be_visible(timeout=3 * WAIT_MS)
    words = len(offered.split())
    expect(result).to_contain_text(f"lorem USER 100 %: {words} of {words} words kept")
    expect(result.get_by_role("link", name="Replay")).to_have_attribute(
        "href", f"/drafts/{draft_id}/replay"
    )
    entry = list_entries(served.studio, ann, served.ids["game"], limit=5)[0][-1]
    assert entry.text == BEGINNING + offered
    (suggestion,) = list_suggestions(served.studio, ann, draft_id)
    given = {one.aspect: one.value for one in read_ratings(served.studio, ann, suggestion.id)}
    assert given == {"fluency": 4, "likability": 2, "comment": None}
    # The next one begins where this one ended.
    result.get_by_role("button", name="Write the next").click()
    page.wait_for_url(lambda url: "/drafts/" in url and draft_id not in url)
    expect(page.locator(".entry").last).to_contain_text(offered.strip())


def test_a_suggestion_is_steered_by_keys_alone(served, worker, visit):
    draft_id = begin(served)
    page = open_draft_page(visit, draft_id)
    keys, ghost = page.keyboard, page.locator("#desk .ghost")
    keys.press("Control+Enter")
    offered = await_suggestion(page)
    # What is told to who does not see it is the end, and not every word.
    expect(page.locator("#told")).to_contain_text("Tab takes them")
    keys.press("Control+ArrowRight")
    word = re.match(r"\s*\S+", offered)[0]
    expect(ghost).to_have_text(offered[len(word) :])
    keys.press("Alt+ArrowLeft")
    expect(ghost.locator(".rest")).to_have_text(re.compile(r"^\s*\S+$"))
    keys.press("Alt+ArrowUp")
    kept = ghost.evaluate("one => one.firstChild.data")
    keys.press("Tab")
    expect(page.locator("#suggestion")).to_be_hidden()
    expect(sheet(page)).to_be_focused()
    expect(sheet(page)).to_have_text(BEGINNING + word + kept)
    # Another one, and not.
    keys.press("Control+Enter")
    await_suggestion(page)
    keys.press("Escape")
    expect(page.locator("#suggestion")).to_be_hidden()
    keys.press("Control+z")
    expect(sheet(page)).to_have_text(BEGINNING + word)
    keys.press("Control+Shift+z")
    expect(sheet(page)).to_have_text(BEGINNING + word + kept)
    keys.press("Control+s")
    expect(page.locator("#told")).to_have_text("Saved.")
    assert text_of(served, draft_id) == BEGINNING + word + kept


def test_one_moves_about_and_publishes_by_keys_alone(served, worker, visit):
    page = open_draft_page(visit, begin(served))
    keys = page.keyboard
    keys.press("F6")
    expect(page.locator("#tab-scene")).to_be_focused()
    keys.press("ArrowRight")
    expect(page.locator("#tab-cards")).to_be_focused()
    expect(page.locator("#panel-cards")).to_be_visible()
    keys.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    keys.press("Escape")
    expect(page.locator("#tab-cards")).to_be_focused()
    keys.press("Escape")
    expect(sheet(page)).to_be_focused()
    keys.press("Control+Enter")
    offered = await_suggestion(page)
    keys.press("Tab")
    keys.press("Control+Shift+Enter")
    dialogue = page.get_by_role("dialog", name="Publish")
    expect(dialogue).to_be_visible()
    relevance = dialogue.get_by_role("group", name="Relevance")
    for _ in range(20):
        keys.press("Tab")
        if relevance.locator("input:focus").count():
            break
    for key in ("Space", "ArrowRight", "ArrowRight"):
        keys.press(key)
    expect(relevance.get_by_label("3")).to_be_checked()
    keys.press("Enter")
    result = page.get_by_role("dialog", name="Published as entry 1")
    expect(result).to_be_visible(timeout=3 * WAIT_MS)
    keys.press("Escape")
    expect(page.locator("#read")).to_have_text(BEGINNING + offered)
    expect(page.locator("#read .by-machine")).to_have_text(offered)


def test_what_fails_says_why_and_what_to_do_and_nothing_is_lost(served, worker, visit):
    change_machine(served.studio, None, "lorem", status="inactive")
    draft_id = begin(served, "")
    page = open_draft_page(visit, draft_id)
    page.keyboard.type("Kept.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#suggestion")).to_contain_text("No co-author is free to write")
    expect(page.locator("#suggestion")).to_contain_text("Try again in 5 seconds")

    add_machine(served.studio, None, name="sour", spec="lorem(fail=1.0)")
    add_machine(served.studio, None, name="slow", spec="lorem(delay_s=0.2, words=30)")
    page.reload()
    expect(sheet(page)).to_be_focused()
    expect(sheet(page)).to_have_text("Kept.")
    page.get_by_label("How to suggest").click()
    page.get_by_label("Who writes").select_option("sour")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Suggest", exact=True).click()
    bar = page.locator("#suggestion")
    expect(bar).to_contain_text("Lorem was told to fail now and then")

    # The other one is tried; it goes on while the page is loaded anew, and is stopped.
    bar.get_by_role("button", name="Try slow").click()
    expect(bar).to_contain_text("slow is writing")
    page.reload()
    expect(bar).to_contain_text("slow is writing")
    expect(sheet(page)).to_be_focused()
    page.keyboard.press("Escape")
    expect(bar).to_contain_text("Stopped.")
    page.get_by_role("tab", name="Suggestions").click()
    expect(page.locator(".earlier")).to_have_count(2)
    expect(page.locator(".earlier").first).to_contain_text("stopped")
    page.locator(".earlier").last.get_by_text("What the model saw").click()
    expect(page.locator(".earlier").last.locator(".seen")).to_contain_text("The character: Mina")
    assert text_of(served, draft_id) == "Kept."


def test_a_rating_that_does_not_get_through_is_kept_and_sent_later(served, worker, visit):
    draft_id = begin(served)
    ann = served.people["ann"]
    page = open_draft_page(visit, draft_id)
    page.keyboard.press("Control+Enter")
    await_suggestion(page)
    page.keyboard.press("Tab")
    page.route("**/ratings", lambda route: route.abort())
    page.get_by_role("button", name="Publish").click()
    dialogue = page.get_by_role("dialog")
    dialogue.get_by_role("group", name="Coherence").get_by_label("5").check()
    dialogue.get_by_role("button", name="Publish").click()
    expect(dialogue.get_by_role("alert")).to_contain_text("could not be sent", timeout=3 * WAIT_MS)
    (suggestion,) = list_suggestions(served.studio, ann, draft_id)
    assert suggestion.entry_id and read_ratings(served.studio, ann, suggestion.id) == []
    page.unroute("**/ratings")
    with page.expect_response("**/ratings") as sent:
        dialogue.get_by_role("button", name="Write the next").click()
    assert sent.value.status == 200
    (rating,) = read_ratings(served.studio, ann, suggestion.id)
    assert (rating.aspect, rating.value) == ("coherence", 5)


def test_a_phone_has_the_sheet_first_and_drawers(served, worker, visit):
    ann = served.people["ann"]
    change_game(served.studio, ann, served.ids["game"], title="W" * 200)
    publish_entry(served.studio, ann, begin(served, "It was dark.", key="e"), version=1)
    draft_id = begin(served)
    page = open_draft_page(visit, draft_id, **PHONE)
    assert page.evaluate(WIDE) == 0
    expect(page.locator("#side")).to_be_hidden()
    page.get_by_role("button", name="Story").tap()
    expect(page.locator(".entry").last).to_be_in_viewport()
    assert page.evaluate(WIDE) == 0
    page.get_by_label("Close the side").tap()
    expect(page.locator("#side")).to_be_hidden()
    page.get_by_label("How to suggest").tap()
    menu = page.locator("#how .drop").bounding_box()
    assert menu["x"] >= 0 and menu["x"] + menu["width"] <= 390 and menu["y"] >= 0
    page.get_by_role("button", name="Suggest", exact=True).tap()
    await_suggestion(page)
    page.get_by_role("button", name="Take it").tap()
    page.get_by_role("button", name="Publish").tap()
    dialogue = page.get_by_role("dialog", name="Publish")
    dialogue.get_by_role("group", name="Fluency").get_by_label("5").check()
    assert page.evaluate("document.getElementById('box').scrollWidth <= innerWidth")
    dialogue.get_by_role("button", name="Publish").tap()
    expect(page.get_by_role("dialog", name="Published as entry 2")).to_be_visible(
        timeout=3 * WAIT_MS
    )
