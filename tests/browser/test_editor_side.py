"""What lies around the sheet, in a real browser: the scene so far, cards, versions, the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import insert

from fabula.studio.cards import add_card
from fabula.studio.drafts import read_draft
from fabula.studio.games import change_game
from fabula.studio.publishing import publish_entry
from fabula.studio.scenes import list_entries
from fabula.studio.tables import entries, new_id, now
from fabula.studio.versions import list_versions
from fakes.editor_page import BEGINNING, WAIT_MS, begin, focus_sheet, open_draft_page, sheet
from fakes.studio_writing import put_suggestion

if TYPE_CHECKING:
    from fakes.served_studio import ServedStudio

expect = pytest.importorskip("playwright.sync_api").expect
expect.set_options(timeout=WAIT_MS)
pytestmark = pytest.mark.browser


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
    focus_sheet(page)
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


def test_a_suggestion_cards_and_the_questions_have_no_barriers(served, visit, check_accessibility):
    studio, ann, ids = served.studio, served.people["ann"], served.ids
    add_card(studio, ann, ids["game"], key="n", namespace="strength", name="Calm",
             description="Always.", character_id=ids["character"])  # fmt: skip
    draft_id = begin(served)
    put_suggestion(studio, read_draft(studio, ann, draft_id), " The stairs went on. And on.")
    page = open_draft_page(visit, draft_id)
    page.get_by_role("tab", name="Suggestions").click()
    page.get_by_role("button", name="Show at the cursor").click()
    page.keyboard.press("Alt+ArrowUp")
    expect(page.locator("#desk .ghost .rest")).to_have_text(" And on.")
    check_accessibility(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("tab", name="Cards").click()
    check_accessibility(page)
    page.get_by_role("button", name="Take it").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("dialog", name="Publish")).to_be_visible()
    check_accessibility(page)
