"""Pages that draw pictures, as a reader meets them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.reports.report import write_report
from fabula.reports.review_page import review_page
from fakes.crafted_pictures import pillow
from fakes.grounding import ToldGrounder, plain_nouns, told
from fakes.picture_runs import write_picture_run
from fakes.pictured import STORY, made_up_pictured, made_up_sights, pictured_review

expect = pytest.importorskip("playwright.sync_api").expect

__all__ = ["plain_nouns", "told"]

pytestmark = pytest.mark.browser
pillow()

WIDE = {"viewport": {"width": 1280, "height": 900}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
WIDER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
STROKE = "one => getComputedStyle(one).stroke"


@pytest.fixture(scope="module")
def review(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "review.html"
    notes = ("a drawing: what is seen in it is guessed",)
    pictured = made_up_pictured(sights=made_up_sights(notes))
    path.write_text(review_page(pictured_review(pictured)), encoding="utf-8")
    return path


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_without_a_script_a_noun_leads_to_its_region_and_the_region_back(
    open_page, review: Path, size: dict[str, object]
) -> None:
    page = open_page(review, java_script_enabled=False, **size)
    page.get_by_role("link", name="kite", exact=False).first.click()
    badge = page.get_by_role("link", name="Region 2: kite, 64 % sure")
    expect(badge).to_be_in_viewport()
    expect(page.get_by_role("img", name="Picture 1, beach.jpg: dog, kite, person")).to_be_visible()
    badge.click()
    entry = page.locator("#entry-0-0-1")
    expect(entry).to_be_in_viewport()
    entry.get_by_role("link", name="string").click()
    expect(page.locator(".noun:target")).to_have_text("string.31")
    expect(page.locator(".noun:target")).to_be_in_viewport()


def test_pointing_at_a_noun_lights_its_region_up_and_the_other_way_round(
    open_page, review: Path
) -> None:
    page = open_page(review, **WIDE)
    box = page.locator('[data-at="0-0-0"] .box')
    quiet = box.evaluate(STROKE)
    noun = page.locator("a.noun", has_text="dog")
    noun.hover()
    lit = box.evaluate(STROKE)
    assert lit != quiet
    assert page.locator('[data-at="0-0-1"] .box').evaluate(STROKE) == quiet
    page.locator("h1").hover()
    assert box.evaluate(STROKE) == quiet
    before = noun.evaluate("one => getComputedStyle(one).backgroundColor")
    page.locator("#region-0-0-0").focus()
    assert noun.evaluate("one => getComputedStyle(one).backgroundColor") != before
    # The small box is on top of that of the whole picture.
    page.locator('[data-at="0-0-0"] .box').hover()
    assert box.evaluate(STROKE) == lit


def test_boxes_lie_where_the_regions_are_whatever_the_width(open_page, review: Path) -> None:
    for size in (WIDE, PHONE):
        page = open_page(review, **size)
        picture = page.locator("#picture-0-0 img").bounding_box()
        box = page.locator('[data-at="0-0-0"] .box').bounding_box()
        shares = (
            (box["x"] - picture["x"]) / picture["width"],
            (box["y"] - picture["y"]) / picture["height"],
            box["width"] / picture["width"],
            box["height"] / picture["height"],
        )
        assert shares == pytest.approx((0.1, 0.6, 0.3, 0.3), abs=0.02)
        assert picture["width"] / picture["height"] == pytest.approx(4 / 3, rel=0.01)
        assert page.evaluate(WIDER) == 0


def test_nothing_bars_the_way_on_a_review_with_pictures(
    open_page, review: Path, check_accessibility
) -> None:
    page = open_page(review, **WIDE)
    for fold in page.locator("#pictures details").all():
        fold.locator("summary").click()
    check_accessibility(page)


def test_odd_pictures_and_long_words_stay_within_a_phone(open_page, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    story = Story("x" * 200, f"{'y' * 400} dog. " + STORY.text, images=STORY.images)
    path.write_text(review_page(pictured_review(made_up_pictured(story))), encoding="utf-8")
    assert open_page(path, **PHONE).evaluate(WIDER) == 0


def test_a_reader_of_a_report_goes_from_a_story_to_its_pictures(
    open_page, tmp_path: Path, told: ToldGrounder, check_accessibility
) -> None:
    report = write_report(write_picture_run(tmp_path, told))
    page = open_page(report, **WIDE)
    page.locator("a.story-link", has_text="bob-ab").click()
    page.wait_for_selector("#reader[open]")
    page.get_by_role("link", name="See it beside its pictures").click()
    expect(page.locator("#reader")).not_to_be_visible()
    assert page.url.endswith("#telling-0-1")
    expect(page.locator("#telling-0-1 h3")).to_be_in_viewport()
    assert re.search(r"bob-ab\s+bob", page.locator("#telling-0-1 h3").inner_text())
    check_accessibility(page)
