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
from sqlalchemy import insert

from fabula.studio.cards import add_card
from fabula.studio.drafts import open_draft, read_draft
from fabula.studio.edits import Edit
from fabula.studio.games import change_game
from fabula.studio.machines import add_machine, change_machine
from fabula.studio.publishing import publish_entry
from fabula.studio.ratings import read_ratings
from fabula.studio.scenes import list_entries
from fabula.studio.suggestions import list_suggestions
from fabula.studio.tables import entries, new_id, now
from fabula.studio.versions import list_versions, save_draft

if TYPE_CHECKING:
    from fakes.served_studio import ServedStudio

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect
pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
BEGINNING = "The lamp went out."
# Machines that test are busy.
WAIT_MS = 20_000
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
    running.wait(20)


def begin(served: ServedStudio, text: str = BEGINNING, key: str = "d", **other) -> str:
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
    return read_draft(served.studio, served.people["ann"], draft_id).text


def sheet(page):
    return page.locator("#desk .desk-text")


def open_draft_page(visit, draft_id: str, **options):
    page = visit(f"/drafts/{draft_id}", **options)
    expect(sheet(page)).to_be_focused()
    return page


def await_suggestion(page):
    """The words that are offered, once all of them are there."""
    expect(page.get_by_role("button", name="Take it")).to_be_visible(timeout=WAIT_MS)
    return page.locator("#desk .ghost").text_content()


def test_a_suggestion_is_streamed_taken_in_part_published_and_rated(served, worker, visit):
    draft_id = begin(served)
    ann = served.people["ann"]
    page = open_draft_page(visit, draft_id)
    page.keyboard.type(" She waited.")
    page.get_by_role("button", name="Suggest", exact=True).click()
    ghost = page.locator("#desk .ghost")
    expect(page.locator("#suggestion")).to_contain_text("lorem is writing")
    # One goes on writing meanwhile, and what is suggested makes way.
    sheet(page).focus()
    page.keyboard.type(" Still.")
    offered = await_suggestion(page)
    assert sheet(page).inner_text().startswith(f"{BEGINNING} She waited. Still.{offered[:9]}")

    page.locator("#suggestion").get_by_text("What the model saw").click()
    expect(page.locator("#suggestion .seen li").first).to_contain_text("The character: Mina")
    expect(page.locator("#suggestion .seen")).to_contain_text("all of it")

    page.get_by_role("button", name="Sentence").click()
    first = re.match(r".*?[.?!](?=\s|$)", offered, re.S)[0]
    expect(ghost).to_have_text(offered[len(first) :])
    # A click chooses an end: the rest is struck out, and dropped.
    box = ghost.bounding_box()
    page.mouse.click(box["x"] + box["width"] - 20, box["y"] + 12)
    chosen = ghost.evaluate("one => one.firstChild.data")
    assert 0 < len(chosen) < len(offered) - len(first)
    assert ghost.locator(".rest").count() == 1
    page.get_by_role("button", name="Take it").click()
    expect(ghost).to_have_count(0)
    page.keyboard.type(" And so did I.")
    published = f"{BEGINNING} She waited. Still.{first}{chosen} And so did I."

    page.get_by_role("button", name="Publish").click()
    dialogue = page.get_by_role("dialog", name="Publish")
    expect(dialogue).to_contain_text("Do its sentences follow from one another, in this order?")
    dialogue.get_by_role("group", name="Fluency").get_by_label("4").check()
    dialogue.get_by_role("group", name="Likability").get_by_label("2").check()
    dialogue.get_by_label("Anything else?").fill("It likes Latin.")
    dialogue.get_by_role("button", name="Publish").click()
    result = page.get_by_role("dialog", name="Published as entry 1")
    expect(result).to_be_visible(timeout=3 * WAIT_MS)
    expect(result).to_contain_text(re.compile(r"lorem USER \d+ %: \d+ of \d+ words kept"))
    expect(result.get_by_role("link", name="Replay")).to_have_attribute(
        "href", f"/drafts/{draft_id}/replay"
    )
    entry = list_entries(served.studio, ann, served.ids["game"], limit=5)[0][-1]
    assert entry.text == published
    (suggestion,) = list_suggestions(served.studio, ann, draft_id)
    given = {one.aspect: one.value for one in read_ratings(served.studio, ann, suggestion.id)}
    assert given == {"fluency": 4, "likability": 2, "comment": None}
    # The next one begins where this one ended.
    result.get_by_role("button", name="Write the next").click()
    page.wait_for_url(lambda url: "/drafts/" in url and draft_id not in url)
    expect(page.locator(".entry").last).to_contain_text("And so did I.")


