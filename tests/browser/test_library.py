"""From the first visit to a story that is told: the library and a game's pages in a browser."""

from __future__ import annotations

import json
import re

import pytest

from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.people import create_person
from fabula.studio.publishing import publish_entry
from fabula.studio.scenes import read_game
from fabula.studio.versions import save_draft
from fakes.served_studio import PASSWORD
from fakes.storium_games import SMALL, entry, game

pytestmark = pytest.mark.browser
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
DRAFT = re.compile(r"/drafts/[0-9a-f]{32}$")
GAME = re.compile(r"/games/[0-9a-f]{32}$")


@pytest.fixture
def zoe(served):
    """Somebody who comes for the first time."""
    person = create_person(served.studio, None, name="zoe", password=PASSWORD)
    served.people["zoe"] = person
    return person


def overflows(page):
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


def test_a_first_visit_leads_to_writing_in_two_clicks(visit, zoe):
    page = visit("/", "zoe", **PHONE)
    assert page.get_by_role("heading", name="Nothing is written here yet").is_visible()
    page.get_by_role("button", name="Open an example game").click()
    page.wait_for_url(GAME)
    assert page.locator("h1").inner_text() == "Greenhouse Nine" and not overflows(page)
    page.get_by_label("Write as").select_option("TAM")
    page.get_by_role("button", name="Write", exact=True).click()
    page.wait_for_url(DRAFT)
    page.goto(page.url.partition("/drafts")[0])
    page.get_by_role("link", name=re.compile("Greenhouse Nine.*TAM", re.S)).click()
    page.wait_for_url(DRAFT)
    # With one click where there is nothing to be set up.
    page.goto(page.url.partition("/drafts")[0])
    page.get_by_role("button", name="Start a story").click()
    page.wait_for_url(DRAFT)
    page.goto(page.url.partition("/drafts")[0])
    assert page.locator(".drafts .row-title").all_inner_texts() == [
        "Untitled story",
        "Greenhouse Nine",
    ]
    assert page.get_by_role("link", name="The Lamps of Vell").is_visible() and not overflows(page)


def test_a_game_is_brought_along_and_what_is_wrong_is_named(visit, zoe, tmp_path):
    page = visit("/", "zoe")
    page.get_by_role("button", name="Import a game from STORIUM").click()
    dialogue = page.get_by_role("dialog")

    def bring(text):
        (tmp_path / "game.json").write_text(text)
        dialogue.get_by_label("File").set_input_files(tmp_path / "game.json")
        dialogue.get_by_role("button", name="Import").click()

    bring("{oops")
    dialogue.get_by_text("game.json is not JSON").wait_for()
    wrong = game("g9", [entry(1, "Rain.") | {"format": "song"}])
    bring(json.dumps(wrong))
    dialogue.get_by_text(re.compile("scene 1, entry 1.*format")).wait_for()
    bring(json.dumps(SMALL))
    page.wait_for_url(GAME)
    page.get_by_role("link", name="Scene 1", exact=True).click()
    assert "Ida stirs the flood." in page.locator(".story").inner_text()


def test_a_game_is_set_up_by_keyboard_and_taken_away_as_a_file(visit):
    page = visit("/", "ann")
    dialogue = page.get_by_role("dialog")
    page.get_by_role("button", name="New game…").press("Enter")
    page.keyboard.press("Escape")
    assert not dialogue.is_visible()
    page.get_by_role("button", name="New game…").press("Enter")
    dialogue.get_by_label("Title").fill("W" * 200)
    dialogue.get_by_label("World").fill("Mars")
    dialogue.get_by_role("button", name="Begin the game").click()
    page.wait_for_url(GAME)
    assert page.get_by_text("The story has not begun").is_visible() and not overflows(page)
    page.get_by_label("The first scene").fill("Landing")
    page.get_by_role("button", name="Open the scene").click()
    page.get_by_role("heading", name="Landing").wait_for()
    with page.expect_download() as download:
        page.get_by_text("Download the story").click()
        page.get_by_role("link", name="Markdown").click()
    assert download.value.path().read_text().startswith(f"# {'W' * 200}\n\n## Landing")


