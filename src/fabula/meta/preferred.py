"""How often a metric prefers the story that people prefer: accuracy on pairs of stories."""

from __future__ import annotations

from typing import Any

import numpy as np

from fabula.core.dataset import Dataset, ScorerCard
from fabula.meta.arrays import Values
from fabula.meta.correlated import Correlated
from fabula.meta.gains import gains_over
from fabula.meta.grid import Grid
from fabula.meta.resampling import draw_counts, percentile_interval

ASPECT = "preference"
_CHANCE = 0.5
Places = np.ndarray[Any, np.dtype[np.int64]]


def preference_accuracies(
    dataset: Dataset, metrics: Grid, *, resamples: int = 1000, seed: int = 0, alpha: float = 0.05
) -> list[Correlated]:
    """Give the accuracy of every metric of a grid, turned so that more is better, on the pairs.

    A tie counts half. Pairs that lack a value of either story are left out, and counted as
    undefined. The bootstrap draws items (the prompts that the pairs answer), not pairs: those of
    one prompt share stories. A baseline is taken the way round that suits it.
    """
    cells = metrics.layout.places
    pairs = [(cells[one.better], cells[one.worse]) for one in dataset.preferences]
    better, worse = (np.array([pair[side] for pair in pairs]).T for side in (0, 1))
    gaps = metrics.values[:, better[0], better[1]] - metrics.values[:, worse[0], worse[1]]
    known = ~np.isnan(gaps)
    won = np.where(known, (gaps > 0) + (gaps == 0) / 2, 0.0)  # (metrics, pairs)
    value, draws = _resampled(won, known, _units(dataset), resamples, seed)
    unknown = ScorerCard("", "descriptive")
    cards = [dataset.scorers.get(one.scorer, unknown) for one in metrics.columns]
    trivial = np.array([card.family == "baseline" for card in cards])
    low, high = percentile_interval(draws, alpha)
    gain, least, most = gains_over(value - _CHANCE, draws - _CHANCE, trivial, alpha)
    return [
        Correlated(
            column.label,
            ASPECT,
            "pooled",
            "accuracy",
            float(value[i, 0]),
            int(known[i].sum()),
            int((~known[i]).sum()),
            float(low[i, 0]),
            float(high[i, 0]),
            gain=float(gain[i, 0]),
            gain_low=float(least[i, 0]),
            gain_high=float(most[i, 0]),
            family=cards[i].family,
            direction=cards[i].direction,
        )
        for i, column in enumerate(metrics.columns)
    ]


def _units(dataset: Dataset) -> Places:
    """Number the item of every pair; a pair without one stands alone."""
    items = {story.id: story.item for story in dataset.stories}
    names: dict[tuple[str | None, int], int] = {}
    found = []
    for number, one in enumerate(dataset.preferences):
        item = items[one.better]
        key = (item, 0) if item is not None else (None, number)
        found.append(names.setdefault(key, len(names)))
    return np.array(found, dtype=np.int64)


def _resampled(
    won: Values, known: Places, units: Places, resamples: int, seed: int
) -> tuple[Values, Values]:
    """Accuracy, and that of every draw: (metrics, 1) and (draws, metrics, 1)."""
    count = int(units.max()) + 1
    sums, counts = np.zeros((2, count, len(won)))
    np.add.at(sums, units, won.T)
    np.add.at(counts, units, known.T.astype(np.float64))
    drawn = draw_counts(count, resamples, seed) if count > 1 else np.full((1, 1), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = sums.sum(0) / counts.sum(0)
        draws = (drawn @ sums) / (drawn @ counts)
    return value[:, None], draws[:, :, None]
