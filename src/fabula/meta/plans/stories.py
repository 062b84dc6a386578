"""How many stories, or raters, a correlation with the gold takes: by formula, approximately."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import NormalDist

from fabula.meta.arrays import Values
from fabula.meta.plans.plan import Design, Need, Wish

# More raters a story than this is no plan.
_MOST_RATERS = 200


def correlation_needs(
    seen: Callable[[int], Values], design: Design, wish: Wish
) -> tuple[Need, ...]:
    """Items for every number of raters, and raters for every number of items, by wish.

    `seen` gives the correlations of gold and metrics that so many raters would show.
    """
    wishes: dict[str, Callable[[Values], int]] = {
        f"power {wish.power:g}": partial(stories_for_power, power=wish.power, alpha=design.alpha)
    }
    if wish.half_width is not None:
        wishes[f"half-width {wish.half_width:g}"] = partial(
            stories_for_half_width, half_width=wish.half_width, alpha=design.alpha
        )
    needs = []
    for name, stories in wishes.items():
        for raters in sorted(set(design.raters)):
            items = math.ceil(stories(seen(raters)) / design.systems)
            needs.append(Need(name, raters, max(2, items)))
        needed = [stories(seen(raters)) for raters in range(1, _MOST_RATERS + 1)]
        for items in sorted(set(design.items)):
            enough = (k for k, n in enumerate(needed, 1) if n <= items * design.systems)
            needs.append(Need(name, next(enough, None), items))
    return tuple(needs)


def stories_for_power(seen: Values, power: float, alpha: float = 0.05) -> int:
    """Stories that the test of one correlation (Fisher's z), or of two, takes."""
    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    if len(seen) == 2:
        return math.ceil((reach / math.atanh(float(seen[0, 1]))) ** 2 + 3)
    lead = float(seen[0, 1] - seen[0, 2])
    return max(5, math.ceil((reach / lead) ** 2 * lead_variance(seen)))


def stories_for_half_width(seen: Values, half_width: float, alpha: float = 0.05) -> int:
    """Stories whose interval of the correlation, or of the lead, is at most so long."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    if len(seen) == 3:
        return max(5, math.ceil((z / half_width) ** 2 * lead_variance(seen)))
    if half_width >= 1:
        return 4
    r, low, high = float(seen[0, 1]), 3, 4
    while correlation_half_width(r, high, alpha) > half_width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if correlation_half_width(r, middle, alpha) > half_width:
            low = middle
        else:
            high = middle
    return high


def correlation_half_width(r: float, stories: int, alpha: float = 0.05) -> float:
    """Half the length of Fisher's interval of a correlation."""
    reach = NormalDist().inv_cdf(1 - alpha / 2) / math.sqrt(stories - 3)
    z = math.atanh(r)
    return (math.tanh(z + reach) - math.tanh(z - reach)) / 2


def lead_variance(seen: Values) -> float:
    """Variance of the difference of two correlations with one gold, times the stories.

    Olkin and Siotani (1976), for large samples.
    """
    a, b, between = float(seen[0, 1]), float(seen[0, 2]), float(seen[1, 2])
    shared = between * (1 - a * a - b * b) - a * b * (1 - a * a - b * b - between * between) / 2
    return (1 - a * a) ** 2 + (1 - b * b) ** 2 - 2 * shared
