"""The coherence curve: how likely every step from sentence to sentence is."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.reports._markup import escaped, tag
from fabula.reports._review_marks import MOST_PLACES
from fabula.reports._svg.drawing import drawing, short
from fabula.scoring._review_parts import Step

_WIDTH, _HEIGHT, _EDGE = 1000, 220, 16


def curve(steps: Sequence[Step], weakest: int) -> str:
    """Draw the curve without a word in it, so that it may be stretched to any width."""
    points = [(_across(at, len(steps)), _down(one.probability)) for at, one in enumerate(steps)]
    line = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
    inside = [
        tag("path", d=_grid(), class_="grid"),
        tag("path", d=line, class_="flow-line"),
        *(_dot(point, "flow-dot") for at, point in enumerate(points) if at != weakest),
        tag("path", d=f"M{short(points[weakest][0])} 0V{_HEIGHT}", class_="flow-fall"),
        _dot(points[weakest], "flow-weakest"),
        *_columns(steps, weakest),
    ]
    low = min(one.probability for one in steps)
    return drawing(
        _WIDTH,
        _HEIGHT,
        "".join(inside),
        title="How likely each sentence is to follow the one before it",
        desc=f"{len(steps)} steps; the weakest is number {weakest + 1}, at {low:.0%}.",
        kind="flow",
        preserveAspectRatio="none",
    ).replace('role="img"', 'role="group"', 1)


def _across(at: int, count: int) -> float:
    return _EDGE + (_WIDTH - 2 * _EDGE) * (at + 0.5) / count


def _down(probability: float) -> float:
    return _EDGE + (_HEIGHT - 2 * _EDGE) * (1 - probability)


def _grid() -> str:
    return "".join(f"M0 {short(_down(share))}H{_WIDTH}" for share in (0.0, 0.5, 1.0))


def _dot(point: tuple[float, float], kind: str) -> str:
    """A dot that stays round however the figure is stretched: a line of no length, with caps."""
    return tag("path", d=f"M{short(point[0])} {short(point[1])}h0", class_=kind)


def _columns(steps: Sequence[Step], weakest: int) -> list[str]:
    """A strip a step; where there are too many to be pointed at, the weakest alone."""
    shown = range(len(steps)) if len(steps) <= MOST_PLACES else [weakest]
    return [_column(at, steps, at == weakest) for at in shown]


def _column(at: int, steps: Sequence[Step], is_weakest: bool) -> str:
    """A strip over the whole height that says what stands there and leads to its place."""
    width = (_WIDTH - 2 * _EDGE) / len(steps)
    words = f"step {at + 1} of {len(steps)}: {steps[at].probability:.0%}".replace("%", " %")
    strip = tag(
        "rect",
        tag("title", escaped(words)),
        x=short(_EDGE + at * width),
        y=0,
        width=short(width),
        height=_HEIGHT,
        class_="flow-strip",
    )
    keyboard = None if is_weakest else -1
    return tag("a", strip, href=f"#step-{at}", aria_label=words, tabindex=keyboard)
