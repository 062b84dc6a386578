"""A graph on a circle: what leads to what, the more often the thicker the arrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fabula.reports.figures.drawing import draw_figure, short, shorten, width_of, words
from fabula.reports.pages import escape, tag

_HEAD = 7.0
_SMALLEST, _LARGEST = 5.0, 15.0  # radius of a node
_THIN, _THICK = 0.8, 5.0
_LONGEST_NAME = 190
_GAP = 12.0


@dataclass(frozen=True)
class Node:
    """What an arrow begins or ends at: its name, a second line of words, and how much it weighs."""

    name: str
    words: str = ""
    weight: float = 1.0


@dataclass(frozen=True)
class Arrow:
    """From one node to another, by their places, and the share that goes there."""

    source: int
    target: int
    share: float
    note: str = ""


@dataclass(frozen=True)
class _Place:
    x: float
    y: float
    angle: float
    radius: float


def draw_graph(
    nodes: Sequence[Node], arrows: Sequence[Arrow], *, title: str, radius: float = 210
) -> str:
    """Draw nodes on a circle, those that lead to each other side by side, and bent arrows.

    An arrow is as thick as its share, a node as large as its weight; what both say in numbers
    stands under the pointer.
    """
    order = _order_nodes(len(nodes), arrows)
    # Letters may be wider than they are guessed to be.
    reach = 1.08 * max(
        (
            width_of(shorten(text, _LONGEST_NAME))
            for node in nodes
            for text in (node.name, node.words)
        ),
        default=0,
    )
    middle = reach + radius + _LARGEST + _GAP + 8
    across = 2 * middle
    height = 2 * (radius + _LARGEST + 40)
    places = _place_nodes(nodes, order, (middle, height / 2), radius)
    strongest = max((arrow.share for arrow in arrows), default=1.0) or 1.0
    drawn = [
        _draw_arrow(arrow, places, (middle, height / 2), strongest)
        for arrow in sorted(arrows, key=lambda arrow: arrow.share)
    ]
    drawn += [_draw_node(node, place) for node, place in zip(nodes, places, strict=True)]
    return draw_figure(
        across, height, "".join(drawn), title=title, desc=_say(nodes, arrows), kind="graph"
    )


def _order_nodes(count: int, arrows: Sequence[Arrow]) -> list[int]:
    """Put beside each node the one, of those left, that it has most to do with."""
    bonds: dict[tuple[int, int], float] = {}
    for arrow in arrows:
        pair = (min(arrow.source, arrow.target), max(arrow.source, arrow.target))
        bonds[pair] = bonds.get(pair, 0.0) + arrow.share
    order, left = list(range(min(count, 1))), set(range(1, count))
    while left:
        last = order[-1]
        order.append(
            max(left, key=lambda node: (bonds.get((min(last, node), max(last, node)), 0.0), -node))
        )
        left.remove(order[-1])
    return order


def _place_nodes(
    nodes: Sequence[Node], order: Sequence[int], middle: tuple[float, float], radius: float
) -> list[_Place]:
    heaviest = max((node.weight for node in nodes), default=1.0) or 1.0
    places = [_Place(0, 0, 0, 0)] * len(nodes)
    for number, node in enumerate(order):
        angle = 2 * math.pi * number / len(order) - math.pi / 2
        # Areas, not radii, are as the weights.
        size = _SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(nodes[node].weight / heaviest)
        x, y = middle[0] + radius * math.cos(angle), middle[1] + radius * math.sin(angle)
        places[node] = _Place(x, y, angle, size)
    return places


def _draw_arrow(
    arrow: Arrow, places: Sequence[_Place], middle: tuple[float, float], strongest: float
) -> str:
    """Draw a curve bent towards the middle, to one side of the way back, and its head."""
    start, end = places[arrow.source], places[arrow.target]
    bend_x, bend_y = ((start.x + end.x) / 2, (start.y + end.y) / 2)
    bend_x += 0.35 * (middle[0] - bend_x) - 0.08 * (end.y - start.y)
    bend_y += 0.35 * (middle[1] - bend_y) + 0.08 * (end.x - start.x)
    from_x, from_y = _step(start, bend_x, bend_y, start.radius + 1)
    tip_x, tip_y = _step(end, bend_x, bend_y, end.radius + 2)
    neck_x, neck_y = _step(end, bend_x, bend_y, end.radius + 2 + _HEAD)
    width = _THIN + (_THICK - _THIN) * arrow.share / strongest
    curve = (
        f"M{short(from_x)} {short(from_y)}Q{short(bend_x)} {short(bend_y)} "
        f"{short(neck_x)} {short(neck_y)}"
    )
    side = max(3.0, 0.9 * width)
    along_x, along_y = (tip_x - neck_x) / _HEAD, (tip_y - neck_y) / _HEAD
    head = (
        f"M{short(tip_x)} {short(tip_y)}"
        f"L{short(neck_x - side * along_y)} {short(neck_y + side * along_x)}"
        f"L{short(neck_x + side * along_y)} {short(neck_y - side * along_x)}Z"
    )
    note = tag("title", escape(arrow.note)) if arrow.note else ""
    line = tag("path", note, d=curve, class_="edge", stroke_width=short(width))
    return line + tag("path", note, d=head, class_="edge-head")


def _step(place: _Place, to_x: float, to_y: float, distance: float) -> tuple[float, float]:
    """Go so far from a place towards a point."""
    length = math.hypot(to_x - place.x, to_y - place.y) or 1.0
    share = distance / length
    return place.x + share * (to_x - place.x), place.y + share * (to_y - place.y)


def _draw_node(node: Node, place: _Place) -> str:
    """Draw a node, and its words outside the circle."""
    note = ", ".join(filter(None, (node.name, node.words)))
    dot = tag(
        "circle",
        tag("title", escape(note)),
        cx=short(place.x), cy=short(place.y), r=short(place.radius), class_="node",
    )  # fmt: skip
    out = place.radius + _GAP
    x, y = place.x + out * math.cos(place.angle), place.y + out * math.sin(place.angle)
    aside = abs(math.cos(place.angle)) < 0.2
    anchor = "middle" if aside else "start" if math.cos(place.angle) > 0 else "end"
    # Above the circle both lines stand over the node, below it both under it.
    top = (
        y - 12 if math.sin(place.angle) < -0.8 else y + 8 if math.sin(place.angle) > 0.8 else y - 3
    )
    return "".join(
        [
            dot,
            words(
                shorten(node.name, _LONGEST_NAME), x, top, text_anchor=anchor, class_="node-name"
            ),
            words(
                shorten(node.words, _LONGEST_NAME),
                x,
                top + 15,
                text_anchor=anchor,
                class_="quiet-words",
            ),
        ]
    )


def _say(nodes: Sequence[Node], arrows: Sequence[Arrow]) -> str:
    """Say what the figure shows to those who cannot see it."""
    strongest = sorted(arrows, key=lambda arrow: -arrow.share)[:5]
    told = [
        f"{nodes[arrow.source].name} to {nodes[arrow.target].name} {100 * arrow.share:.0f} %"
        for arrow in strongest
    ]
    return f"{len(nodes)} nodes, {len(arrows)} arrows. {'; '.join(told)}."
