"""The report as a reader meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from fabula.cli import cli
from fabula.core.score import Score
from fabula.core.story import Story
from fabula.core.table import ScoreTable
from fabula.reports.report import write_report
from fakes.runs import make_record, write_record

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the bundled examples."""
    folder = tmp_path_factory.mktemp("run")
    words = ["score", "examples", "-m", "rouge(n=1),repetition,user", "--no-cache", "-q"]
    done = CliRunner().invoke(cli, [*words, "-o", str(folder)])
    assert done.exit_code == 0, done.output
    return folder / "report.html"


def order_of_systems(page) -> list[list[str]]:
    tables = page.locator("#systems .screen table")
    return [
        tables.nth(number).locator("tbody th").all_inner_texts() for number in range(tables.count())
    ]


def test_a_column_sorts_the_better_first_by_mouse_and_keyboard(open_page, report: Path) -> None:
    page = open_page(report)
    head = page.locator("#systems .screen th", has_text="repetition").first
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    metrics, baselines = order_of_systems(page)
    assert metrics == baselines == ["scatter", "stray", "human", "loop"]
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert order_of_systems(page)[0] == ["loop", "human", "stray", "scatter"]
    assert page.locator("#systems [aria-sort]").count() == 1


def test_other_aspects_are_shown_on_demand(open_page, report: Path) -> None:
    page = open_page(report)
    recall = page.locator("#systems .screen th", has_text="recall").first
    assert not recall.is_visible()
    page.get_by_label("Show recall").check()
    assert recall.is_visible()


def test_stories_are_filtered_by_system_item_and_words(open_page, report: Path) -> None:
    page = open_page(report)
    count = page.locator("#count")
    assert count.inner_text() == "1–20 of 56 stories"
    page.locator("#system").select_option("loop")
    assert count.inner_text() == "1–14 of 14 stories"
    page.locator("#item").fill("elevator")
    assert count.inner_text() == "1–1 of 1 story"
    page.locator("#search").fill("no such words")
    assert count.inner_text() == "No story is like that."


def test_the_list_of_stories_has_pages_and_sorts(open_page, report: Path) -> None:
    page = open_page(report)
    page.get_by_role("button", name="Later").click()
    assert page.locator("#count").inner_text() == "21–40 of 56 stories"
    page.locator("table.stories th", has_text="repetition").get_by_role("button").click()
    values = page.locator("table.stories tbody tr td:nth-child(5)").all_inner_texts()
    assert [float(value) for value in values] == sorted(float(value) for value in values)


def test_a_story_is_opened_read_and_left_by_keyboard(open_page, report: Path) -> None:
    page = open_page(report)
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    title = page.locator("#reader-title")
    assert title.inner_text() == "lighthouse-loop"
    assert page.evaluate("location.hash") == "#story=lighthouse-loop"
    page.keyboard.press("j")
    assert title.inner_text() == "lighthouse-scatter"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("k")
    assert title.inner_text() == "lighthouse-human"
    assert page.locator("#previous").is_disabled()
    page.keyboard.press("Escape")
    assert not page.locator("#reader").is_visible()
    assert page.evaluate("document.activeElement.textContent") == "lighthouse-human"


def test_highlights_can_be_switched(open_page, report: Path) -> None:
    page = open_page(report, "#story=lighthouse-loop")
    marks = page.locator("#reader-text mark")
    assert "out of" in marks.all_inner_texts()
    page.get_by_label("words in a row").select_option("4")
    assert marks.count() == 0
    page.get_by_label("repeated in the story").check()
    assert "He walked over to the table" in marks.first.inner_text()
    assert page.locator("#reader-reference mark").count() == 0
    page.get_by_label("USER blocks").check()
    assert marks.count() > 0 and page.locator("#reader-reference mark").count() == marks.count()
    page.get_by_label("plain").check()
    assert marks.count() == 0


def test_a_link_leads_to_a_story_with_its_prompt_reference_and_scores(
    open_page, report: Path
) -> None:
    page = open_page(report, "#story=fox-debt-human")
    assert page.locator("#reader-title").inner_text() == "fox-debt-human"
    for part in ("#reader-prompt", "#reader-text", "#reader-reference", "#reader-scores"):
        assert len(page.locator(part).inner_text()) > 40


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_does_not_scroll_sideways(open_page, report: Path, scheme: str) -> None:
    page = open_page(report, color_scheme=scheme, **PHONE)
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0
    page.get_by_label("Show recall").check()
    assert page.evaluate(wide) == 0
    page.locator("a.story-link").first.click()
    page.wait_for_selector("#reader[open]")
    reader = "document.getElementById('reader')"
    assert page.evaluate(f"{reader}.scrollWidth - {reader}.clientWidth") == 0


def test_print_shows_tables_and_hides_what_only_a_screen_can_do(open_page, report: Path) -> None:
    page = open_page(report, viewport={"width": 700, "height": 990})
    page.emulate_media(media="print")
    assert page.locator(".printed table").first.is_visible()
    assert not page.locator("#stories").is_visible()
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) == 0


