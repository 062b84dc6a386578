from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from fabula.reports.figures.curves import draw_curves, spread_labels
from fabula.reports.figures.drawing import (
    Scale,
    make_standalone,
    reach_of,
    round_step,
    short,
    shorten,
    tick_words,
    width_of,
)
from fabula.reports.figures.intervals import Band, Interval, draw_intervals
from fabula.reports.figures.violins import draw_violins, outline
from fabula.reports.numbers import number_text

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</svg><script>alert(1)</script>"


def elements(svg: str, name: str, kind: str = "") -> list[ElementTree.Element]:
    found = ElementTree.fromstring(svg).iter(f"{SVG}{name}")
    return [one for one in found if not kind or kind in one.get("class", "").split()]


def test_ticks_are_round_and_few() -> None:
    assert Scale(0, 1, 0, 100).ticks(5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert Scale(-0.31, 0.62, 0, 1).ticks(5) == pytest.approx([-0.2, 0, 0.2, 0.4, 0.6])
    assert round_step(950, 6) == 200
    assert (tick_words(-0.2, 0.2), tick_words(400, 200)) == ("−0.2", "400")


def test_numbers_have_a_true_minus_and_no_minus_zero() -> None:
    assert number_text(-0.1234, 3) == "−0.123" and number_text(-0.0001, 3) == "0.000"
    assert number_text(math.nan, 3) == "–" and short(-0.01) == "0"


def test_an_axis_reaches_beyond_its_values() -> None:
    assert reach_of([0, 1, math.nan], room=0.1) == pytest.approx((-0.1, 1.1))
    assert reach_of([]) == (0, 1) and reach_of([2.0]) == (1.5, 2.5)


def test_a_text_is_cut_to_its_room() -> None:
    assert shorten("short", 100) == "short"
    shown = shorten("a very long name of a metric", 80)
    assert shown.endswith("…") and width_of(shown) <= 80


def test_places_are_moved_apart_as_little_as_possible() -> None:
    # The pair at 10 and 11 is centred on 10.5; 40 stays.
    assert spread_labels([11, 10, 40], 5, low=0, high=100) == pytest.approx([13, 8, 40])
    found = spread_labels([98, 99, 100], 10, low=0, high=100)
    assert found == pytest.approx([80, 90, 100])


def test_intervals_are_sorted_and_the_undefined_come_last() -> None:
    rows = [
        Interval("low", 0.1, 0.0, 0.2),
        Interval("none", math.nan, note="constant"),
        Interval("words", 0.3, 0.2, 0.4, kind="baseline"),
        Interval("high", 0.5, 0.4, 0.6),
    ]
    svg = draw_intervals(rows, title="t", x_label="r", band=Band(0.4, 0.5, "noise ceiling"))
    texts = [text.text for text in elements(svg, "text")]
    names = [text for text in texts if text in {"low", "none", "words", "high"}]
    assert names == ["high", "words", "low", "none"]
    assert {"constant", "noise ceiling", "0.500", "trivial baseline"} <= set(texts)
    assert len(elements(svg, "circle", "dot")) == 3  # two metrics and the legend
    assert len(elements(svg, "path", "trivial")) == 2
    assert "high 0.500 (0.400 to 0.600)" in (ElementTree.fromstring(svg).findtext(f"{SVG}desc"))


def test_intervals_stay_in_their_groups() -> None:
    rows = [
        Interval("a", 0.1, group="x"),
        Interval("b", 0.9, group="y"),
        Interval("c", 0.2, group="x"),
    ]
    texts = [text.text for text in elements(draw_intervals(rows, title="t", x_label="r"), "text")]
    assert [text for text in texts if text in {"a", "b", "c"}] == ["c", "a", "b"]
    assert {"x", "y"} <= set(texts)


def test_violins_draw_few_values_as_bars_and_many_as_an_outline() -> None:
    across = Scale(1, 5, 0, 100)
    bars = outline(np.array([1, 2, 2, 5.0]), across, 20)
    assert bars.count("M") == 3
    smooth = outline(np.linspace(1, 5, 200), across, 20)
    assert smooth.count("M") == 1


def test_violins_mark_mean_and_interval() -> None:
    svg = draw_violins({"s": {"coherence": [1, 2, 3, 4, 5.0]}, "t": {"coherence": []}}, title="t")
    # Mean 3; the interval is 1.96 × 1.5811 / √5.
    titles = [one.text for one in elements(svg, "title")]
    assert titles == ["s, coherence: mean 3.00, ± 1.39, 5 ratings"]
    assert "none" in [text.text for text in elements(svg, "text")]


def test_violins_are_sorted_by_an_aspect() -> None:
    samples = {"poor": {"a": [1.0]}, "good": {"a": [5.0]}, "silent": {"a": []}}
    texts = [text.text for text in elements(draw_violins(samples, title="t", order="a"), "text")]
    assert [text for text in texts if text in samples] == ["good", "poor", "silent"]


def test_names_of_curves_stand_apart_and_gaps_are_gaps() -> None:
    lines = {f"line {n}": [0.1 * n, 0.5, 0.5] for n in range(12)}
    lines["gap"] = [0.2, math.nan, 0.3]
    svg = draw_curves([4, 5, 6], lines, title="t", x_label="k", y_label="r")
    places = sorted(float(one.get("y", 0)) for one in elements(svg, "text", "curve-name"))
    assert len(places) == 13 and min(np.diff(places)) >= 14.9
    paths = elements(svg, "path", "curve")
    assert [path.get("d", "").count("M") for path in paths] == [1] * 12 + [2]
    # Colours come round: the ninth line is dashed.
    assert paths[8].get("stroke-dasharray") and not paths[0].get("stroke-dasharray")


@pytest.mark.parametrize(
    "svg",
    [
        draw_intervals([Interval(HOSTILE, 0.5, 0.1, 0.9)], title=HOSTILE, x_label=HOSTILE),
        draw_violins({HOSTILE: {HOSTILE: [1.0, 2.0]}}, title=HOSTILE),
        draw_curves([1, 2], {HOSTILE: [1.0, 2.0]}, title=HOSTILE, x_label=HOSTILE, y_label=HOSTILE),
    ],
    ids=["intervals", "violins", "curves"],
)
def test_figures_are_well_formed_whatever_they_name(svg: str) -> None:
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img" and root.get("aria-label") == HOSTILE
    assert elements(svg, "script") == [] and root.findtext(f"{SVG}desc")
    alone = make_standalone(svg)
    assert "var(" not in alone and ElementTree.fromstring(alone).findtext(f"{SVG}title") == HOSTILE


def test_a_name_with_controls_leaves_a_figure_that_can_be_read() -> None:
    name = "a\x1b[31m\x00\x07b\ud800"
    svg = make_standalone(draw_intervals([Interval(name, 0.5, note=name)], title=name, x_label="r"))
    assert "\x1b" not in svg
    root = ElementTree.fromstring(svg)
    assert "a\ufffd[31m" in "".join(root.itertext())
