"""Planning a comparison of two systems: how often the sign-flip test would find a difference."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.meta.arrays import Values
from fabula.meta.distributions import t_quantile, wilson_interval
from fabula.meta.plans.plan import Design, Need, Plan, Planned, Wish
from fabula.meta.raters.components import Components
from fabula.meta.significance.sign_flips import EXACT_ITEMS, all_bits, sign_flip_ps

# Values that are held at once: 320 MB of floats.
_MOST_CELLS = 40_000_000
# Standard deviations for one effect: beyond this no number of items finds it.
_MOST_SPREAD = 1e9
_MOST_SD = 1e100


def plan_difference(
    effect: float, design: Design, *, components: Components, wish: Wish | None = None
) -> Plan:
    """Plan to compare two systems whose means differ by `effect`, in points of the scale.

    Items are paired, each story has its own raters' noise, and the test is the sign-flip test of
    `fabula compare`. The half-width is that of Student's interval of the mean difference.
    """
    if not (math.isfinite(effect) and effect != 0):
        raise SettingError(f"effect={effect} will not do", "give a difference other than 0")
    if design.systems < 2:
        raise SettingError("a difference takes two systems", "give 2 or more")
    _check_size(effect, design, components, wish or Wish())
    rng = np.random.default_rng(design.seed)
    # The same draws serve every design: their figures differ by the design alone.
    drawn = rng.standard_normal((design.studies, max(design.items)))
    cells = []
    for items in sorted(set(design.items)):
        bits = _signs(items, _level(design), rng)
        for raters in sorted(set(design.raters)):
            sd = components.difference_sd(raters)
            differences = abs(effect) + sd * drawn[:, :items]
            cells.append(_make_cell(differences, bits, raters=raters, design=design))
    assumed = {"sd": components.sd, "icc": components.icc, "note": components.note}
    needs = _needs(effect, design, components, wish or Wish())
    return Plan("difference", effect, assumed, design, tuple(cells), needs)


def _check_size(effect: float, design: Design, components: Components, wish: Wish) -> None:
    """Refuse what would take more than memory, or more items than can be counted."""
    rows = max(design.studies, _count_flips(_level(design)))
    if (items := max(design.items)) * rows > _MOST_CELLS:
        raise SettingError(
            f"items={items:,} times {rows:,} studies or flips of signs is more than can be "
            f"simulated ({_MOST_CELLS:,} values)",
            f"give at most {_MOST_CELLS // rows:,} items, or fewer studies",
        )
    if not components.sd < _MOST_SD:
        raise SettingError(f"sd={components.sd:g} will not do", f"give less than {_MOST_SD:g}")
    for name, value in (("effect", abs(effect)), ("half_width", wish.half_width)):
        if value is not None and not components.sd <= _MOST_SPREAD * value:
            problem = (
                f"{name}={value:g} is nothing beside a standard deviation of {components.sd:g}"
            )
            raise SettingError(problem, "give a larger one")


def _level(design: Design) -> float:
    """Alpha for one of the pairs of systems (Bonferroni; Holm's is at most as strict)."""
    return design.alpha / math.comb(design.systems, 2)


def _make_cell(
    differences: Values, bits: np.ndarray[Any, Any], *, raters: int, design: Design
) -> Planned:
    studies, items = differences.shape
    significant = int((sign_flip_ps(differences, bits) <= _level(design)).sum())
    low, high = wilson_interval(significant, studies)
    reach = t_quantile(1 - design.alpha / 2, items - 1) / math.sqrt(items)
    half_width = reach * float(differences.std(axis=1, ddof=1).mean())
    stories = items * design.systems
    return Planned(items, raters, stories, significant / studies, low, high, half_width)


def _signs(items: int, level: float, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Which differences keep their sign: all ways where items are few, else a sample."""
    if items <= EXACT_ITEMS:
        return all_bits(items).astype(np.float64)
    return rng.integers(0, 2, (_count_flips(level), items)).astype(np.float64)


def _count_flips(level: float) -> int:
    return min(20_000, max(1000, math.ceil(40 / level))) - 1


def _needs(effect: float, design: Design, components: Components, wish: Wish) -> tuple[Need, ...]:
    spreads = {raters: components.difference_sd(raters) for raters in sorted(set(design.raters))}
    target = f"power {wish.power:g}"
    needs = [
        Need(target, raters, items_for_power(effect, sd, power=wish.power, alpha=_level(design)))
        for raters, sd in spreads.items()
    ]
    needs += [
        Need(target, _raters(_spread_for_power(effect, items, wish, design), components), items)
        for items in sorted(set(design.items))
    ]
    if wish.half_width is not None:
        target = f"half-width {wish.half_width:g}"
        reach = {"half_width": wish.half_width, "alpha": design.alpha}
        needs += [Need(target, k, items_for_half_width(sd, **reach)) for k, sd in spreads.items()]
        needs += [
            Need(target, raters_for_half_width(items, components, **reach), items)
            for items in sorted(set(design.items))
        ]
    return tuple(needs)


def items_for_power(effect: float, sd: float, *, power: float, alpha: float) -> int:
    """Items that a paired two-sided test needs (Guenther, 1981): an approximation."""
    if sd == 0:
        return 2
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2)
    needed = ((z + normal.inv_cdf(power)) * sd / effect) ** 2 + z * z / 2
    return max(2, math.ceil(needed))


def items_for_half_width(sd: float, *, half_width: float, alpha: float = 0.05) -> int:
    """Fewest items whose mean difference has an interval of at most plus or minus `half_width`."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    items = max(2, math.floor((z * sd / half_width) ** 2))
    while t_quantile(1 - alpha / 2, items - 1) * sd / math.sqrt(items) > half_width:
        items += 1
    return items


def raters_for_half_width(
    items: int, components: Components, *, half_width: float, alpha: float = 0.05
) -> int | None:
    """Fewest raters a story that make the interval so short; None where stories differ too much."""
    spread = half_width * math.sqrt(items) / t_quantile(1 - alpha / 2, items - 1)
    return _raters(spread, components)


def _spread_for_power(effect: float, items: int, wish: Wish, design: Design) -> float:
    """Largest spread of the differences at which the items do: Guenther's formula, turned."""
    normal = NormalDist()
    z = normal.inv_cdf(1 - _level(design) / 2)
    free_items = max(0.0, items - z * z / 2)
    return abs(effect) * math.sqrt(free_items) / (z + normal.inv_cdf(wish.power))


def _raters(spread: float, components: Components) -> int | None:
    """Fewest raters a story that leave differences such a spread."""
    left = spread * spread / 2 - components.story
    return max(1, math.ceil(components.noise / left)) if left > 0 else None
