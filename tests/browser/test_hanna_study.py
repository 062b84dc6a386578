"""HANNA's study as a reader meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.hanna_figures import hanna
from fakes.hanna_study import hanna_study

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PHONE = {"viewport": {"width": 380, "height": 800}, "has_touch": True, "is_mobile": True}
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="session")
def study(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hanna_study(shared, tmp_path_factory).folder / "study.html"


def test_it_opens_at_once_with_every_part(open_page, study: Path) -> None:
    page = open_page(study)
    opened_ms = page.evaluate(
        "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    )
    assert opened_ms < 6000 and study.stat().st_size < 15_000_000
    links = page.locator("nav a").evaluate_all("found => found.map(one => one.hash.slice(1))")
    assert {"standing", "example", "raters", "strongest", "top_k", "comparison"} <= set(links)
    for id in links:
        assert page.locator(f"#{id}").count() == 1


def test_a_point_opens_its_story_with_its_ratings(open_page, study: Path, shared: Path) -> None:
    page = open_page(study)
    assert page.locator(".cloud a").count() == 960
    page.locator('.cloud a[data-story="123"]').dispatch_event("click")
    page.wait_for_selector("#reader[open]")
    title = page.locator("#reader-title").inner_text()
    dataset = hanna(shared)
    [story] = [one for one in dataset.stories if one.id == title]
    assert story.system != "Human"
    assert page.locator("#reader-text").inner_text().split() == story.text.split()
    rows = page.locator("#reader-ratings tbody tr")
    shown = [[float(t) for t in rows.nth(n).locator("td").all_inner_texts()] for n in range(3)]
    given: dict[str, list[float]] = {}
    for one in dataset.ratings:
        if one.story == title:
            given.setdefault(one.scorer, []).append(one.value)
    assert rows.count() == 3 and sorted(map(sorted, shown)) == sorted(map(sorted, given.values()))
    page.keyboard.press("Escape")
    assert not page.locator("#reader").is_visible()


def test_tabs_of_every_part_show_one_panel_at_a_time(open_page, study: Path) -> None:
    page = open_page(study)
    bars = page.locator("[role=tablist]")
    assert bars.count() > 10
    for number in range(0, bars.count(), 3):
        tabs = bars.nth(number).get_by_role("tab")
        last = tabs.nth(tabs.count() - 1)
        last.click()
        chosen = bars.nth(number).locator("[role=tab][aria-selected=true]")
        assert chosen.count() == 1
        panel = page.locator(f"[id='{last.get_attribute('aria-controls')}']")
        assert panel.is_visible()
        assert chosen.inner_text() == last.inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_does_not_scroll_sideways(open_page, study: Path, scheme: str) -> None:
    page = open_page(study, color_scheme=scheme, **PHONE)
    assert page.evaluate(WIDE) == 0
    tabs = page.get_by_role("tab")
    for number in range(0, tabs.count(), 7):
        tabs.nth(number).dispatch_event("click")
    assert page.evaluate(WIDE) == 0
    page.locator('.cloud a[data-story="7"]').dispatch_event("click")
    page.wait_for_selector("#reader[open]")
    reader = "document.getElementById('reader')"
    assert page.locator("#reader").is_visible()
    assert page.evaluate(f"{reader}.scrollWidth - {reader}.clientWidth") == 0
