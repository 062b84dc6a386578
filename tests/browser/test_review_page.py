"""The review page in a browser: a story read part by part, two drafts beside each other, and what
can be saved of it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from fabula.studio.drafts import open_draft
from fabula.studio.edits import Edit
from fabula.studio.versions import save_draft
from fabula.web.settings import Rate, ReviewSettings
from fakes.review import STORY, TEXT
from fakes.served_studio import QUICK, serve_studio

pytestmark = pytest.mark.browser
FAKE = ReviewSettings(weights="fake", order="fake", rate=Rate(0))
LATER = TEXT.replace("went out at nine", "went out at ten") + " It was over."


@pytest.fixture
def served(tmp_path):
    """A studio whose reader needs no weights."""
    settings = replace(QUICK, review=FAKE)
    with serve_studio(f"sqlite:///{tmp_path / 'studio.sqlite'}", settings) as running:
        yield running


def wide(page):
    """How much wider than its window a page is."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def read(page):
    page.get_by_role("button", name="Review", exact=True).click()
    page.wait_for_selector("#saving button")


def test_a_review_has_no_serious_barrier(visit, find_barriers):
    page = visit("/review")
    page.get_by_label("Story", exact=True).fill(TEXT)
    read(page)
    assert find_barriers(page) == []


def test_a_story_is_read_and_a_quote_leads_to_its_place(visit):
    page = visit("/review")
    page.get_by_label("Story", exact=True).fill(f"<b>Bold.</b> {TEXT}")
    page.get_by_label("Prompt").fill(STORY.prompt)
    assert "of 100,000 characters" in page.inner_text("#count-0")
    read(page)
    assert "better than about" in page.inner_text("#one")
    assert "<b>Bold.</b>" in page.inner_text("#one .story") and not page.query_selector(".story b")
    # What a size says was set by the script: the policy lets no markup do so.
    assert page.locator(".ratings .meter").first.evaluate("it => it.style.cssText") != ""
    quote = page.locator("#notes .told .quote").first
    aspect = quote.get_attribute("href")
    quote.click()
    assert page.url.endswith(aspect) and page.locator(aspect).is_visible()


def test_what_is_saved_is_what_was_read_and_the_text_can_be_written_on(visit, served):
    page = visit("/review")
    page.get_by_label("Example for story").select_option("teeth-human")
    page.wait_for_selector("#text-0[data-title=Teeth]")
    read(page)
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save the values").click()
    values = json.loads(saving.value.path().read_text(encoding="utf-8"))
    assert saving.value.suggested_filename == "Teeth-review.json" and values["story"] == "Teeth"
    with page.expect_download() as saving:
        page.get_by_role("button", name="Save the page").click()
    assert "Teeth · Fabula review" in saving.value.path().read_text(encoding="utf-8")
    text = page.get_by_label("Story", exact=True).input_value()
    page.get_by_role("button", name="Write on in the studio").click()
    page.wait_for_url("**/drafts/*")
    answer = page.request.get(f"{served.url}/api/v1/drafts/{page.url.rpartition('/')[2]}")
    assert answer.json()["text"] == text


def test_two_drafts_scroll_together_and_on_a_phone_stand_one_below_the_other(visit):
    page = visit("/review", viewport={"width": 1280, "height": 700})
    page.get_by_role("button", name="Compare two drafts").click()
    page.get_by_label("Earlier draft", exact=True).fill(TEXT * 3)
    page.get_by_label("Later draft", exact=True).fill(LATER * 3)
    page.get_by_role("button", name="Compare", exact=True).click()
    page.wait_for_selector("#saving button")
    assert page.locator("#two del").first.inner_text() == "nine"
    assert page.locator("#two ins").first.inner_text() == "ten"
    assert "Preference, percentile" in page.inner_text("#two table")
    page.evaluate("document.querySelector('[data-part=before]').scrollTop = 1e6")
    page.wait_for_timeout(200)
    after = page.locator("[data-part=after]")
    assert after.evaluate("it => it.scrollTop + it.clientHeight >= it.scrollHeight - 2")
    page.set_viewport_size({"width": 390, "height": 844})
    before, after = (page.locator(f"[data-part={name}]").bounding_box()
                     for name in ("before", "after"))  # fmt: skip
    assert after["y"] > before["y"] + before["height"] and wide(page) <= 0


def test_versions_of_a_draft_are_compared_at_once(visit, served):
    ann, ids = served.people["ann"], served.ids
    draft = open_draft(
        served.studio, ann, game_id=ids["game"], scene_id=ids["scene"], key="d",
        character_id=ids["character"],
    )  # fmt: skip
    for version, edit in enumerate((Edit(0, 0, TEXT), Edit(0, 3, "A"))):
        key = str(version)
        save_draft(served.studio, ann, draft.id, key=key, base_version=version, edits=[edit])
    page = visit(f"/review?draft={draft.id}&version=1&with=2")
    page.wait_for_selector("#saving button")
    assert page.locator("#two del").all_inner_texts() == ["The"]
    assert page.locator("#two ins").all_inner_texts() == ["A"]


def test_what_will_not_do_is_said_nothing_is_lost_and_it_can_be_stopped(visit, tmp_path):
    page = visit("/review", viewport={"width": 390, "height": 844})
    story = page.get_by_label("Story", exact=True)
    story.fill("x" * 100_001)
    assert "100,001 of 100,000" in page.inner_text("#count-0.over")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#refusal:not(:empty)")
    assert "100,000 are read" in page.inner_text("#refusal")
    assert len(story.input_value()) == 100_001 and wide(page) <= 0
    bad = {"name": "tale.pdf", "mimeType": "application/pdf", "buffer": b"%PDF-1.7"}
    page.get_by_label("File of story").set_input_files(bad)
    page.wait_for_selector(".draft [role=alert]:not(:empty)")
    assert "a PDF" in page.inner_text(".draft [role=alert]:not(:empty)")
    good = {"name": "tale.md", "mimeType": "text/markdown", "buffer": f"# Tale\n\n{TEXT}".encode()}
    page.get_by_label("File of story").set_input_files(good)
    page.wait_for_selector("#text-0[data-title='tale.md']")
    assert story.input_value().startswith("Tale\n\nThe lamp")
    story.fill(TEXT * 60)
    page.keyboard.press("Control+Enter")
    page.get_by_role("button", name="Stop").click()
    page.wait_for_selector("#refusal:not(:empty)")
    assert page.inner_text("#refusal") == "Stopped."
    # The reader is free again, for a story that is shorter.
    story.fill(TEXT)
    read(page)
    assert wide(page) <= 0
