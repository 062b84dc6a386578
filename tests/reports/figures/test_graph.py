from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from fabula.reports.figures.drawing import make_standalone
from fabula.reports.figures.graph import Arrow, Node, draw_graph

SVG = "{http://www.w3.org/2000/svg}"
NODES = [Node("1 · 40 %", "sea, ship", 0.4), Node("2 · 30 %", "bread", 0.3), Node("3 <&>")]
ARROWS = [Arrow(0, 1, 0.5, "sea → bread: 5 times"), Arrow(1, 2, 0.25), Arrow(1, 0, 0.1)]


def draw(nodes=NODES, arrows=ARROWS) -> ElementTree.Element:
    return ElementTree.fromstring(draw_graph(nodes, arrows, title="Which follows which"))


def edges(drawn: ElementTree.Element) -> list[ElementTree.Element]:
    return [path for path in drawn.iter(f"{SVG}path") if path.get("class") == "edge"]


def test_a_node_has_a_disc_and_words_and_an_arrow_a_line_and_a_head():
    drawn = draw()
    assert len(list(drawn.iter(f"{SVG}circle"))) == 3
    assert len(edges(drawn)) == 3
    heads = [path for path in drawn.iter(f"{SVG}path") if path.get("class") == "edge-head"]
    assert len(heads) == 3
    words = {text.text for text in drawn.iter(f"{SVG}text")}
    assert {"1 · 40 %", "sea, ship", "3 <&>"} <= words


def test_arrows_are_as_thick_as_their_share_and_the_strongest_lies_on_top():
    widths = [float(edge.get("stroke-width", "")) for edge in edges(draw())]
    assert widths == sorted(widths)
    # Of the thickest, 5, a fifth and a half of what is above the thinnest, 0.8.
    assert widths == [1.6, 2.9, 5.0]


def test_a_disc_is_as_large_as_its_weight():
    radii = [float(disc.get("r", "")) for disc in draw(NODES[:2], ()).iter(f"{SVG}circle")]
    assert radii[0] == 15.0 > radii[1] > 5.0


def test_everything_lies_within_the_figure():
    drawn = draw([Node(str(n), "some words", 1.0) for n in range(12)], ARROWS)
    width, height = float(drawn.get("width", "")), float(drawn.get("height", ""))
    for text in drawn.iter(f"{SVG}text"):
        assert 0 <= float(text.get("x", "")) <= width
        assert 0 <= float(text.get("y", "")) <= height
    numbers = [
        tuple(map(float, pair))
        for edge in edges(drawn)
        for pair in re.findall(r"(-?[\d.]+) (-?[\d.]+)", edge.get("d", ""))
    ]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in numbers)


def test_nodes_that_lead_to_each_other_stand_side_by_side():
    nodes = [Node(str(n)) for n in range(6)]
    drawn = draw(nodes, [Arrow(0, 3, 0.9), Arrow(3, 5, 0.9)])
    places = [(float(d.get("cx", "")), float(d.get("cy", ""))) for d in drawn.iter(f"{SVG}circle")]

    def apart(one: int, other: int) -> float:
        return sum((a - b) ** 2 for a, b in zip(places[one], places[other], strict=True))

    assert apart(0, 3) < apart(0, 1)
    assert apart(3, 5) < apart(3, 4)


def test_the_strongest_arrows_are_told_to_those_who_cannot_see():
    desc = draw().findtext(f"{SVG}desc") or ""
    assert desc.startswith("3 nodes, 3 arrows. 1 · 40 % to 2 · 30 % 50 %")


def test_a_graph_without_nodes_is_drawn_and_one_stands_alone_in_a_file():
    assert draw([], ()).tag == f"{SVG}svg"
    alone = make_standalone(draw_graph(NODES, ARROWS, title="Which follows which"))
    ElementTree.fromstring(alone)
    assert "var(--" not in alone
