"""What a study finds: how far one metric agrees with the gold, and what that cannot bear.

Where a data set has no ratings but choices between two stories, agreement is how often a metric
prefers the story that people prefer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from fabula.core.dataset import Dataset, Preference, ScorerCard
from fabula.core.errors import UnknownName, closest
from fabula.meta.arrays import Places, Values, mean_defined
from fabula.meta.bootstrap import gains_over
from fabula.meta.grid import Grid, Layout
from fabula.meta.levels import Level
from fabula.meta.measure import Statistic
from fabula.meta.resampling import (
    NO_ESTIMATE,
    Estimate,
    Estimates,
    number_units,
    percentile_interval,
    resample_means,
    sum_units,
)

PREFERENCE = "preference"  # the aspect of choices between stories
# What is said of choices: the share of pairs in which the better story has the higher value, a tie
# being half right or, strictly, wrong (as StoryER counts); and by how much it is higher on average,
# in the metric's unit, or in standard deviations of its values.
ChoiceFigure = Literal["accuracy", "strict_accuracy", "distance", "distance_sd"]
CHOICE_FIGURES: tuple[ChoiceFigure, ...] = get_args(ChoiceFigure)
# Below so many items, systems or stories an interval is a hint at best.
FEW = {"item": 20, "system": 8, "pooled": 30}
_CHANCE = 0.5


@dataclass(frozen=True)
class MetricResult:
    """How far one metric agrees with the gold on one aspect, at one level, by one coefficient.

    The interval of `estimate` is a bootstrap's; `ceiling` is what a perfect metric could reach,
    given the raters' noise. `gain` is how much larger the value is than the largest one, sign
    apart, of the trivial baselines, with the interval of that difference.
    """

    metric: str
    aspect: str
    level: Level
    coefficient: Statistic | ChoiceFigure
    estimate: Estimate
    ceiling: float = math.nan
    gain: Estimate = NO_ESTIMATE
    family: str = ""
    direction: str = "descriptive"

    def row(self) -> dict[str, Any]:
        """Give a flat row in which what is missing is None."""
        row = {
            "metric": self.metric,
            "aspect": self.aspect,
            "level": self.level,
            "coefficient": self.coefficient,
            "value": self.estimate.value,
            "n": self.estimate.n,
            "undefined": self.estimate.undefined,
            "low": self.estimate.low,
            "high": self.estimate.high,
            "ceiling": self.ceiling,
            "gain": self.gain.value,
            "gain_low": self.gain.low,
            "gain_high": self.gain.high,
            "family": self.family,
            "direction": self.direction,
        }
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in row.items()
        }


def list_cautions(dataset: Dataset, layout: Layout, results: Sequence[MetricResult]) -> list[str]:
    """Say plainly what the numbers cannot bear."""
    words = []
    units: Mapping[str, str] = {"item": "items", "system": "systems", "pooled": "stories"}
    for level, few in FEW.items():
        counts = [result.estimate.n for result in results if result.level == level]
        if counts and max(counts) < few:
            words.append(
                f"n is too small at the {level} level: {max(counts)} {units[level]}. Fewer than "
                f"{few} tell little; look at the intervals, not at the values."
            )
    if layout.shape[1] < 2:
        words.append("There are no systems to tell apart, so that only the pooled level is left.")
    unknown = sorted({result.metric for result in results if result.direction == "descriptive"})
    if unknown:
        words.append(f"Metrics without a direction, whose sign is as it is: {len(unknown)}.")
    if not dataset.card.raters_known:
        words.append(
            "The raters are not known, only their ratings in the order they came: whoever is "
            "strict counts as noise, and the noise ceilings are too low. A metric may lie above."
        )
    return words


def asks_choices(dataset: Dataset, aspects: Sequence[str] = ()) -> bool:
    """Whether choices between stories are meant: nothing else is there, or they are named."""
    if not dataset.preferences:
        return False
    named = {choice.aspect for choice in dataset.preferences}
    rated = {score.aspect for score in dataset.ratings}
    return not rated or (bool(aspects) and {*aspects} <= named - rated)


def list_choices(dataset: Dataset, aspects: Sequence[str] = ()) -> tuple[Preference, ...]:
    """Give the choices on these aspects; all without any."""
    known = {choice.aspect for choice in dataset.preferences}
    for name in aspects:
        if name not in known:
            raise UnknownName(f"no aspect is called {name!r} here", closest(name, known))
    return tuple(one for one in dataset.preferences if not aspects or one.aspect in aspects)


def preference_results(
    dataset: Dataset, metrics: Grid, *, resamples: int = 1000, seed: int = 0, alpha: float = 0.05
) -> list[MetricResult]:
    """Say how far every metric of a grid, turned so that more is better, chooses as people do.

    `CHOICE_FIGURES` names the figures. Pairs that lack a value of either story are left out, and
    counted as undefined. The bootstrap draws items (the prompts that the pairs answer), not pairs:
    those of one prompt share stories. A baseline is taken the way round that suits it.
    """
    better, worse = _pair_values(dataset, metrics)
    gaps = better - worse  # (metrics, pairs)
    units = _number_items(dataset)
    cards = [
        dataset.scorers.get(column.scorer, ScorerCard("", "descriptive"))
        for column in metrics.columns
    ]
    trivial = np.array([card.family == "baseline" for card in cards])
    results = []
    for figure, values in _choice_values(gaps, _spread(metrics, dataset)).items():
        value, draws = _resample(values, units, resamples, seed)
        known = ~np.isnan(values)[:, :, None]
        ends = percentile_interval(draws, alpha)
        estimates = Estimates(value, *ends, known.sum(1), (~known).sum(1))
        has_gain = figure == "accuracy"  # a distance is in its metric's unit, not in another's
        gains = gains_over(value - _CHANCE, draws - _CHANCE, trivial, alpha) if has_gain else None
        results += [
            MetricResult(
                column.label,
                PREFERENCE,
                "pooled",
                figure,
                estimates[i, 0],
                gain=gains[i, 0] if gains else NO_ESTIMATE,
                family=cards[i].family,
                direction=cards[i].direction,
            )
            for i, column in enumerate(metrics.columns)
        ]
    return results


def _pair_values(dataset: Dataset, metrics: Grid) -> tuple[Values, Values]:
    """Give the values of the better and of the worse story of every pair: (metrics, pairs) each."""
    cells = metrics.layout.places
    pairs = [(cells[choice.better], cells[choice.worse]) for choice in dataset.preferences]
    better, worse = (np.array([pair[side] for pair in pairs]).T for side in (0, 1))
    return metrics.values[:, better[0], better[1]], metrics.values[:, worse[0], worse[1]]


def _spread(metrics: Grid, dataset: Dataset) -> Values:
    """Standard deviation of every metric over the stories that stand in pairs: (metrics,)."""
    chosen = {name for one in dataset.preferences for name in (one.better, one.worse)}
    rows, columns = np.array([metrics.layout.places[name] for name in sorted(chosen)]).T
    values = metrics.values[:, rows, columns]
    means = mean_defined(values)
    spread: Values = np.sqrt(mean_defined((values - means[:, None]) ** 2))
    return spread


def _choice_values(gaps: Values, spread: Values) -> dict[ChoiceFigure, Values]:
    """Give what is averaged over pairs for each figure; NaN where a value is missing."""
    known = ~np.isnan(gaps)
    divisor = np.where(spread > 0, spread, np.nan)[:, None]
    return {
        "accuracy": np.where(known, (gaps > 0) + (gaps == 0) / 2, np.nan),
        "strict_accuracy": np.where(known, gaps > 0, np.nan),
        "distance": gaps,
        "distance_sd": gaps / divisor,
    }


def _number_items(dataset: Dataset) -> Places:
    """Number the item of every pair; a pair without one stands alone."""
    items = {story.id: story.item for story in dataset.stories}
    names = [items[choice.better] for choice in dataset.preferences]
    return number_units(
        [(None, at) if item is None else (item, 0) for at, item in enumerate(names)]
    )


def _resample(values: Values, units: Places, resamples: int, seed: int) -> tuple[Values, Values]:
    """Mean over pairs, and that of every draw: (metrics, 1) and (draws, metrics, 1)."""
    sums, sizes = sum_units(values.T, units)  # (items, metrics)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = sums.sum(0) / sizes.sum(0)
    none = np.full((1, sums.shape[1]), np.nan)
    draws = resample_means(sums, sizes, resamples, seed) if len(sums) > 1 else none
    return value[:, None], draws[:, :, None]
