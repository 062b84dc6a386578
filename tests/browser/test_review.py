"""The page of a review as a writer meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.core.story import Story
from fabula.reports.review import render_review
from fabula.reports.review_ranking import ReviewPages
from fabula.scoring.review import Ranking
from fabula.scoring.review.ranking import Candidate, rank_candidates
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


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_criteria_and_coherence_are_on_the_first_screens_before_the_story(
    open_page, review: Path, size: dict[str, object]
) -> None:
    page = open_page(review, **size)
    tops = [
        page.locator(place).bounding_box()["y"]
        for place in (".standing", "#criteria", "#coherence-head", "#repetition", ".story")
    ]
    assert tops == sorted(tops)
    # Within two screens, wherever the story ends.
    assert tops[2] < 2 * page.viewport_size["height"]
    assert page.locator("details.steps").get_attribute("open") is None


def test_the_bars_of_a_ranking_share_one_scale_and_stories_have_pages(
    open_page, tmp_path: Path
) -> None:
    known = [Candidate("a", 0.5, 100.0, (41.0, 100.0), 9.0), Candidate("a longer name", 0.3, 5.0)]
    ranking = Ranking(tuple(rank_candidates(known, error=0.3)))
    stories = [Story(one.story, TEXT) for one in known]
    pages = ReviewPages.choose(stories, tmp_path / "reviews", in_folder=True)
    for story in stories:
        pages.write_review(made_up_review(story), ranked=True)
    for size in (WIDE, PHONE):
        page = open_page(pages.write_ranking(ranking, "tales"), **size)
        boxes = [track.bounding_box() for track in page.locator(".ranking-table .track").all()]
        assert len({(box["x"], box["width"]) for box in boxes}) == 1
        assert page.evaluate(WIDER) == 0
        page.locator("a", has_text="a longer name").click()
        assert page.locator("h1").inner_text() == "a longer name"
        page.locator("a", has_text="All stories").click()
        assert page.locator("h1").inner_text() == "tales"


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
