"""What surface features are worth: linear, from preferences or ratings, by folds or from all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fabula.learned.reader.config import standardise_features
from fabula.learned.training.examples import ExampleSet
from fabula.text.features import FEATURE_NAMES

Array = np.ndarray[Any, np.dtype[Any]]
Opinions = Sequence[tuple[ExampleSet, int | None]]  # examples, and which output; None: pairs

CLIP = 3.0
_RIDGE = 10.0


def fit_surface(
    opinions: Opinions, without: Sequence[str] = (), rows: Sequence[Array] | None = None
) -> tuple[Array, Array, Array]:
    """Fit weights of standardised features; give means, deviations and weights.

    Ratings by least squares, preferences by logistic regression of the difference, both with a
    ridge of 10. `rows` are the examples of each that are learned from.
    """
    features = np.concatenate([one.features for one, _ in opinions]).astype(np.float64)
    means, deviations = features.mean(0), np.maximum(features.std(0), 1e-9)
    chosen = rows or [np.arange(len(one)) for one, _ in opinions]
    used = np.array([name not in without for name in FEATURE_NAMES])
    gram, right = np.eye(len(FEATURE_NAMES)) * _RIDGE, np.zeros(len(FEATURE_NAMES))
    gaps = []
    for (one, output), numbers in zip(opinions, chosen, strict=True):
        scaled = standardise_features(one.features, means, deviations, CLIP) * used
        if output is None:
            first, second = one.members[numbers].T
            gaps.append(scaled[first] - scaled[second])
            continue
        said = one.targets[numbers, output]
        there = ~np.isnan(said)
        x = scaled[one.members[numbers, 0]][there]
        y = said[there] - said[there].mean()
        gram += x.T @ x
        right += x.T @ (y / (y.std() or 1.0))
    weights = np.linalg.solve(gram, right)
    return means, deviations, fit_ranking(np.concatenate(gaps)) if gaps else weights


def fit_ranking(gaps: Array, ridge: float | Array = _RIDGE) -> Array:
    """Weights under which the better story of a pair is likely to be ahead.

    `gaps` are its features less those of the other story; a ridge may be said for every feature.
    """
    weights = np.zeros(gaps.shape[1])
    for _ in range(50):
        share = 1 / (1 + np.exp(-gaps @ weights))
        slope = ridge * weights - gaps.T @ (1 - share)
        bend = (gaps * (share * (1 - share))[:, None]).T @ gaps + ridge * np.eye(len(weights))
        weights -= np.linalg.solve(bend, slope)
    return weights


def surface_values(features: Array, fitted: tuple[Array, Array, Array]) -> Array:
    """Give the surface's own value of texts."""
    means, deviations, weights = fitted
    values: Array = standardise_features(features, means, deviations, CLIP) @ weights
    return values


def surface_parts(
    examples: ExampleSet,
    parts: Array,
    *,
    opinions: Opinions,
    folds: Sequence[Array],
    own: Sequence[bool],
    without: Sequence[str] = (),
) -> Array:
    """Give the surface's value of texts by weights that were fitted without their fold.

    `parts` is the fold of every text, (seeds, texts); `folds` the same of every opinion's texts.
    Opinions on other data sets count in full: no fold parts them from these texts.
    """
    values = np.full(parts.shape, np.nan)
    for seed, part in enumerate(parts):
        for fold in sorted({*part.tolist()} - {-1}):
            rows = [
                np.flatnonzero(some[seed][one.members[:, 0]] != fold)
                if mine
                else np.arange(len(one))
                for (one, _), some, mine in zip(opinions, folds, own, strict=True)
            ]
            fitted = fit_surface(opinions, without, rows)
            there = part == fold
            values[seed, there] = surface_values(examples.features[there], fitted)
    return values
