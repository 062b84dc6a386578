"""What a review draws: bars, tracks with marks, and the curve from sentence to sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fabula.reports._review_marks import MOST_PLACES
from fabula.reports.figures.drawing import draw_figure, short
from fabula.reports.numbers import number_text
from fabula.reports.pages import escape, tag
from fabula.scoring.review import Gauge, PlacedTransition

# Size of the coherence curve, and the room left around it.
_WIDTH, _HEIGHT, _EDGE = 1000, 220, 16


def draw_rating(value: float) -> str:
    """Draw a rating as a bar and a number; the bar begins at 1, the lowest there is."""
    if not math.isfinite(value):
        return tag("span", "–", class_="figure")
    share = (min(max(value, 1.0), 5.0) - 1) / 4
    bar = tag("span", class_="meter", style=f"--share:{share:.3f}", aria_hidden="true")
    said = tag("span", " of 5", class_="unseen")
    return bar + tag("span", number_text(value, 1) + said, class_="figure")


def draw_percentile(percentile: float, interval: tuple[float, float]) -> str:
    """Draw a percentile and its interval on a track from 0 to 100."""
    if not math.isfinite(percentile):
        return ""
    low, high = interval
    inside = tag("span", class_="point", style=f"left:{percentile:.1f}%")
    if math.isfinite(low) and math.isfinite(high):
        style = f"left:{low:.1f}%;right:{100 - high:.1f}%"
        inside = tag("span", class_="range", style=style) + inside
    return tag("span", inside, class_="track", aria_hidden="true")


def draw_gauge(gauge: Gauge) -> str:
    """Draw a value on a track, where people's stories lie, and the middles of other texts."""
    low, high = gauge.ends
    parts = [tag("span", class_="point", style=f"left:{_along(gauge.value, low, high):.1f}%")]
    if gauge.peers:
        ends = [_along(end, low, high) for end in gauge.peers.usual]
        style = f"left:{ends[0]:.1f}%;right:{100 - ends[1]:.1f}%"
        parts.insert(0, tag("span", class_="range", style=style))
        parts += [
            tag("span", class_="tick", style=f"left:{_along(at, low, high):.1f}%", title=name)
            for name, at in gauge.peers.marks.items()
        ]
    return tag("span", "".join(parts), class_="track", aria_hidden="true")


def _along(value: float, low: float, high: float) -> float:
    return 100 * (min(max(value, low), high) - low) / (high - low)


def draw_curve(steps: Sequence[PlacedTransition], weakest: int | None) -> str:
    """Draw the curve without a word in it, so that it may be stretched to any width.

    The step that stands out, if one does, falls to the ground.
    """
    points = [(_across(at, len(steps)), _down(step.probability)) for at, step in enumerate(steps)]
    line = "M" + "L".join(f"{short(x)} {short(y)}" for x, y in points)
    inside = [
        tag("path", d=_grid(), class_="grid"),
        tag("path", d=line, class_="flow-line"),
        *(_dot(point, "flow-dot") for at, point in enumerate(points) if at != weakest),
    ]
    desc = f"{len(steps)} steps; none of them stands out."
    if weakest is not None:
        fall = tag("path", d=f"M{short(points[weakest][0])} 0V{_HEIGHT}", class_="flow-fall")
        inside += [fall, _dot(points[weakest], "flow-weakest")]
        low = steps[weakest].probability
        desc = f"{len(steps)} steps; the weakest is number {weakest + 1}, at {low:.0%}."
    inside += _columns(steps, weakest)
    return draw_figure(
        _WIDTH,
        _HEIGHT,
        "".join(inside),
        title="How likely each sentence is to follow the one before it",
        desc=desc,
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


def _columns(steps: Sequence[PlacedTransition], weakest: int | None) -> list[str]:
    """A strip a step; where there are too many to be pointed at, the weakest alone."""
    few = [] if weakest is None else [weakest]
    shown = range(len(steps)) if len(steps) <= MOST_PLACES else few
    return [_column(at, steps, at == weakest) for at in shown]


def _column(at: int, steps: Sequence[PlacedTransition], is_weakest: bool) -> str:
    """A strip over the whole height that says what stands there and leads to its place."""
    width = (_WIDTH - 2 * _EDGE) / len(steps)
    words = f"step {at + 1} of {len(steps)}: {steps[at].probability:.0%}".replace("%", " %")
    strip = tag(
        "rect",
        tag("title", escape(words)),
        x=short(_EDGE + at * width),
        y=0,
        width=short(width),
        height=_HEIGHT,
        class_="flow-strip",
    )
    keyboard = None if is_weakest else -1
    return tag("a", strip, href=f"#step-{at}", aria_label=words, tabindex=keyboard)