def test_hostile_texts_are_shown_not_run(open_page, tmp_path: Path) -> None:
    text = "</script><script>window.bad=1</script><img src=x onerror='window.bad=1'> \ud800 שלום"
    stories = [Story(f"{text} {n}", text, text, (text,), (), text, text) for n in range(3)]
    page = open_page(write_run(tmp_path, stories, raters=1))
    assert page.locator("#systems .screen tbody th").first.inner_text().startswith("</script>")
    page.locator("a.story-link").nth(1).click()
    page.wait_for_selector("#reader[open]")
    shown = page.locator("#reader-text").inner_text()
    assert shown.startswith("</script><script>window.bad=1") and "שלום" in shown
    assert page.locator("#position").inner_text() == "2 of 3"
    assert page.evaluate("window.bad") is None


@pytest.mark.slow
def test_ten_thousand_stories_open_within_three_seconds(open_page, tmp_path: Path) -> None:
    stories = [
        Story(
            f"story-{n}",
            f"The {n} lamps went out again. " * 60,
            prompt=f"Lamps, {n // 10} of them.",
            references=(f"Nobody lit the {n // 10} lamps. " * 60,),
            system=f"system-{n % 10}",
            item=f"item-{n // 10}",
        )
        for n in range(10_000)
    ]
    path = write_run(tmp_path, stories, raters=35)
    page = open_page(path)
    navigation = "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    opened_ms = page.evaluate(navigation)
    print(f"\n{path.stat().st_size / 1e6:.1f} MB open in {opened_ms / 1000:.2f} s")
    assert page.locator("#systems .screen table").first.is_visible()
    assert page.locator("#count").inner_text() == "1–20 of 10,000 stories"
    assert opened_ms < 3000 and path.stat().st_size < 15_000_000


def write_run(folder: Path, stories: list[Story], raters: int) -> Path:
    """Write the report of a run in which people scored every story."""
    scores = [
        Score(story.id, f"human:{rater}", "", (number * 7919 + rater) % 9973 / 9973)
        for rater in range(raters)
        for number, story in enumerate(stories)
    ]
    ScoreTable(stories, scores).save(folder)
    write_record(folder, make_record([], len(stories)))
    return write_report(folder)


CLIPPED = """() => [...document.querySelectorAll("svg, pre, h2, p, figure")]
  .filter((part) => part.getClientRects().length && !part.closest(".scroll, .unseen, .skip"))
  .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
  .map((part) => part.outerHTML.slice(0, 80))"""


def test_nothing_but_tables_goes_beyond_the_edge_of_a_phone(open_page, report: Path) -> None:
    page = open_page(report, viewport={"width": 400, "height": 900})
    assert page.evaluate(CLIPPED) == []


def test_the_contents_stay_in_view(open_page, report: Path) -> None:
    page = open_page(report, viewport={"width": 1400, "height": 900})
    contents = page.locator(".contents")
    assert contents.evaluate("part => getComputedStyle(part).position") == "sticky"
    page.locator(".contents a", has_text="Versions").click()
    page.wait_for_function("scrollY > 1000")
    box = contents.bounding_box()
    assert 0 <= box["y"] < 200 and page.get_by_role("link", name="Systems").is_visible()
    page.locator("#stories").scroll_into_view_if_needed()
    page.evaluate("document.getElementById('stories').scrollIntoView()")
    page.locator(".contents a[aria-current]", has_text="Stories").wait_for()


def test_the_contents_fold_on_a_phone_and_again_when_used(open_page, report: Path) -> None:
    page = open_page(report, viewport={"width": 400, "height": 900})
    links = page.locator(".contents a")
    assert not links.first.is_visible()
    page.mouse.wheel(0, 4000)
    page.wait_for_function("scrollY > 3000")
    page.locator(".contents summary").click()
    assert links.first.is_visible()
    links.filter(has_text="Stories").click()
    assert not links.first.is_visible()


def test_numbers_of_a_column_of_stories_have_as_many_decimals(open_page, report: Path) -> None:
    page = open_page(report)
    rows = page.locator("table.stories tbody tr").all()
    cells = [row.locator("td.num").all_inner_texts() for row in rows]
    for column in zip(*cells, strict=True):
        assert len({len(text.partition(".")[2]) for text in column}) == 1, column


def test_a_story_of_the_list_shows_how_it_begins(open_page, report: Path) -> None:
    page = open_page(report)
    first = page.locator("table.stories tbody tr").first
    words = first.locator(".preview").inner_text()
    first.locator("a.story-link").click()
    page.wait_for_selector("#reader[open]")
    assert len(words) > 40 and page.locator("#reader-text").inner_text().startswith(words[:40])


def test_metrics_are_called_as_people_call_them(open_page, report: Path) -> None:
    page = open_page(report)
    heads = page.locator("#systems .screen thead .metric").all_inner_texts()
    assert "ROUGE-1 F1" in heads and "Repetition" in heads
    assert page.locator("#sources .quote").inner_text().startswith("fabula ")
