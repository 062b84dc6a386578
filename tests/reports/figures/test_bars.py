from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import pytest

from fabula.reports.figures.bars import Bar, draw_bars, draw_columns
from fabula.reports.figures.curves import draw_curves
from fabula.reports.figures.drawing import (
    NARROW,
    make_standalone,
    shorten_names,
    width_of,
)
from fabula.reports.figures.intervals import Interval, draw_intervals

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>"
LONG = "a-machine-with-a-name-that-goes-on-" * 6


def elements(svg: str, name: str, kind: str = "") -> list[ElementTree.Element]:
    found = ElementTree.fromstring(svg).iter(f"{SVG}{name}")
    return [one for one in found if not kind or kind in one.get("class", "").split()]


def texts(svg: str) -> list[str | None]:
    return [text.text for text in elements(svg, "text")]


def widths(svg: str) -> list[float]:
    return [float(bar.attrib["width"]) for bar in elements(svg, "rect", "bar")]


def test_bars_begin_at_zero_and_are_as_long_as_they_count() -> None:
    svg = draw_bars(
        [Bar("noun", {"n": 30}), Bar("verb", {"n": 15}), Bar("other", {"n": 0})],
        title="Kept",
        x_label="%",
    )
    long, half = widths(svg)
    assert long == pytest.approx(2 * half, abs=0.2)
    first, second = elements(svg, "rect", "bar")
    assert first.get("x") == second.get("x")
    assert [text for text in texts(svg) if text in {"noun", "verb", "other"}] == [
        "noun",
        "verb",
        "other",
    ]
    assert ElementTree.fromstring(svg).findtext(f"{SVG}desc") == "noun 30; verb 15; other 0"


def test_parts_of_a_row_follow_each_other_and_are_named_by_a_legend() -> None:
    rows = [Bar("one", {"done": 6, "failed": 2}), Bar("two", {"done": 4, "failed": math.nan})]
    svg = draw_bars(rows, title="t", x_label="suggestions")
    key, other_key, done, failed, second = elements(svg, "rect", "bar")
    assert (key.get("class"), other_key.get("class")) == ("bar s0", "bar s1")
    end = float(done.attrib["x"]) + float(done.attrib["width"])
    assert end == pytest.approx(float(failed.attrib["x"]), abs=0.2)
    assert done.findtext(f"{SVG}title") == "one, done: 6"
    assert {"done", "failed", "8", "4"} <= set(texts(svg))
    told = draw_bars([Bar("one", {"known": 63, "new": 27}, text="63")], title="t", x_label="%")
    assert "63" in texts(told) and "90" not in texts(told)
    assert float(second.attrib["width"]) == pytest.approx(4 / 6 * float(done.attrib["width"]), 0.01)


def test_a_row_without_a_value_says_why_and_has_no_bar() -> None:
    svg = draw_bars([Bar("one", {"n": math.nan}, "no words")], title="t", x_label="%")
    assert widths(svg) == [] and "no words" in texts(svg)
    assert ElementTree.fromstring(svg).findtext(f"{SVG}desc") == "one no words"


@pytest.mark.parametrize("width", [NARROW, 860])
def test_long_names_are_cut_and_nothing_leaves_the_figure(width: int) -> None:
    rows = [Bar(f"{number}-{LONG}", dict.fromkeys((LONG, "b", "c"), 3)) for number in range(12)]
    svg = draw_bars(rows, title="t", x_label="x", width=width)
    for bar in elements(svg, "rect", "bar"):
        assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= width
    assert sum(bool(text and text.endswith("…")) for text in texts(svg)) >= 12


def test_columns_leave_out_labels_that_would_touch() -> None:
    labels = [str(number) for number in range(1, 201)]
    svg = draw_columns(
        labels, [float(number) for number in range(200)], title="t", x_label="sentence",
        y_label="kept", width=NARROW,
    )  # fmt: skip
    shown = [text for text in texts(svg) if text in labels]
    assert "1" in shown and len(shown) < 60
    assert len(widths(svg)) == 199
    empty = draw_columns([], [], title="t", x_label="x", y_label="y")
    assert widths(empty) == []


def test_text_in_figures_is_text_and_no_figure_has_a_style_of_its_own() -> None:
    drawn = [
        draw_bars([Bar(HOSTILE, {HOSTILE: 1, "b": 1}, HOSTILE)], title=HOSTILE, x_label=HOSTILE),
        draw_columns([HOSTILE], [1], title=HOSTILE, x_label=HOSTILE, y_label=HOSTILE),
    ]
    for svg in drawn:
        assert elements(svg, "script") == [] and "style=" not in svg
        alone = make_standalone(svg)
        assert ".fig .bar.s0 {fill: #0067a8; }" in alone.replace("{ ", "{")
        assert "var(" not in alone


def test_curves_over_names_show_them_once_each_and_one_place_will_do() -> None:
    months = ["2026-01", "2026-02", "2026-03"]
    svg = draw_curves(
        [0, 1, 2], {"one": [1, math.nan, 3]}, title="t", x_label="month", y_label="USER",
        x_names=months,
    )  # fmt: skip
    assert [text for text in texts(svg) if text in months] == months
    assert elements(svg, "circle")[1].findtext(f"{SVG}title") == "one, 2026-03: 3.000"
    single = draw_curves([0], {"one": [1.0]}, title="t", x_label="x", y_label="y", x_names=["May"])
    assert "May" in texts(single) and "nan" not in single
    narrow = draw_curves(
        list(range(40)), {"one": [1.0] * 40}, title="t", x_label="x", y_label="y",
        x_names=[f"2026-{n:02}-01" for n in range(40)], width=NARROW,
    )  # fmt: skip
    assert sum(bool(text and text.startswith("2026-")) for text in texts(narrow)) <= 5


def test_intervals_have_the_decimals_that_are_asked_for() -> None:
    svg = draw_intervals([Interval("a", 15.63, 12.1, 19.2)], title="t", x_label="x", decimals=1)
    assert "15.6" in texts(svg)
    assert ElementTree.fromstring(svg).findtext(f"{SVG}desc") == "a 15.6 (12.1 to 19.2)"


def test_names_that_differ_at_their_end_can_be_told_apart_when_cut() -> None:
    names = [f"{LONG}{number}" for number in range(12)]
    cut = shorten_names([*names, "short"], 100)
    assert len(set(cut.values())) == 13 and cut["short"] == "short"
    assert all(width_of(shown) <= 100 for shown in cut.values())
    assert cut[names[3]].startswith("a-m") and cut[names[3]].endswith("3")


def test_parts_have_the_colours_of_their_series_and_totals_may_be_left_out() -> None:
    rows = [Bar("words", {"person": 60, "machine": 40})]
    drawing = {"title": "Shares", "x_label": "%", "high": 100}
    svg = draw_bars(rows, **drawing, series={"person": 7, "machine": 0}, totals=False)
    kinds = [bar.get("class") for bar in elements(svg, "rect", "bar")]
    # The legend's two, then the row's two.
    assert kinds == ["bar s7", "bar s0", "bar s7", "bar s0"]
    assert texts(draw_bars(rows, **drawing)).count("100") == 2
    # What is left is the end of the axis.
    assert texts(svg).count("100") == 1
