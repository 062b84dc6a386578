"""Labels that do not cover one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fabula.reports._svg.drawing import width_of

# Where a label may stand beside its point, the best place first: shares of its own box.
_PLACES = (
    (0.0, -0.5, 1), (-1.0, -0.5, 1), (-0.5, -1.0, 1), (-0.5, 0.0, 1),
    (0.0, -1.0, 0.8), (-1.0, -1.0, 0.8), (0.0, 0.0, 0.8), (-1.0, 0.0, 0.8),
)  # fmt: skip


def spread(wanted: Sequence[float], gap: float, *, low: float, high: float) -> list[float]:
    """Move places on a line apart by a gap, as little as possible and within its ends."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    clusters: list[list[float]] = []  # sum of wished starts, members
    for number, place in enumerate(order):
        clusters.append([wanted[place] - number * gap, 1.0])
        while len(clusters) > 1 and _mean(clusters[-2]) > _mean(clusters[-1]):
            total, size = clusters.pop()
            clusters[-1] = [clusters[-1][0] + total, clusters[-1][1] + size]
    starts = [_mean(cluster) for cluster in clusters for _ in range(int(cluster[1]))]
    most = high - (len(order) - 1) * gap
    found = [0.0] * len(order)
    for number, place in enumerate(order):
        found[place] = max(min(starts[number], most), low) + number * gap
    return found


def _mean(cluster: Sequence[float]) -> float:
    return cluster[0] / cluster[1]


@dataclass(frozen=True)
class Rectangle:
    """A box on the drawing."""

    x: float
    y: float
    width: float
    height: float

    def overlap(self, other: Rectangle) -> float:
        """Area shared with another."""
        wide = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        tall = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(wide, 0.0) * max(tall, 0.0)


def place_labels(
    names: Sequence[str],
    points: Sequence[tuple[float, float]],
    *,
    within: Rectangle,
    size: float = 12,
    distance: float = 9,
) -> list[Rectangle]:
    """Give each label the place that covers least; those in a crowd move further out."""
    taken = [Rectangle(x - 6, y - 6, 12, 12) for x, y in points]
    found: list[Rectangle] = []
    for name, point in zip(names, points, strict=True):
        width, height = width_of(name, size) + 2, size + 2
        tried = [
            Rectangle(
                point[0] + (across * width) + _side(across) * distance * near * far,
                point[1] + (down * height) + _side(down) * distance * near * far,
                width,
                height,
            )
            for far in (1.0, 2.2, 3.4, 5.0, 7.0)
            for across, down, near in _PLACES
        ]
        best = min(tried, key=lambda one: _cost(one, [*taken, *found], within))
        found.append(best)
    return found


def _side(share: float) -> int:
    return {0.0: 1, -1.0: -1}.get(share, 0)


def _cost(one: Rectangle, others: Sequence[Rectangle], within: Rectangle) -> float:
    outside = one.width * one.height - one.overlap(within)
    return round(sum(one.overlap(other) for other in others) + 4 * outside, 3)
