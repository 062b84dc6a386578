"""A campaign's live page under a researcher's hands: what is decided on it is seen on it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fabula.studio.campaigns.definition import Question
from fakes.campaign_work import (
    make_campaign,
    make_scales,
    make_stories,
    make_work,
    put_work,
    spread,
)

pytestmark = pytest.mark.browser

# Two questions of six stories by two systems, as three raters answer them.
ROWS = ([4, 3, 5, 3, 4, 3], [5, 3, 4, 2, 4, 2], [4, 2, 5, 3, 5, 3])


@pytest.fixture
def rated(served):
    """Three raters on six stories, each task done in three seconds, which is too fast."""
    questions = (*make_scales("enjoyment", "flow"), Question("why", "text", "Why?"))
    table = {
        f"r{rater}": {
            f"s{story}": {"enjoyment": value, "flow": 6 - value, "why": f"Said {rater}.{story}."}
            for story, value in enumerate(row)
        }
        for rater, row in enumerate(ROWS, 1)
    }
    work = make_work(make_campaign(questions), make_stories(6), spread(table), gap_s=3)
    put_work(served.studio, served.people["dan"], replace(work, name="tales"))


def expect(page, words: str) -> None:
    """Wait until the page says how many ratings are in."""
    page.wait_for_selector(f"#progress .finding:has-text('{words}')")


def decide(place, button: str | re.Pattern[str], reason: str) -> None:
    """Give a reason, and press."""
    place.get_by_label("Reason").fill(reason)
    place.get_by_role("button", name=button).click()


def judge_a_task(page, check) -> None:
    """Reject the first task that is flagged, and let it count again."""
    flagged = page.locator("#flags .flagged > li:has(details)").first
    flagged.locator("summary").click()
    decide(flagged, "Reject", "three seconds")
    expect(page, "17 of 18 ratings are in")
    rejected = page.locator("#flags li.left-out:has(details)").first
    assert "rejected" in rejected.inner_text()
    assert page.locator("#remarks .left-out").count() == 1
    check(page)
    rejected.locator("summary").click()
    decide(rejected, "Restore", "a fast reader")
    expect(page, "18 of 18 ratings are in")


def judge_a_rater(page) -> None:
    """Exclude the second rater, and take them in again."""
    for button, reason, words in (
        (re.compile("Exclude"), "guesses", "12 of 18 ratings are in"),
        (re.compile("Take in again"), "does not", "18 of 18 ratings are in"),
    ):
        page.get_by_text("Exclude a rater, or take one in again").click()
        decide(page.locator("#flags li", has=page.get_by_role("button", name="r2")), button, reason)
        expect(page, words)


def test_what_a_researcher_decides_is_seen_at_once(visit, served, rated, check_accessibility):
    page = visit("/campaigns", "dan")
    check_accessibility(page)
    page.get_by_role("link", name=re.compile("Tales")).click()
    expect(page, "18 of 18 ratings are in (100 %)")
    # By hand: the means of system 0 are those of (4+5+4)/3, (5+4+5)/3 and (4+4+5)/3.
    cells = page.locator("#systems tbody tr", has_text="enjoyment").first.locator("th, td")
    assert cells.all_text_contents()[:4] == ["system 0", "enjoyment", "3", "4.44"]
    judge_a_task(page, check_accessibility)
    judge_a_rater(page)
    page.get_by_label("Another way in").select_option("prolific")
    page.get_by_role("button", name="Make it").click()
    link = page.locator("#doors code.link", has_text="PROLIFIC_PID={{%PROLIFIC_PID%}}")
    link.wait_for()
    assert link.inner_text().startswith(f"{served.url}/campaigns/tales/")
    page.get_by_role("button", name="Pause it").click()
    page.get_by_role("button", name="Open it").click()
    page.get_by_role("button", name="Pause it").wait_for()


def test_the_live_page_fits_a_phone(visit, rated):
    page = visit("/campaigns/tales", "dan", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