def test_everything_is_done_by_keys_alone(served, worker, visit):
    draft_id = begin(served)
    page = open_draft_page(visit, draft_id)
    keys = page.keyboard
    keys.press("Control+Enter")
    offered = await_suggestion(page)
    # What is told to who does not see it is the end, and not every word.
    expect(page.locator("#told")).to_contain_text("Tab takes them")
    keys.press("Control+ArrowRight")
    word = re.match(r"\s*\S+", offered)[0]
    expect(page.locator("#desk .ghost")).to_have_text(offered[len(word) :])
    keys.press("Alt+ArrowLeft")
    expect(page.locator("#desk .ghost .rest")).to_have_text(re.compile(r"^\s*\S+$"))
    keys.press("Alt+ArrowUp")
    kept = page.locator("#desk .ghost").evaluate("one => one.firstChild.data")
    keys.press("Tab")
    expect(page.locator("#suggestion")).to_be_hidden()
    expect(sheet(page)).to_be_focused()
    keys.press("Control+s")
    expect(page.locator("#told")).to_have_text("Saved.")
    assert text_of(served, draft_id) == BEGINNING + word + kept

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

    # Another one, and not: twice Escape, first it stops and then it goes.
    keys.press("Control+Enter")
    await_suggestion(page)
    keys.press("Escape")
    expect(page.locator("#suggestion")).to_be_hidden()
    keys.press("Control+z")
    expect(sheet(page)).to_have_text(BEGINNING + word)
    keys.press("Control+Shift+z")
    expect(sheet(page)).to_have_text(BEGINNING + word + kept)

    keys.press("Control+Shift+Enter")
    dialogue = page.get_by_role("dialog", name="Publish")
    expect(dialogue).to_be_visible()
    radio = dialogue.get_by_role("group", name="Relevance").get_by_role("radio").first
    for _ in range(20):
        if radio.evaluate("one => one === document.activeElement"):
            break
        keys.press("Tab")
    for key in ("Space", "ArrowRight", "ArrowRight"):
        keys.press(key)
    expect(dialogue.get_by_role("group", name="Relevance").get_by_label("3")).to_be_checked()
    keys.press("Enter")
    expect(page.get_by_role("dialog", name="Published as entry 1")).to_be_visible(
        timeout=3 * WAIT_MS
    )
    keys.press("Escape")
    expect(page.locator("#read")).to_have_text(BEGINNING + word + kept)
    expect(page.locator("#read .by-machine")).to_have_text(word + kept)


def test_what_fails_says_why_and_what_to_do_and_nothing_is_lost(served, worker, visit):
    change_machine(served.studio, None, "lorem", status="inactive")
    draft_id = begin(served, "")
    page = open_draft_page(visit, draft_id)
    page.keyboard.type("Kept.")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#suggestion")).to_contain_text("no co-author is free to write")
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
    expect(bar).to_contain_text("lorem was told to fail now and then")

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


def write_many(served: ServedStudio, number: int) -> None:
    ids = served.ids
    rows = [
        {
            "id": new_id(), "game_id": ids["game"], "scene_id": ids["scene"], "seq_id": n + 1,
            "character_id": ids["character"], "format": "move", "text": f"Step {n + 1}.",
            "author_id": served.people["ann"].id, "published_at": now(), "extra": {},
        }
        for n in range(number)
    ]  # fmt: skip
    with served.studio.write() as db:
        db.execute(insert(entries), rows)


def test_of_a_long_scene_only_the_end_is_fetched_and_more_when_it_is_scrolled_to(served, visit):
    write_many(served, 2_000)
    asked = []
    page = visit("/healthz")
    page.on("request", lambda request: "/entries" in request.url and asked.append(request.url))
    page.goto(f"{served.url}/drafts/{begin(served)}")
    panel = page.locator("#panel-scene")
    expect(panel.locator(".entry")).to_have_count(15)
    expect(panel.locator(".entry").last).to_be_in_viewport()
    expect(panel.locator(".entry").last).to_contain_text("Step 2000.")
    page.wait_for_timeout(200)
    assert len(asked) == 1
    panel.evaluate("one => one.scrollTo(0, 0)")
    expect(panel.locator(".entry")).to_have_count(30)
    expect(panel.locator(".entry").first).to_contain_text("Step 1971.")