def test_a_narrator_makes_characters_and_cards_on_a_phone(visit, served):
    page = visit(f"/games/{served.ids['game']}/characters", "ann", **PHONE)
    page.on("dialog", lambda question: question.accept())
    page.get_by_role("button", name="New character…").click()
    page.get_by_role("dialog").get_by_label("Name").fill("Otto")
    page.get_by_role("button", name="Make the character").click()
    page.get_by_role("heading", name="Otto").wait_for()

    page.get_by_role("link", name="Cards", exact=True).first.click()
    page.get_by_role("button", name="New card…").click()
    dialogue = page.get_by_role("dialog")
    assert not dialogue.get_by_label("If it goes well").is_visible()
    dialogue.get_by_label("Kind").select_option("Obstacle")
    dialogue.get_by_label("Name").fill("Flood")
    dialogue.get_by_label("Points").fill("99")
    dialogue.get_by_label("If it goes well").fill("Dry feet.")
    # A browser holds this back before the studio does.
    dialogue.get_by_role("button", name="Make the card").click()
    assert dialogue.is_visible()
    dialogue.get_by_label("Points").fill("3")
    dialogue.get_by_role("button", name="Make the card").click()
    flood = page.locator(".game-card", has_text="Flood")
    flood.get_by_text("3 points").wait_for()
    assert "Well: Dry feet." in flood.inner_text()
    card = page.locator(".game-card", has_text="Patience")
    card.get_by_text("Give, change, delete").click()
    card.get_by_label("Give it to").select_option("Otto")
    card.get_by_role("button", name="Give").click()
    card.get_by_text("In the hand of Otto").wait_for()
    # The fold in which one works stays open.
    card.get_by_role("button", name="Delete the card").click()
    card.wait_for(state="detached")
    assert not overflows(page)
    view = read_game(served.studio, served.people["ann"], served.ids["game"])
    [flood] = [card for card in view.cards if card.name == "Flood"]
    assert (flood.challenge_points, flood.success_stakes) == (3, "Dry feet.")


def test_people_are_invited_and_nothing_typed_is_lost(visit, served, zoe):
    page = visit(f"/games/{served.ids['game']}/settings", "ann", **PHONE)
    page.on("dialog", lambda question: question.accept())
    page.get_by_label("Name as they sign in").fill("nobody-here")
    page.get_by_role("button", name="Invite").click()
    page.get_by_text("There is nobody called 'nobody-here'").wait_for()
    assert page.get_by_label("Name as they sign in").input_value() == "nobody-here"
    page.get_by_label("Name as they sign in").fill("Zoe")
    page.get_by_role("button", name="Invite").click()
    page.locator(".people", has_text="zoe").wait_for()
    page.get_by_role("button", name="Archive the game").click()
    page.get_by_text("This game is archived").wait_for()
    page.get_by_role("button", name="Take it back").first.click()
    page.get_by_role("button", name="Archive the game").wait_for()
    view = read_game(served.studio, served.people["ann"], served.ids["game"])
    assert {member.name for member in view.members} == {"ann", "zoe"}


def test_a_story_is_read_and_its_marks_are_shown_on_wish(visit, served):
    ann, ids = served.people["ann"], served.ids
    place = {"game_id": ids["game"], "scene_id": ids["scene"], "character_id": ids["character"]}
    draft = open_draft(served.studio, ann, key="d", **place)
    text = "She held the lantern up.\n\nNothing moved."
    save_draft(served.studio, ann, draft.id, key="1", base_version=0, edits=[Edit(0, 0, text)])
    publish_entry(served.studio, ann, draft.id, version=1)
    page = visit(f"/games/{ids['game']}", "ann")
    page.on("dialog", lambda question: question.accept())
    told = page.get_by_role("region", name="Mina, entry 1")
    assert told.locator(".prose").inner_text() == text
    replay = told.get_by_role("link", name="Replay")
    assert not replay.is_visible()
    page.get_by_label("Show who wrote what").check()
    assert replay.get_attribute("href") == f"/drafts/{draft.id}/replay" and replay.is_visible()
    # What was chosen is chosen on the next page, too.
    page.reload()
    assert replay.is_visible()
    page.get_by_text("Narrator’s tools").click()
    page.get_by_role("button", name="Close this scene").click()
    page.get_by_role("heading", name="This scene is complete.").wait_for()
    page.get_by_label("The next scene").fill("Above")
    page.get_by_role("button", name="Open the scene").click()
    page.get_by_role("heading", name="Above").wait_for()
    page.get_by_role("link", name="← Below the stairs").click()
    assert told.is_visible()
