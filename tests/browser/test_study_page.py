"""The report of a study as a reader meets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fabula.reports.figures.curves import draw_curves
from fabula.reports.figures.drawing import NARROW
from fabula.reports.figures.heatmap import draw_heatmap
from fabula.reports.figures.intervals import Interval, draw_intervals
from fabula.reports.study_blocks import FigureBlock, Section, Words
from fabula.reports.study_page import write_study
from fakes.study import MadeUp, make_study, study_sections

expect = pytest.importorskip("playwright.sync_api").expect

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 380, "height": 800}, "has_touch": True, "is_mobile": True}
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def made() -> MadeUp:
    return make_study(items=4, columns=12, words=60)


@pytest.fixture(scope="module")
def study(made: MadeUp, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study(
        tmp_path_factory.mktemp("study"),
        title="A made-up study",
        lead=Words(["What this is about."]),
        sections=study_sections(made, maps=3),
        stories=made.stories,
        facts={"stories": 40},
        signatures=["rouge|rev:1"],
    )


def test_one_tab_is_shown_at_a_time_by_mouse_and_keyboard(open_page, study: Path) -> None:
    page = open_page(study)
    panels = page.locator(".tab-panel")
    assert [panels.nth(n).is_visible() for n in range(3)] == [True, False, False]
    page.get_by_role("tab", name="map 1").click()
    assert [panels.nth(n).is_visible() for n in range(3)] == [False, True, False]
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="map 2").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowRight")
    assert panels.nth(0).is_visible() and not panels.nth(2).is_visible()


def test_a_table_sorts_numbers_as_numbers_and_the_undefined_last(open_page, study: Path) -> None:
    page = open_page(study)
    page.locator("table.sortable th", has_text="r").nth(1).get_by_role("button").click()
    cells = page.locator("table.sortable tbody td:nth-child(2)").all_inner_texts()
    numbers = [float(text.replace("−", "-")) for text in cells if text != "–"]
    assert numbers == sorted(numbers, reverse=True) and cells[-1] == "–" and len(numbers) == 11
    page.keyboard.press("Enter")
    assert page.locator("table.sortable tbody td:nth-child(2)").last.inner_text() == "–"
    assert page.locator("table.sortable [aria-sort=ascending]").count() == 1


def cell(page, row: int, column: int) -> dict[str, float]:
    """Place of a cell of the first map in the window."""
    figure = page.locator("svg.heatmap").first
    figure.scroll_into_view_if_needed()
    return figure.evaluate(
        """(figure, [row, column]) => {
          const frame = figure.getBoundingClientRect();
          const { left, top, cellWidth, cellHeight } = figure.dataset;
          const x = frame.left + Number(left) + (column + 0.5) * cellWidth;
          return { x, y: frame.top + Number(top) + (row + 0.5) * cellHeight };
        }""",
        [row, column],
    )


def hint_over(page, row: int, column: int, words: str) -> list[str]:
    """What is told with the pointer over a cell; the page may still be scrolling there."""
    hint = page.locator("#hint")
    for _ in range(20):
        place = cell(page, row, column)
        page.mouse.move(place["x"], place["y"])
        page.mouse.move(place["x"] + 1, place["y"])
        if hint.is_visible() and words in hint.inner_text():
            break
        page.wait_for_timeout(100)
    return hint.inner_text().split("\n")


def test_a_cell_tells_its_row_column_and_value(open_page, study: Path, made: MadeUp) -> None:
    page = open_page(study, viewport={"width": 1200, "height": 900})
    names = page.locator("svg.heatmap").first.locator(".rows text").all_text_contents()
    row, column = 2, 5
    value, labels = hint_over(page, row, column, f"{names[row]} × {names[column]}")
    found = made.correlations[made.labels.index(names[row]), made.labels.index(names[column])]
    assert value == f"{found:.3f}".replace("-", "−")
    assert labels == f"{names[row]} × {names[column]}"
    lost = names.index(made.labels[7])
    assert hint_over(page, lost, lost, "undefined")[0].startswith("undefined")
    page.mouse.move(2, 2)
    page.locator("#hint").wait_for(state="hidden")


def test_arrow_keys_walk_over_the_cells(open_page, study: Path) -> None:
    page = open_page(study, viewport={"width": 1200, "height": 900})
    figure = page.locator("svg.heatmap").first
    names = figure.locator(".rows text").all_text_contents()
    figure.focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown"):
        page.keyboard.press(key)
    assert f"{names[1]} × {names[1]}" in page.locator("#hint").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator("#hint").is_visible()


def test_a_point_opens_its_story_with_texts_ratings_and_scores(
    open_page, study: Path, made: MadeUp
) -> None:
    page = open_page(study)
    story = made.stories.stories[11]
    page.locator('.cloud a[data-story="11"] path').click(force=True)
    page.wait_for_selector("#reader[open]")
    assert page.locator("#reader-title").inner_text() == story.id
    assert page.locator("#reader-prompt").inner_text() == story.prompt
    assert page.locator("#reader-text").inner_text() == story.text
    assert page.locator("#reader-reference").inner_text() == story.references[0]
    given = [
        [rating.value for rating in made.stories.ratings
         if rating.story == story.id and rating.scorer == f"human:rater {rater}"]
        for rater in (1, 2, 3)
    ]  # fmt: skip
    rows = page.locator("#reader-ratings tbody tr")
    assert [
        [float(t) for t in rows.nth(n).locator("td").all_inner_texts()] for n in range(3)
    ] == given
    mean = sum(row[0] for row in given) / 3
    assert page.locator("#reader-ratings tfoot td").first.inner_text() == f"{mean:.2f}"
    assert page.locator("#reader-scores div").count() == 12
    page.keyboard.press("Escape")
    assert not page.locator("#reader").is_visible()
    assert page.evaluate("document.activeElement.dataset.story") == "11"


def test_points_are_walked_and_opened_by_keyboard(open_page, study: Path, made: MadeUp) -> None:
    page = open_page(study)
    page.locator('.cloud a[tabindex="0"]').focus()
    for key in ("ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    order = made.stories.values[:, 0].argsort()
    # What a key does is seen when the page has heard that its address has changed.
    title = page.locator("#reader-title")
    expect(title).to_have_text(made.stories.stories[order[2]].id)
    expect(page.locator("#position")).to_have_text("3 of 40")
    page.keyboard.press("ArrowRight")
    expect(title).to_have_text(made.stories.stories[order[3]].id)
    page.keyboard.press("Escape")
    page.wait_for_function(f"document.activeElement.dataset.story === '{order[3]}'")
    page.wait_for_function("location.hash === '#stories'")


def test_a_link_leads_to_a_story(open_page, study: Path) -> None:
    page = open_page(study, "#story=02-inkwell")
    expect(page.locator("#reader-title")).to_have_text("02-inkwell")


def test_points_follow_metric_aspect_and_systems(open_page, study: Path) -> None:
    page = open_page(study)
    assert page.locator(".coefficients").inner_text().split() == (
        "Pearson 0.432 Spearman 0.250 Kendall 0.125 over all stories".split()
    )
    before = page.locator(".cloud").inner_html()
    page.get_by_label("Metric (across)").select_option(label="chrf(n=1) ↑")
    assert page.locator(".cloud").inner_html() != before
    assert "39 of 40 stories; 1 without a value" in page.locator(".count").inner_text()
    assert page.locator(".coefficients").inner_text() == ""
    page.get_by_label("People (up)").select_option("surprise")
    assert "surprise, mean of raters" in page.locator(".cloud").text_content()
    page.locator(".chips label", has_text="inkwell").click()
    assert page.locator(".cloud a").count() == 35
    page.get_by_role("button", name="all / none").click()
    assert page.locator(".cloud a").count() == 39


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_does_not_scroll_sideways(open_page, study: Path, scheme: str) -> None:
    page = open_page(study, color_scheme=scheme, **PHONE)
    assert page.evaluate(WIDE) == 0
    page.locator('.cloud a[data-story="3"]').dispatch_event("click")
    page.wait_for_selector("#reader[open]")
    reader = "document.getElementById('reader')"
    assert page.locator("#reader").is_visible()
    assert page.evaluate(f"{reader}.scrollWidth - {reader}.clientWidth") == 0


def test_print_shows_every_panel_and_no_controls(open_page, study: Path) -> None:
    page = open_page(study, viewport={"width": 700, "height": 990})
    page.emulate_media(media="print")
    assert page.locator(".tab-panel").nth(2).is_visible()
    assert not page.locator(".tab-bar").is_visible()
    assert page.evaluate(WIDE) == 0


def make_figures(folder: Path) -> Path:
    """A study of a chart of every kind, and a map that is wider than any screen."""
    rows = [Interval(f"a metric with a long name {n}", n / 20, n / 20 - 0.1, n / 20 + 0.1)
            for n in range(12)]  # fmt: skip
    names = [f"metric {n}" for n in range(150)]
    matrix = np.corrcoef(np.random.default_rng(0).normal(size=(150, 40)))
    charts = {
        "intervals": tuple(
            draw_intervals(rows, title="r", x_label="r", width=w) for w in (860, NARROW)
        ),
        "curves": tuple(
            draw_curves(
                [4, 5, 6], {"one": [0.1, 0.5, 0.2]}, title="c", x_label="k", y_label="r", width=w
            )
            for w in (760, NARROW)
        ),
        "map": (draw_heatmap(matrix, names, names, title="Map"), ""),
    }
    blocks = [FigureBlock(name, svg, name, narrow=narrow) for name, (svg, narrow) in charts.items()]
    sections = [Section(block.name, block.name, [block]) for block in blocks]
    return write_study(folder, title="Charts", lead=Words([]), sections=sections)


def test_charts_are_whole_at_400_px_and_readable(open_page, tmp_path: Path) -> None:
    page = open_page(make_figures(tmp_path), viewport={"width": 400, "height": 900})
    figures = page.locator("svg.fig:visible")
    assert figures.count() == 3 and page.evaluate(WIDE) == 0
    for figure in figures.all():
        room = figure.evaluate("one => one.parentElement.clientWidth")
        assert figure.bounding_box()["width"] <= room
    letters = page.locator(".for-phone text:visible").first.bounding_box()["height"]
    assert letters > 10


def test_a_map_that_was_made_smaller_can_be_seen_in_full(open_page, tmp_path: Path) -> None:
    page = open_page(make_figures(tmp_path), viewport={"width": 1400, "height": 900})
    figure = page.locator("svg.heatmap")
    small = figure.bounding_box()["width"]
    page.get_by_role("button", name="Full size").click()
    assert figure.bounding_box()["width"] > 1.3 * small and page.evaluate(WIDE) == 0


def test_a_study_uses_the_width_of_a_screen_and_its_contents_stay(
    open_page, tmp_path: Path
) -> None:
    page = open_page(make_figures(tmp_path), viewport={"width": 1400, "height": 900})
    room = page.locator("main").bounding_box()["width"]
    assert room > 1050
    assert page.locator("svg.intervals:visible").bounding_box()["width"] > 0.95 * room
    page.locator(".contents a", has_text="map").click()
    page.wait_for_function("scrollY > 200")
    assert page.locator(".contents").bounding_box()["y"] >= 0
    assert page.locator(".contents").evaluate("it => getComputedStyle(it).position") == "sticky"


@pytest.mark.slow
def test_a_large_study_opens_within_two_seconds(open_page, tmp_path: Path) -> None:
    made = make_study()
    sections = study_sections(made, maps=24)
    path = write_study(
        tmp_path, title="Large", lead=Words([]), sections=sections, stories=made.stories
    )
    page = open_page(path)
    opened_ms = page.evaluate(
        "performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd"
    )
    print(f"\n{path.stat().st_size / 1e6:.2f} MB open in {opened_ms / 1000:.2f} s")
    assert page.locator(".cloud a").count() == 960 and opened_ms < 2000
