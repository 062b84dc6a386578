"""The dashboard in a browser: figures and diffs after publishing, live, filters, files, keys."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from fakes.many_suggestions import add_many
from fakes.served_studio import QUICK
from fakes.studio_publishing import begin_game, publish, publish_unedited

pytestmark = pytest.mark.browser
PHONE = {"viewport": {"width": 390, "height": 844}}


@pytest.fixture
def two_entries(served):
    """Two entries of Ann's, by two machines."""
    ann = served.people["ann"]
    table = begin_game(served.studio, ann, "first")
    publish(served.studio, table, "a", "Grey ferry crossed rivers.", machine="one", fluency=5)
    publish(served.studio, table, "b", "Snow.", machine="two", fluency=2, comment="Too cold.")
    return table


def wait_for_text(page, text):
    page.wait_for_function("text => document.body.innerText.includes(text)", arg=text)


def test_what_is_published_appears_by_itself_and_waits_for_who_reads(visit, served):
    page = visit("/dashboard/", "dan")
    wait_for_text(page, "Live. Up to date")
    assert page.get_by_role("heading", name="Nothing has been published yet").is_visible()
    table = begin_game(served.studio, served.people["ann"], "live")
    publish(served.studio, table, "a", "Grey ferry crossed rivers.", machine="one", fluency=5)
    # USER and the diff, without anybody loading the page.
    wait_for_text(page, "authors kept 66.7 of 100 words")
    assert page.locator(".diff mark.diff-kept").first.inner_text().startswith("Grey ferry")
    assert "Wolves howled" in page.locator(".diff del.diff-deleted").inner_text()

    # Who reads in a part is not disturbed; other parts go on.
    page.locator("#user summary").click()
    page.evaluate("window.scrollTo(0, document.getElementById('user').offsetTop)")
    before = page.evaluate("document.getElementById('user').getBoundingClientRect().top")
    publish(served.studio, table, "b", "Snow fell.", machine="one", fluency=2)
    wait_for_text(page, "Paused while you read.")
    assert "authors kept 66.7" in page.locator("#user").inner_text()
    assert page.locator("article.edit").count() == 2
    assert page.locator("#user details").get_attribute("open") is not None
    now = page.evaluate("document.getElementById('user').getBoundingClientRect().top")
    assert abs(now - before) < 2
    page.locator("#user summary").click()
    page.evaluate("document.activeElement.blur()")
    wait_for_text(page, "authors kept 33.3 of 100 words")
    wait_for_text(page, "Live. Up to date")


def test_filters_stand_in_the_address_and_work_without_a_script(visit, served, two_entries):
    page = visit("/dashboard/", "dan", java_script_enabled=False)
    assert page.locator("[data-live]").inner_text().startswith("As of")
    assert page.get_by_role("link", name="Load again").is_visible()
    page.locator("summary", has_text="More filters").click()
    page.get_by_label("two", exact=True).check()
    page.get_by_label("Share of words").select_option("recall")
    page.get_by_role("button", name="Show").click()
    assert re.search(r"[?&]measure=recall(&|$)", page.url) and "machine=two" in page.url
    assert page.locator("article.edit").count() == 1
    assert page.locator(".comment").inner_text() == "Too cold."
    assert page.locator("#user svg:visible").count() == 1
    page.get_by_role("link", name="Clear").click()
    assert page.locator("article.edit").count() == 2
    page.get_by_label("Published from").fill("2031-01-01")
    page.get_by_role("button", name="Show").click()
    assert page.get_by_text("No published suggestion is like this.").is_visible()


def test_charts_tables_and_edits_are_downloaded(visit, open_page, two_entries, tmp_path):
    page = visit("/dashboard/?machine=one", "dan")
    for link, begins in {
        "SVG of How much is kept": "<svg",
        "CSV of How much is kept": "model,quality,n",
        "CSV of all edits": "suggestion,model",
        "All edits in one HTML file": "<!doctype html>",
    }.items():
        with page.expect_download() as waiting:
            page.get_by_role("link", name=link).click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        text = path.read_text("utf-8")
        assert text.startswith(begins) and "two" not in text
    assert path.name == "fabula-edits.html"
    # The file is read without the studio.
    assert open_page(path).locator("article.edit .diff-kept").count() >= 1


def test_a_game_of_machine_text_is_left_out_by_a_button(visit, served, two_entries):
    table = begin_game(served.studio, served.people["ann"], "machine")
    for key in "abc":
        publish_unedited(served.studio, table, key)
    page = visit("/dashboard/", "dan")
    assert page.locator(".facts dd").first.inner_text() == "5"
    page.get_by_role("button", name="Leave out The salt road machine").click()
    page.get_by_role("button", name="Take in again The salt road machine").wait_for()
    assert page.locator(".facts dd").first.inner_text() == "2"
    assert "left out of the figures" in page.locator("#flagged").inner_text()


def test_models_with_long_names_fit_a_page_of_any_width(visit, served):
    long = tuple(f"a-machine-with-a-name-that-goes-on-and-on-and-on-{n}" for n in range(2))
    add_many(served.studio, 60, machines=long, games_of=5)
    for width in (390, 1280):
        page = visit("/dashboard/", "dan", viewport={"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        charts = page.locator(".part .fig:visible")
        assert charts.count() >= 5
        for place in range(charts.count()):
            box = charts.nth(place).bounding_box()
            assert box["x"] >= 0 and box["x"] + box["width"] <= width
            # Letters are not scaled down until nobody can read them.
            assert box["width"] >= 0.85 * float(charts.nth(place).get_attribute("width"))
    # By keys: into a part's numbers.
    page.locator("#user summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "region"


def test_the_public_sees_ten_edits_and_no_names(browser, served, two_entries, tmp_path):
    from fabula.web.app import create_app
    from fakes.served_studio import serve_app

    open_to_all = replace(QUICK, public_dashboard=True)
    with serve_app(create_app(served.studio, open_to_all)) as address:
        page = browser.new_page(**PHONE)
        page.goto(f"{address}/dashboard/")
        assert page.locator("article.edit").count() == 2
        text = page.locator("body").inner_text()
        page.close()
    assert "Too cold." not in text and "The salt road" not in text
    assert "Names, games and comments are not shown." in text
