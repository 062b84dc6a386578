"""The page of a review as a writer meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.reports.review import render_review
from fakes.review import NOTE, TEXT, made_up_review

expect = pytest.importorskip("playwright.sync_api").expect

pytestmark = pytest.mark.browser

WIDE = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
GROUND = "one => getComputedStyle(one).backgroundColor"


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("review") / "review.html"
    path.write_text(render_review("html", made_up_review(note=NOTE)), encoding="utf-8")
    return path


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_a_quote_leads_to_its_place_and_a_number_back_to_its_comment(
    open_page, review: Path, size: dict[str, object]
) -> None:
    page = open_page(review, java_script_enabled=False, **size)
    mark = page.locator('.story [data-of~="aspect-scene"]')
    page.locator("#aspect-scene .quote").click()
    expect(mark).to_be_in_viewport()
    page.locator('.story a.note[href="#aspect-scene"]').click()
    expect(page.locator("#aspect-scene h3")).to_be_in_viewport()
    page.locator("#flow a", has_text="Show it in the story").click()
    expect(page.locator(".story a.weakest")).to_be_in_viewport()


def test_pointing_at_a_comment_lights_its_words_up(open_page, review: Path) -> None:
    page = open_page(review, **WIDE)
    mark = page.locator('.story [data-of~="aspect-scene"]').first
    before = mark.evaluate(GROUND)
    page.locator("#aspect-scene h3").hover()
    page.wait_for_timeout(300)
    assert mark.evaluate(GROUND) != before
    page.locator("h1").hover()
    page.locator("#aspect-opening .quote").focus()
    page.wait_for_timeout(300)
    lit = page.locator('.story [data-of~="aspect-opening"]').first
    assert lit.evaluate(GROUND) != before == mark.evaluate(GROUND)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "text", [TEXT, "word " * 3 + "x" * 3000, TEXT * 4], ids=["tale", "x", "long"]
)
def test_a_phone_does_not_scroll_sideways(
    open_page, tmp_path: Path, scheme: str, text: str
) -> None:
    path = tmp_path / "page.html"
    found = made_up_review(Story("a" * 60, text), weakest=2)
    path.write_text(render_review("html", found), encoding="utf-8")
    page = open_page(path, color_scheme=scheme, **PHONE)
    assert page.evaluate(WIDER) == 0


def test_the_keyboard_reaches_the_story_first_and_every_comment(open_page, review: Path) -> None:
    page = open_page(review, **WIDE)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the story"
    page.keyboard.press("Enter")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.getAttribute('href')"))
    assert {"#at-opening", "#at-scene", "#at-ending", "#flow"} <= reached


def test_hostile_texts_are_shown_not_run(open_page, tmp_path: Path) -> None:
    bad = "</style><script>window.bad=1</script><img src=x onerror='window.bad=1'>. Two. Three."
    path = tmp_path / "page.html"
    path.write_text(render_review("html", made_up_review(Story(bad, bad, bad))), encoding="utf-8")
    page = open_page(path, **WIDE)
    assert page.evaluate("window.bad") is None
    assert "<script>window.bad=1</script>" in page.locator(".story").inner_text()
