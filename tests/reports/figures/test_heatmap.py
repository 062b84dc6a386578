from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from fabula.reports.figures.cluster import branches, cluster
from fabula.reports.figures.colours import DIVERGING, SEQUENTIAL, channels, palette
from fabula.reports.figures.drawing import make_standalone
from fabula.reports.figures.heatmap import P_LEVELS, UNDEFINED, draw_heatmap, ground_of, levels

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["a", "b", "c"]
MATRIX = np.array([[1.0, 0.5, math.nan], [0.5, 1.0, -0.25], [math.nan, -0.25, 1.0]])


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def labels(svg: str, kind: str) -> list[str | None]:
    [group] = [one for one in read(svg).iter(f"{SVG}g") if kind in one.get("class", "").split()]
    return [text.text for text in group]


def cells_drawn(svg: str) -> dict[tuple[int, int], str]:
    """Class of every cell, from the runs of the paths."""
    found = {}
    for path in next(one for one in read(svg).iter(f"{SVG}g") if one.get("class") == "cells"):
        for x, y, run in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d", "")):
            for step in range(int(run)):
                found[int(y), int(x) + step] = path.get("class", "")
    return found


def test_every_cell_has_the_colour_of_its_value() -> None:
    found = cells_drawn(draw_heatmap(MATRIX, NAMES, NAMES, title="t", low=-1, high=1))
    # 21 levels from −1 to 1: 1 is the last, 0.5 is 10 + 5, −0.25 is 10 − 2.5, rounded to even.
    assert found[0, 0] == "d20" and found[0, 1] == "d15" and found[1, 2] == "d8"
    assert found[0, 2] == "undefined" and len(found) == 9


def test_neighbours_of_one_colour_are_one_stroke() -> None:
    svg = draw_heatmap(
        np.zeros((40, 50)), list("r" * 40), list("c" * 50), title="t", low=-1, high=1
    )
    assert svg.count("M0 7h50") == 1 and len(cells_drawn(svg)) == 2000


def test_a_figure_carries_its_numbers() -> None:
    stored = json.loads(
        read(draw_heatmap(MATRIX, NAMES, NAMES, title="t")).findtext(f"{SVG}metadata")
    )
    assert stored["values"] == "1000,500,,500,1000,-250,,-250,1000"
    assert stored["rows"] == NAMES and stored["decimals"] == 3


def test_few_cells_show_their_value_times_100_and_many_do_not() -> None:
    texts = [
        text.text for text in read(draw_heatmap(MATRIX, NAMES, NAMES, title="t")).iter(f"{SVG}text")
    ]
    assert texts.count("−25") == 2 and texts.count("100") == 3 and "undefined" in texts
    many = draw_heatmap(np.eye(72), list("x" * 72), list("x" * 72), title="t")
    assert 'class="numbers"' not in many


def test_p_has_levels_of_its_own() -> None:
    values = np.array([[0.0005, 0.001, 0.02, 0.05, 0.5, math.nan]])
    assert levels(values, "p", 0, 1).tolist() == [[12, 9, 6, 2, 0, UNDEFINED]]
    assert ">.020<" in draw_heatmap(values, ["r"], list("abcdef"), title="t", scale="p")


def test_an_order_goes_for_rows_and_columns_of_a_square() -> None:
    svg = draw_heatmap(MATRIX, NAMES, NAMES, title="t", order=[2, 0, 1])
    assert labels(svg, "rows") == labels(svg, "columns") == ["c", "a", "b"]
    oblong = draw_heatmap(MATRIX[:, :2], NAMES, ["x", "y"], title="t", order=[2, 0, 1])
    assert labels(oblong, "rows") == ["c", "a", "b"] and labels(oblong, "columns") == ["x", "y"]


def test_a_line_parts_neighbours_of_different_groups() -> None:
    svg = draw_heatmap(MATRIX, NAMES, NAMES, title="t", row_groups=["one", "two", "two"])
    [line] = [path for path in read(svg).iter(f"{SVG}path") if path.get("class") == "divide"]
    assert line.get("d", "").count("M") == 1
    svg = draw_heatmap(MATRIX, NAMES, NAMES, title="t", row_groups=["k", "l", "k"], order=[0, 2, 1])
    [line] = [path for path in read(svg).iter(f"{SVG}path") if path.get("class") == "divide"]
    assert line.get("d", "").count("M") == 1


def test_labels_and_values_must_fit() -> None:
    with pytest.raises(ValueError, match="3 × 2 labels"):
        draw_heatmap(MATRIX, NAMES, ["x", "y"], title="t")


def test_72_rows_stay_small() -> None:
    r = np.corrcoef(np.random.default_rng(0).normal(size=(72, 50)))
    names = [f"metric_{n}" for n in range(72)]
    assert len(draw_heatmap(r, names, names, title="t", order=cluster(r))) < 90_000


def test_a_file_of_a_figure_needs_no_variables() -> None:
    svg = make_standalone(draw_heatmap(MATRIX, NAMES, NAMES, title="A & B <c>"))
    assert "var(" not in svg and "@media" not in svg
    assert read(svg).findtext(f"{SVG}title") == "A & B <c>"


def luminance(colour: str) -> float:
    r, g, b = channels(colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    """Contrast of two colours (WCAG 2.2)."""
    light, dark = sorted([luminance(one), luminance(other)], reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("scheme", "ink"), [("light", "#1e1d1b"), ("dark", "#e8e5de")])
def test_numbers_can_be_read_on_every_colour(scheme: str, ink: str) -> None:
    colours = palette(scheme)
    for scale, head, count in (("diverging", "d", DIVERGING), ("sequential", "q", SEQUENTIAL)):
        for level in range(count):
            words = colours.get(f"on-{ground_of(level, scale)}", ink)
            assert contrast(words, colours[f"{head}{level}"]) >= 4.5, (scheme, head, level)
    assert {level for _, level in P_LEVELS} <= set(range(SEQUENTIAL))


def test_what_correlates_stands_side_by_side() -> None:
    # Rows 0 and 2 say the same, 1 and 3 say the opposite of one another.
    r = np.array([[1, 0.1, 0.9, 0], [0.1, 1, 0, -0.8], [0.9, 0, 1, 0.1], [0, -0.8, 0.1, 1]])
    order = list(cluster(r).order)
    assert abs(order.index(0) - order.index(2)) == 1 and abs(order.index(1) - order.index(3)) == 1
    # Distances 1 − |r|: 0.1 and 0.2; the last is the mean of 0.9, 1, 1 and 0.9.
    heights = [height for *_, height in branches(cluster(r))]
    assert heights == pytest.approx([0.1, 0.2, 0.95])


def test_undefined_correlations_can_be_clustered() -> None:
    assert sorted(cluster(np.full((5, 5), math.nan)).order) == list(range(5))
    assert cluster(np.eye(2)).order == (0, 1)
