"""What analyses share: data sets, values of unseen stories, and estimates by the same draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.datasets import datasets_below
from fabula.learned.training.stories import read_dataset
from fabula.meta.coefficients import Coefficient
from fabula.meta.resampling import Estimate, estimate_correlation, estimate_mean, estimate_rows
from fabula.replication.unseen import UnseenValues, read_unseen

Array = np.ndarray[Any, np.dtype[Any]]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Material:
    """Where data lie, how often is drawn, and what was read already.

    `vectors` are those that the frozen encoder gives texts, by their tokens.
    """

    data: Path | None = None
    seed: int = 1
    resamples: int = 1000
    report: Report = lambda line: None
    vectors: dict[tuple[int, ...], Array] = field(default_factory=dict)
    _sets: dict[str, Dataset] = field(default_factory=dict)
    _unseen: dict[str, UnseenValues] = field(default_factory=dict)

    @property
    def folder(self) -> Path | None:
        """Folder that holds a folder for each data set."""
        return datasets_below(self.data) if self.data else None

    def dataset(self, name: str) -> Dataset:
        """Read a data set, once."""
        if name not in self._sets:
            self._sets[name] = read_dataset(name, self.folder)
        return self._sets[name]

    def unseen(self, weights: str) -> UnseenValues:
        """Read what an asset or a training's folder keeps of unseen stories, once."""
        if weights not in self._unseen:
            self._unseen[weights] = read_unseen(weights)
        return self._unseen[weights]

    def ratings(self, name: str) -> dict[tuple[str, str], float]:
        """Give people's mean ratings of a data set by story and aspect."""
        by_rater: dict[tuple[str, str], list[float]] = {}
        for score in self.dataset(name).ratings:
            if not math.isnan(score.value):
                by_rater.setdefault((score.story, score.aspect), []).append(score.value)
        return {key: float(np.mean(values)) for key, values in by_rater.items()}

    def estimate_mean(self, values: Array, groups: Sequence[str]) -> Estimate:
        """Estimate a mean; what belongs to one group (a prompt, a story) is drawn together."""
        return estimate_mean(values, groups, resamples=self.resamples)

    def estimate_rows(self, figure: Callable[[Array], float], groups: Sequence[str]) -> Estimate:
        """Estimate any figure of rows, given by their places."""
        return estimate_rows(figure, groups, resamples=self.resamples)

    def estimate_correlation(
        self, x: Array, y: Array, groups: Sequence[str], coefficient: Coefficient = "spearman"
    ) -> Estimate:
        """Estimate a correlation of two columns where both are known; `n` counts those rows."""
        return estimate_correlation(x, y, groups, coefficient=coefficient, resamples=self.resamples)
