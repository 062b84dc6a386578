"""Leave one corpus out: does what was learned from all others hold on people never met?

Columns are what is known of a text: states of an encoder that stays as it is, surface features.
A linear preference is fitted to the choices of every corpus but one data set's, all corpora
counting alike, and measured on the one left out, beside the trivial baselines. What is chosen by
the mean over corpora left out is chosen by what generalises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fabula.learned.training.choices import Choices
from fabula.meta.resampling import Estimate, estimate, resample_means, sum_units
from fabula.text.features import FEATURE_NAMES, feature_row

Array = np.ndarray[Any, np.dtype[Any]]

# Columns by corpus: (texts, columns) each.
Columns = Mapping[str, Array]

# What anybody can count, each with the direction in which more of it is thought to be better.
TRIVIAL = {
    "log_words": 1,
    "log_unique_words": 1,
    "type_token_ratio": 1,
    "moving_type_token_ratio": 1,
    "sentence_length": 1,
    "word_length": 1,
    "repeated_trigrams": -1,
}
# Never learned from, however the others are parted.
TEST_ONLY = ("coherence_roc300",)
RESAMPLES = 2000
_CLIP = 4.0


@dataclass(frozen=True)
class Held:
    """What came out for the corpus left out.

    `accuracy` is the share of choices that agree, `baseline` the best trivial one's and `name` its
    name; `gain` is the paired difference.
    """

    corpus: str
    choices: int
    accuracy: Estimate
    name: str
    baseline: float
    gain: Estimate


@dataclass(frozen=True)
class LeftOut:
    """What came out for every corpus of a question, and the mean gain over them."""

    held: tuple[Held, ...]
    mean_gain: Estimate


def surface_columns(corpora: Sequence[Choices], without: Sequence[str] = ()) -> dict[str, Array]:
    """Give the surface features of every corpus's texts; `without` names those left out."""
    kept = [place for place, name in enumerate(FEATURE_NAMES) if name not in without]
    return {one.corpus: _features(one.texts)[:, kept] for one in corpora}


def join_columns(*parts: tuple[Columns, float]) -> dict[str, Array]:
    """Put columns side by side, each standardised over all corpora and times its weight.

    A column of a smaller weight is held down by the same penalty more than others.
    """
    joined: dict[str, list[Array]] = {}
    for columns, weight in parts:
        everything = np.concatenate(list(columns.values())).astype(np.float64)
        mean, deviation = everything.mean(0), everything.std(0)
        deviation = np.where(deviation > 1e-9, deviation, 1.0)
        for corpus, values in columns.items():
            scaled = np.clip((values - mean) / deviation, -_CLIP, _CLIP) * weight
            joined.setdefault(corpus, []).append(scaled)
    return {corpus: np.concatenate(values, axis=1) for corpus, values in joined.items()}


def leave_out(
    corpora: Sequence[Choices],
    columns: Columns,
    *,
    penalty: float = 0.1,
    resamples: int = RESAMPLES,
    also: Sequence[Choices] = (),
    fit: Callable[[Sequence[Choices]], Array] | None = None,
) -> LeftOut:
    """Learn from all corpora but one, and all of `also` that is of other data, for each in turn.

    `fit` gives the weights of columns, where they are more than a plain fit by the penalty.
    """
    held, gains = [], []
    for one in corpora:
        others = choose_others(one, (*corpora, *also))
        preference = fit(others) if fit else fit_preference(others, columns, penalty)
        result, draws = _measure(one, columns[one.corpus] @ preference, resamples)
        held.append(result)
        gains.append(draws)
    mean = float(np.mean([one.gain.value for one in held]))
    return LeftOut(tuple(held), estimate(mean, np.mean(gains, axis=0), n=len(held)))


def choose_others(one: Choices, corpora: Sequence[Choices]) -> list[Choices]:
    """Give the corpora that may be learned from when one is left out: those of other data."""
    return [other for other in corpora if other.data != one.data and other.corpus not in TEST_ONLY]


def fit_preference(corpora: Sequence[Choices], columns: Columns, penalty: float) -> Array:
    """Fit the weights of columns to choices by logistic regression; all corpora count alike."""
    from scipy.optimize import minimize

    parts = [
        (columns[one.corpus][one.pairs[:, 0]] - columns[one.corpus][one.pairs[:, 1]], one.weights)
        for one in corpora
    ]
    rows = np.concatenate([difference for difference, _ in parts])
    shares = np.concatenate([weights / weights.sum() / len(parts) for _, weights in parts])

    def loss(preference: Array) -> tuple[float, Array]:
        margins = rows @ preference
        losses = np.logaddexp(0, -margins)
        slope = -shares / (1 + np.exp(np.clip(margins, -500, 500)))
        value = float(shares @ losses + penalty / 2 * preference @ preference)
        return value, rows.T @ slope + penalty * preference

    found = minimize(loss, np.zeros(rows.shape[1]), jac=True, method="L-BFGS-B")
    preference: Array = found.x
    return preference


def measure_columns(corpora: Sequence[Choices], columns: Columns) -> list[Held]:
    """Measure one ready column a corpus, such as a metric's values, as it is."""
    return [_measure(one, columns[one.corpus][:, 0], RESAMPLES)[0] for one in corpora]


def _measure(choices: Choices, values: Array, resamples: int) -> tuple[Held, Array]:
    right = _agreement(choices, values)
    baselines = {
        name: _agreement(choices, sign * _features(choices.texts)[:, FEATURE_NAMES.index(name)])
        for name, sign in TRIVIAL.items()
    }
    shares = {name: np.average(one, weights=choices.weights) for name, one in baselines.items()}
    best = max(shares, key=lambda name: shares[name])
    accuracy, _ = _estimate(choices, right, resamples)
    gain, draws = _estimate(choices, right - baselines[best], resamples)
    result = Held(choices.corpus, len(choices), accuracy, best, float(shares[best]), gain)
    return result, draws


def _agreement(choices: Choices, values: Array) -> Array:
    """Give 1 where the better text has the higher value, ½ for a tie: (choices,)."""
    better, worse = values[choices.pairs].T
    return np.where(better > worse, 1.0, np.where(better == worse, 0.5, 0.0))


@lru_cache(maxsize=64)
def _features(texts: tuple[str, ...]) -> Array:
    return np.array([feature_row(text) for text in texts])


def _estimate(choices: Choices, values: Array, resamples: int) -> tuple[Estimate, Array]:
    """Estimate a weighted mean over choices, items drawn again."""
    sums, _ = sum_units(values * choices.weights, choices.units)
    sizes, _ = sum_units(choices.weights, choices.units)
    draws = resample_means(sums, sizes, resamples, seed=0)
    value = float(np.average(values, weights=choices.weights))
    return estimate(value, draws, n=len(values)), draws
