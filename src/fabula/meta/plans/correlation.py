"""Planning a meta-evaluation: how surely a metric's correlation, or its lead, would be found.

Correlations of a study are drawn from the distribution they have for normal values, by way of
Wishart matrices (Bartlett, 1933): no values need to be made up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from statistics import NormalDist

import numpy as np

from fabula.core.errors import SettingError
from fabula.core.story import count_text
from fabula.meta.arrays import Values
from fabula.meta.distributions import t_quantile, wilson_interval
from fabula.meta.plans.plan import Design, Need, Plan, Planned, Question, Wish
from fabula.meta.raters.icc import spearman_brown
from fabula.meta.significance.williams import williams

# More raters a story than this is no plan.
_MOST_RATERS = 200


def plan_correlation(
    correlation: float,
    design: Design,
    *,
    icc: float,
    versus: float | None = None,
    between: float | None = None,
    wish: Wish | None = None,
) -> Plan:
    """Plan to correlate a metric with the mean of the raters over the stories of all systems.

    `correlation` is the one with a gold without noise; with raters it shrinks by √reliability of
    their mean, which follows from the ICC of one rating. With `versus`, the correlation of another
    metric, the question is which is better (Williams' test, 1959); `between` is the correlation
    of the two metrics, by default what their correlations with the gold imply. Stories are taken
    to be independent.
    """
    _check(correlation, icc, versus)
    pair = _pair_of(correlation, versus, between)

    def seen(raters: int) -> Values:
        return _matrix(correlation, pair, spearman_brown(icc, raters))

    planner = _plan_one if pair is None else _plan_two
    rng = np.random.default_rng(design.seed)
    cells = [
        planner(seen(raters), items, raters, design, rng)
        for items in sorted(set(design.items))
        for raters in sorted(set(design.raters))
    ]
    assumed = {"icc": icc, "versus": versus, "between": pair[1] if pair else None}
    effect = correlation if versus is None else correlation - versus
    needs = correlation_needs(seen, design, wish or Wish())
    question: Question = "correlation" if pair is None else "two correlations"
    return Plan(question, effect, assumed, design, needs=needs, cells=tuple(cells))


def _pair_of(
    correlation: float, versus: float | None, between: float | None
) -> tuple[float, float] | None:
    if versus is None:
        return None
    return versus, correlation * versus if between is None else between


def _check(correlation: float, icc: float, versus: float | None) -> None:
    for name, value in (("correlation", correlation), ("versus", versus or 0.0)):
        if not -1 < value < 1:
            raise SettingError(f"{name}={value} will not do", "give a number between -1 and 1")
    if correlation == (versus or 0.0):
        raise SettingError("there is no effect to find", "give correlations that differ")
    if not 0 < icc <= 1:
        raise SettingError(
            f"icc={icc:.3g} will not do", "give a number above 0 and up to 1 (--icc)"
        )


def _matrix(correlation: float, pair: tuple[float, float] | None, reliability: float) -> Values:
    """Correlations of the gold, the metric and the other one, with the gold's noise."""
    root = math.sqrt(reliability)
    if pair is None:
        return np.array([[1.0, root * correlation], [root * correlation, 1.0]])
    versus, between = pair
    rows = [
        [1.0, root * correlation, root * versus],
        [root * correlation, 1.0, between],
        [root * versus, between, 1.0],
    ]
    matrix = np.array(rows)
    if np.linalg.eigvalsh(matrix)[0] <= 0:
        raise SettingError(f"between={between:g} cannot be", "give what the others allow")
    return matrix


def sample_correlations(
    true: Values, stories: int, *, studies: int, rng: np.random.Generator
) -> Values:
    """Draw the correlation matrices of studies of normal values: studies × size × size."""
    size = len(true)
    lower = np.zeros((studies, size, size))
    for i in range(size):
        lower[:, i, i] = np.sqrt(rng.chisquare(stories - 1 - i, studies))
        lower[:, i, :i] = rng.standard_normal((studies, i))
    factor = np.linalg.cholesky(true) @ lower
    spread = factor @ factor.transpose(0, 2, 1)
    roots = np.sqrt(np.diagonal(spread, axis1=1, axis2=2))
    matrices: Values = spread / (roots[:, :, None] * roots[:, None, :])
    return matrices


def _plan_one(
    true: Values, items: int, raters: int, design: Design, rng: np.random.Generator
) -> Planned:
    stories = _stories(items, design, 4)
    r = sample_correlations(true, stories, studies=design.studies, rng=rng)[:, 0, 1]
    t = r * np.sqrt((stories - 2) / (1 - r * r))
    widths = np.tanh(np.arctanh(r)[:, None] + _ends(stories, design.alpha))
    half_width = float((widths[:, 1] - widths[:, 0]).mean()) / 2
    return _make_cell(items, raters, stories, t, stories - 2, half_width, design)


def _plan_two(
    true: Values, items: int, raters: int, design: Design, rng: np.random.Generator
) -> Planned:
    stories = _stories(items, design, 5)
    matrices = sample_correlations(true, stories, studies=design.studies, rng=rng)
    a, b, between = matrices[:, 0, 1], matrices[:, 0, 2], matrices[:, 1, 2]
    t = williams(a, b, between, stories).t
    half_width = NormalDist().inv_cdf(1 - design.alpha / 2) * float((a - b).std(ddof=1))
    return _make_cell(items, raters, stories, t, stories - 3, half_width, design)


def _make_cell(
    items: int,
    raters: int,
    stories: int,
    t: Values,
    freedom: int,
    half_width: float,
    design: Design,
) -> Planned:
    significant = int((np.abs(t) >= t_quantile(1 - design.alpha / 2, freedom)).sum())
    low, high = wilson_interval(significant, design.studies)
    return Planned(items, raters, stories, significant / design.studies, low, high, half_width)


def _stories(items: int, design: Design, least: int) -> int:
    stories = items * design.systems
    if stories < least:
        raise SettingError(
            f"{count_text(stories, 'story is', 'stories are')} too few", f"take {least} or more"
        )
    return stories


def _ends(stories: int, alpha: float) -> Values:
    reach = NormalDist().inv_cdf(1 - alpha / 2) / math.sqrt(stories - 3)
    return np.array([-reach, reach])


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
