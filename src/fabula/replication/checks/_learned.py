"""What the checks of learned metrics read: stories, their gold, and what readers said unseen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError, UserError
from fabula.core.score import Status
from fabula.core.story import Story
from fabula.learned.training.reader_scales import CROSS_FITTED
from fabula.learned.training.task_stories import read_dataset
from fabula.meta.arrays import Values
from fabula.models import path_of
from fabula.scoring.evaluate import BASELINES, evaluate

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Unseen:
    """Raw values of stories by readers that had not learned from their item: (seeds, texts)."""

    arrays: Mapping[str, Array]

    def ids(self, task: str) -> list[str]:
        """Name the stories of a task."""
        found: list[str] = self._array(f"ids/{task}").tolist()
        return found

    def raw(self, scale: str, task: str, ids: Sequence[str]) -> Values:
        """Give the values of stories on a scale, in the order asked for."""
        return self._ordered(f"{scale}/{task}", task, ids)

    def surface(self, scale: str, task: str, ids: Sequence[str]) -> Values:
        """Give the part that comes of the surface features alone."""
        return self._ordered(f"{scale}/{task}/surface", task, ids)

    def _ordered(self, name: str, task: str, ids: Sequence[str]) -> Values:
        places = {one: place for place, one in enumerate(self.ids(task))}
        if unknown := sorted(set(ids) - places.keys()):
            problem = f"the weights were not measured on story {unknown[0]!r} of {task}"
            raise InputError(problem, "take the release of the data that they were trained on")
        found: Values = self._array(name)[:, [places[one] for one in ids]].astype(np.float64)
        return found

    def _array(self, name: str) -> Array:
        if name not in self.arrays:
            raise InputError(f"{CROSS_FITTED} of the weights holds no {name}", "train with --folds")
        return self.arrays[name]


def unseen(weights: str) -> Unseen:
    """Read what lies beside the weights of an asset."""
    file = path_of(weights) / CROSS_FITTED
    if not file.is_file():
        raise InputError(f"the weights {weights!r} have no {CROSS_FITTED}", "train with --folds 5")
    with np.load(file, allow_pickle=False) as found:
        return Unseen({name: found[name] for name in found.files})


def dataset(name: str, data: Path | None) -> Dataset:
    """Read a data set below `data`/data."""
    if data is None or not (data / "data").is_dir():
        raise UserError("needs data below --data")
    return read_dataset(name, data / "data")


def gold_of(dataset: Dataset, stories: Sequence[Story], aspect: str) -> Values:
    """Give the mean of people's ratings of every story; NaN where nobody rated it."""
    said: dict[str, list[float]] = {}
    for score in dataset.ratings:
        if score.aspect == aspect and score.ok:
            said.setdefault(score.story, []).append(score.value)
    return np.array([np.mean(said[one.id]) if one.id in said else np.nan for one in stories])


def trivial(stories: Sequence[Story]) -> dict[str, Values]:
    """Score stories with the trivial baselines."""
    return {name: scored(stories, name) for name in BASELINES}


def scored(stories: Sequence[Story], spec: str, aspect: str = "") -> Values:
    """Give a metric's values of stories; a model that is missing is for the user to mend."""
    table = [one for one in evaluate(stories, spec) if one.aspect == aspect]
    if missing := next((one for one in table if one.status is Status.MISSING_MODEL), None):
        raise UserError(missing.note)
    return np.array([one.value for one in table], dtype=np.float64)


def published(dataset: Dataset, stories: Sequence[Story], scorer: str) -> Values:
    """Give the values that came with the data set."""
    found = {one.story: one.value for one in dataset.scores.of(scorer)}
    return np.array([found.get(one.id, np.nan) for one in stories], dtype=np.float64)


def items_of(stories: Sequence[Story]) -> list[str]:
    """Name the item of every story; one without stands alone."""
    return [str(one.item) if one.item is not None else f"story {one.id}" for one in stories]
