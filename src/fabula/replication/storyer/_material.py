"""What analyses share: data sets and weights, each read once, seeds, and where progress is said."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.learned.reader.config import ReaderConfig, read_config
from fabula.learned.reader.scales import Scale
from fabula.learned.training.reader_scales import CROSS_FITTED
from fabula.learned.training.task_stories import read_dataset

Array = np.ndarray[Any, np.dtype[Any]]
Report = Callable[[str], None]


@dataclass(frozen=True)
class Unseen:
    """What readers said of stories whose items they had not learned from."""

    about: ReaderConfig
    arrays: Mapping[str, Array]

    def raw(self, scale: str, task: str) -> dict[str, float]:
        """Give the raw value of every story by id: the mean over seeds, NaN where none is known."""
        key, ids = f"{scale}/{task}", f"ids/{task}"
        if key not in self.arrays or ids not in self.arrays:
            problem = f"the weights keep no values {key} of unseen stories"
            raise InputError(problem, "train them with folds: fabula train storyer --folds 5")
        values = self.arrays[key].astype(float)
        known = ~np.isnan(values)
        means = np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
        found = np.where(known.any(0), means, math.nan)
        return dict(zip(self.arrays[ids].tolist(), found.tolist(), strict=True))

    def values(self, scale: str, task: str) -> dict[str, float]:
        """Give the same in the scale's own unit."""
        how = self.scale(scale)
        return {name: how.value(raw) for name, raw in self.raw(scale, task).items()}

    def scale(self, name: str) -> Scale:
        """Give a scale by its name."""
        if name not in self.about.scales:
            raise InputError(f"the weights have no scale {name!r}", "take others")
        return self.about.scales[name]


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
    _unseen: dict[str, Unseen] = field(default_factory=dict)

    @property
    def folder(self) -> Path | None:
        """Folder of the data sets: data/ below the one that was named, where there is one."""
        inner = self.data / "data" if self.data else None
        return inner if inner and inner.is_dir() else self.data

    def dataset(self, name: str) -> Dataset:
        """Read a data set, once."""
        if name not in self._sets:
            self._sets[name] = read_dataset(name, self.folder)
        return self._sets[name]

    def unseen(self, weights: str) -> Unseen:
        """Read what an asset or a training's folder keeps of unseen stories, once."""
        if weights not in self._unseen:
            folder = weights_folder(weights)
            file = folder / CROSS_FITTED
            if not file.is_file():
                problem = f"{folder} keeps no values of unseen stories ({CROSS_FITTED})"
                raise InputError(problem, "train it with folds: fabula train storyer --folds 5")
            with np.load(file, allow_pickle=False) as found:
                self._unseen[weights] = Unseen(read_config(folder), dict(found))
        return self._unseen[weights]

    def ratings(self, name: str) -> dict[tuple[str, str], float]:
        """Give people's mean ratings of a data set by story and aspect."""
        said: dict[tuple[str, str], list[float]] = {}
        for score in self.dataset(name).ratings:
            if not math.isnan(score.value):
                said.setdefault((score.story, score.aspect), []).append(score.value)
        return {key: float(np.mean(values)) for key, values in said.items()}


def weights_folder(name: str) -> Path:
    """Give the folder of an asset, or one that is named."""
    from fabula.models import asset_names, path_of

    if name in asset_names():
        return path_of(name)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise InputError(f"no weights are called {name!r}", "name an asset, or a training's folder")
    return folder
