"""Scales: how a value is made of what heads say of a text, and of its surface features."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fabula.text.features import FEATURE_NAMES

if TYPE_CHECKING:
    from fabula.core.model import Array

Link = Literal["identity", "logistic", "clipped"]

PERCENTILE_POINTS = 101
_CONFIDENCE = 1.96  # standard errors to either end of a 95 % interval
_WORDS = FEATURE_NAMES.index("log_words")
_COUNTS = [FEATURE_NAMES.index(name) for name in ("log_words", "log_unique_words")]


@dataclass(frozen=True)
class Term:
    """One output of a head, as it counts for a value."""

    head: str
    output: int = 0
    weight: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0


@dataclass(frozen=True)
class Surface:
    """A linear reading of the surface features, as it counts for a value."""

    version: int
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    weights: tuple[float, ...]
    clip: float = 3.0
    bias: float = 0.0
    weight: float = 1.0
    mean: float = 0.0
    deviation: float = 1.0

    def value(self, features: Sequence[float]) -> float:
        """Give bias + Σ weight · standardised feature."""
        row, means, deviations = map(np.array, ([features], self.means, self.deviations))
        [standardised] = standardise_features(row, means, deviations, self.clip)
        return self.bias + math.fsum(standardised * np.array(self.weights))


@dataclass(frozen=True)
class Scale:
    """How a value is made of heads and surface features, and where it stands among people's.

    `percentiles` are the raw values of human stories at 0, 1, … 100 %; `error` is the standard
    error of a raw value between trainings.
    """

    terms: tuple[Term, ...]
    surface: Surface | None = None
    link: Link = "identity"
    slope: float = 1.0
    shift: float = 0.0
    low: float = 1.0
    high: float = 5.0
    percentiles: tuple[float, ...] | None = None
    error: float | None = None

    def raw(self, outputs: Mapping[str, Array], features: Sequence[float] | None = None) -> float:
        """Add up (head − mean) / deviation by weight over the terms, and the surface's part.

        `outputs` are a story's by head, `features` its row of surface features.
        """
        raw = math.fsum(
            term.weight * (float(outputs[term.head][term.output]) - term.mean) / term.deviation
            for term in self.terms
        )
        if self.surface is None:
            return raw
        if features is None:
            raise ValueError("the scale reads surface features, and there are none")
        part = self.surface
        return raw + part.weight * (part.value(features) - part.mean) / part.deviation

    def value(self, raw: float) -> float:
        """Turn a raw value into the scale's own units."""
        value = raw * self.slope + self.shift
        if self.link == "logistic":
            # Written by tanh, which does not overflow.
            return 0.5 + 0.5 * math.tanh(value / 2)
        if self.link == "clipped" and not math.isnan(value):
            return min(max(value, self.low), self.high)
        return value

    def percentile(self, raw: float) -> float:
        """Give the share of human stories below a raw value, 0 to 100; NaN where it is not known.

        Between two points it is linear; where several points are equal, it is their middle.
        """
        points = self.percentiles
        if points is None or math.isnan(raw):
            return math.nan
        left, right = bisect_left(points, raw), bisect_right(points, raw)
        if left < right:
            return (left + right - 1) / 2
        if left in (0, len(points)):
            return 0.0 if left == 0 else float(len(points) - 1)
        below, above = points[left - 1], points[left]
        return left - 1 + (raw - below) / (above - below)

    def interval(self, raw: float) -> tuple[float, float]:
        """Give the percentiles between which another training would put it, 95 times of 100."""
        if self.error is None:
            return math.nan, math.nan
        reach = _CONFIDENCE * self.error
        return self.percentile(raw - reach), self.percentile(raw + reach)


def standardise_features(features: Array, means: Array, deviations: Array, clip: float) -> Array:
    """Give how far features lie from their means, in deviations, none beyond ±clip: (texts, 17).

    Shares and means over a few words jump. In a text shorter than `clip` deviations below the
    mean, all but the counts of words fade in proportion to its length.
    """
    bounded: Array = np.clip((features - means) / deviations, -clip, clip)  # (texts, 17)
    shortest = max(np.expm1(means[_WORDS] - clip * deviations[_WORDS]), 1.0)
    share = np.minimum(np.expm1(features[:, _WORDS]) / shortest, 1.0)  # (texts,)
    faded: Array = bounded * share[:, None]
    faded[:, _COUNTS] = bounded[:, _COUNTS]
    return faded