def test_cards_are_chosen_for_the_table_and_played_with_the_entry(served, visit):
    studio, ann, ids = served.studio, served.people["ann"], served.ids
    add = {"studio": studio, "person": ann, "game_id": ids["game"]}
    flood = add_card(**add, key="f", namespace="obstacle", name="The flood", challenge_points=2,
                     success_stakes="They stay dry.")  # fmt: skip
    calm = add_card(**add, key="k", namespace="strength", name="Calm", stack_size=1,
                    character_id=ids["character"])  # fmt: skip
    opening = begin(served, "Water.", key="o", format="establishment", character_id=None)
    page = open_draft_page(visit, opening)
    page.get_by_role("tab", name="Cards").click()
    with page.expect_response("**/drafts/*"):
        page.get_by_label("The flood").check()
    publish_entry(studio, ann, opening, version=1)

    page.goto(f"{served.url}/drafts/{begin(served)}")
    page.get_by_role("tab", name="Cards").click()
    expect(page.locator("#panel-cards")).to_contain_text("They stay dry.")
    expect(page.get_by_label("Calm")).to_be_disabled()
    page.get_by_label("The flood").check()
    page.get_by_label("Calm").check()
    expect(page.locator("#panel-cards")).to_contain_text("1 card will be played")
    page.get_by_role("button", name="Publish").click()
    dialogue = page.get_by_role("dialog", name="Publish")
    expect(dialogue).to_contain_text("Plays Calm on The flood.")
    dialogue.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("dialog", name="Published as entry 2")).to_be_visible(
        timeout=3 * WAIT_MS
    )
    entry = list_entries(studio, ann, ids["game"], limit=5)[0][-1]
    laid = {(card.use, card.card_id) for card in entry.cards}
    assert laid == {("target", flood.card_id), ("played", calm.card_id)}


def test_versions_are_named_and_stand_again_and_words_are_counted(served, visit):
    draft_id = begin(served)
    page = open_draft_page(visit, draft_id)
    page.get_by_role("button", name="Set the goal").click()
    page.get_by_label("Words", exact=True).fill("3")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Versions").click()
    page.get_by_label("Name this version").fill("The dark")
    page.keyboard.press("Enter")
    expect(page.locator(".versions .named")).to_contain_text("The dark")
    sheet(page).focus()
    page.keyboard.type(" Then it came back.")
    expect(page.locator("#told")).to_contain_text("reached your goal of 3 words")
    expect(page.locator("#progress")).to_contain_text("4 of 3 words")
    page.keyboard.press("Control+s")
    expect(page.locator("#state")).to_have_text("Saved")
    page.get_by_role("button", name="The dark").click()
    expect(page.get_by_role("dialog")).to_contain_text(BEGINNING)
    page.get_by_role("button", name="Let this version stand again").click()
    with page.expect_navigation():
        page.get_by_role("button", name="Go back to it").click()
    expect(sheet(page)).to_have_text(BEGINNING)
    names = [each.name for each in list_versions(served.studio, served.people["ann"], draft_id)]
    assert names[0] == "The dark"
    # And away with it.
    page.get_by_label("More").click()
    page.get_by_role("button", name="Discard the draft").click()
    page.get_by_role("button", name="Discard it").click()
    page.wait_for_url(f"**/games/{served.ids['game']}")
    assert read_draft(served.studio, served.people["ann"], draft_id).state == "discarded"


def test_what_others_wrote_is_shown_and_never_run(served, visit):
    nasty = "</script><img src=x onerror=\"document.title='run'\">"
    studio, ann, ids = served.studio, served.people["ann"], served.ids
    change_game(studio, ann, ids["game"], title=nasty)
    add_card(studio, ann, ids["game"], key="n", namespace="strength", name=nasty,
             character_id=ids["character"])  # fmt: skip
    publish_entry(studio, ann, begin(served, nasty, key="e"), version=1)
    page = open_draft_page(visit, begin(served, nasty))
    expect(page.locator(".entry")).to_contain_text(nasty)
    page.get_by_role("tab", name="Cards").click()
    expect(page.locator("#panel-cards")).to_contain_text(nasty)
    assert page.locator("main img").count() == 0
    assert page.title() != "run" and nasty in page.title()
