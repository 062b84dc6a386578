"""Planning a meta-evaluation: how surely a metric's correlation, or its lead, would be found.

Correlations of a study are drawn from the distribution they have for normal values, by way of
Wishart matrices (Bartlett, 1933): no values need to be made up.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from fabula.core.errors import SettingError
from fabula.meta.arrays import Values
from fabula.meta.distributions import t_quantile
from fabula.meta.effects import wilson_interval
from fabula.meta.plans.plan import Design, Plan, Planned, Question, Wish
from fabula.meta.plans.stories import correlation_needs
from fabula.meta.raters.icc import spearman_brown
from fabula.meta.significance.williams import williams


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
    pair = _pair(correlation, versus, between)

    def seen(raters: int) -> Values:
        return _matrix(correlation, pair, spearman_brown(icc, raters))

    planner = _one if pair is None else _two
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


def _pair(
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
    found: Values = spread / (roots[:, :, None] * roots[:, None, :])
    return found


def _one(
    true: Values, items: int, raters: int, design: Design, rng: np.random.Generator
) -> Planned:
    stories = _stories(items, design, 4)
    r = sample_correlations(true, stories, studies=design.studies, rng=rng)[:, 0, 1]
    t = r * np.sqrt((stories - 2) / (1 - r * r))
    widths = np.tanh(np.arctanh(r)[:, None] + _ends(stories, design.alpha))
    half_width = float((widths[:, 1] - widths[:, 0]).mean()) / 2
    return _planned(items, raters, stories, t, stories - 2, half_width, design)


def _two(
    true: Values, items: int, raters: int, design: Design, rng: np.random.Generator
) -> Planned:
    stories = _stories(items, design, 5)
    found = sample_correlations(true, stories, studies=design.studies, rng=rng)
    a, b, between = found[:, 0, 1], found[:, 0, 2], found[:, 1, 2]
    t = williams(a, b, between, stories).t
    half_width = NormalDist().inv_cdf(1 - design.alpha / 2) * float((a - b).std(ddof=1))
    return _planned(items, raters, stories, t, stories - 3, half_width, design)


def _planned(
    items: int,
    raters: int,
    stories: int,
    t: Values,
    freedom: int,
    half_width: float,
    design: Design,
) -> Planned:
    found = int((np.abs(t) >= t_quantile(1 - design.alpha / 2, freedom)).sum())
    low, high = wilson_interval(found, design.studies)
    return Planned(items, raters, stories, found / design.studies, low, high, half_width)


def _stories(items: int, design: Design, least: int) -> int:
    stories = items * design.systems
    if stories < least:
        raise SettingError(f"{stories} stories are too few", f"take {least} or more")
    return stories


def _ends(stories: int, alpha: float) -> Values:
    reach = NormalDist().inv_cdf(1 - alpha / 2) / math.sqrt(stories - 3)
    return np.array([-reach, reach])
