"""What readers said of stories whose items they had not learned from; it lies beside weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.reader.config import ReaderConfig, Scale, read_config
from fabula.learned.training.reader_scales import CROSS_FITTED
from fabula.meta.arrays import Values

Array = np.ndarray[Any, np.dtype[Any]]
_REMEDY = "train them with folds: fabula train storyer --folds 5"


@dataclass(frozen=True)
class UnseenValues:
    """Raw values of stories by readers that had not seen their item, seed by seed.

    `arrays` are, by task, the ids of its stories (`ids/task`) and, by scale and task, their values
    (`scale/task`): (seeds, stories).
    """

    config: ReaderConfig
    arrays: Mapping[str, Array]

    def ids(self, task: str) -> list[str]:
        """Name the stories of a task."""
        ids: list[str] = self._array(f"ids/{task}").tolist()
        return ids

    def by_seed(self, scale: str, task: str, ids: Sequence[str]) -> Values:
        """Give the values of stories on a scale, in the order asked for.  (seeds, ids)"""
        return self._columns(f"{scale}/{task}", task, ids)

    def surface(self, scale: str, task: str, ids: Sequence[str]) -> Values:
        """Give the part that comes of the surface features alone.  (seeds, ids)"""
        return self._columns(f"{scale}/{task}/surface", task, ids)

    def _columns(self, name: str, task: str, ids: Sequence[str]) -> Values:
        places = {story: place for place, story in enumerate(self.ids(task))}
        if unknown := sorted(set(ids) - places.keys()):
            problem = f"the weights were not measured on story {unknown[0]!r} of {task}"
            raise InputError(problem, "take the release of the data that they were trained on")
        columns = [places[story] for story in ids]
        return self._array(name)[:, columns].astype(np.float64)

    def in_order(self, scale: str, corpus: str, count: int) -> Values:
        """Give the values of a corpus's texts, so many, where they have no ids: (seeds, texts).

        Probes keep them in the order in which the corpus is read.
        """
        values = np.atleast_2d(self._array(f"{scale}/{corpus}")).astype(np.float64)
        if values.shape[1] != count:
            problem = (
                f"the weights were measured on {values.shape[1]} texts of {corpus}, not {count}"
            )
            raise InputError(problem, "take the release of the data that they were trained on")
        return values

    def raw(self, scale: str, task: str) -> dict[str, float]:
        """Give the raw value of every story by id: the mean over seeds, NaN where none is known."""
        values = self._array(f"{scale}/{task}").astype(float)
        known = ~np.isnan(values)
        means = np.where(known, values, 0).sum(0) / np.maximum(known.sum(0), 1)
        means = np.where(known.any(0), means, math.nan)
        return dict(zip(self.ids(task), means.tolist(), strict=True))

    def values(self, scale: str, task: str) -> dict[str, float]:
        """Give the same in the scale's own unit."""
        unit = self.scale(scale)
        return {story: unit.value(raw) for story, raw in self.raw(scale, task).items()}

    def scale(self, name: str) -> Scale:
        """Give a scale by its name."""
        if name not in self.config.scales:
            raise InputError(f"the weights have no scale {name!r}", "take others")
        return self.config.scales[name]

    def _array(self, name: str) -> Array:
        if name not in self.arrays:
            raise InputError(f"{CROSS_FITTED} of the weights holds no {name}", _REMEDY)
        return self.arrays[name]


def read_unseen(weights: str) -> UnseenValues:
    """Read what lies beside the weights of an asset, or of a training's folder."""
    folder = weights_folder(weights)
    file = folder / CROSS_FITTED
    if not file.is_file():
        raise InputError(f"the weights {weights!r} have no {CROSS_FITTED}", _REMEDY)
    with np.load(file, allow_pickle=False) as arrays:
        return UnseenValues(read_config(folder), dict(arrays))


def weights_folder(name: str) -> Path:
    """Give the folder of an asset, or one that is named."""
    from fabula.models import asset_names, path_of

    if name in asset_names():
        return path_of(name)
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise InputError(f"no weights are called {name!r}", "name an asset, or a training's folder")
    return folder
