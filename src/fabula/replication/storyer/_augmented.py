"""Comments in the heads setting: what they are like as a target, and labels that are hidden.

The public part of StoryER has no comment without an aspect. To see what augmentation is worth, the
labels of half of the comments are hidden, and augmentation has to find them again.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.augmentation import Comment
from fabula.learned.training.examples import ExampleSet
from fabula.learned.training.labelled_comments import Said, comments_of, label_comments
from fabula.models import PooledBert
from fabula.replication.storyer._heads import Change, read_once
from fabula.replication.storyer._material import Material
from fabula.replication.storyer._variants import ASPECTS as TASKS
from fabula.replication.storyer._variants import Labels as Kept

Array = np.ndarray[Any, np.dtype[Any]]
_LONGEST = 254


def comment_examples(
    material: Material, stories: ExampleSet, encoder: PooledBert, *, components: int
) -> ExampleSet:
    """Give the stories with what their comments are like: (stories, components).

    It is the mean of the comments' own vectors along their first principal components.
    """
    dataset = material.dataset("storyer_ratings")
    said = comments_of(dataset)
    if not said:
        raise InputError(f"{dataset.name} has no comments", "leave the analysis out")
    ids = [tuple(encoder.ids(one.text)) for one in said]
    rows = read_once(ids, encoder, _LONGEST, lambda line: None)
    by_story: dict[str, list[Array]] = {}
    for one, row in zip(said, rows, strict=True):
        by_story.setdefault(f"{dataset.name}:{one.story}", []).append(row)
    means = np.array([np.mean(some, axis=0) for some in by_story.values()])
    _, _, axes = np.linalg.svd(means - means.mean(0), full_matrices=False)
    found = np.full((len(stories), components), np.nan, dtype=np.float32)
    told = (means - means.mean(0)) @ axes[:components].T
    told = told / np.maximum(told.std(0), 1e-6)
    place = {name: number for number, name in enumerate(by_story)}
    for row, number in enumerate(stories.members[:, 0].tolist()):
        if (name := stories.ids[number]) in place:
            found[row, : told.shape[1]] = told[place[name]]
    return replace(stories, targets=found)


@dataclass
class Labels:
    """Labels of comments, of which half can be hidden; counts what augmentation makes of them."""

    dataset: Dataset
    stories: ExampleSet
    seen: Counter[str] = field(default_factory=Counter)

    def change(self, kept: Kept) -> Change:
        """Give what changes the examples of aspects to those whose labels are known."""

        def changed(examples: dict[str, ExampleSet], seed: int) -> dict[str, ExampleSet]:
            stories = set(examples[TASKS[0]].items)
            inside = [one for one in comments_of(self.dataset) if self._item(one) in stories]
            shuffled = random.Random(f"{seed} half").sample(inside, len(inside))
            known, hidden = shuffled[: len(inside) // 2], shuffled[len(inside) // 2 :]
            if kept == "augmented":
                known = [*known, *self._found_again(known, hidden, seed)]
            found = dict(examples)
            for name, is_share in zip(TASKS, (False, True), strict=True):
                if name in examples:
                    found[name] = self._labelled(examples[name], known, is_share=is_share)
            return found

        return changed

    def _found_again(self, known: list[Said], hidden: list[Said], seed: int) -> list[Said]:
        """Label hidden comments by classifiers that saw the known ones alone."""
        asked = [Comment(one.story, one.text) for one in hidden]
        found = label_comments(known, asked, seed=seed)
        truth = {(one.story, one.text): one.aspect for one in hidden}
        self.seen["hidden"] += len(hidden)
        self.seen["kept"] += len(found.kept)
        self.seen["right"] += sum(truth[one.story, one.text] == one.aspect for one in found.kept)
        return [Said(one.story, one.aspect, 1 + 4 * one.rating, one.text) for one in found.kept]

    def _labelled(self, examples: ExampleSet, known: list[Said], *, is_share: bool) -> ExampleSet:
        """Give the examples with what known comments say; stories without any are left out."""
        said: dict[tuple[str, str], list[float]] = {}
        for one in known:
            said.setdefault((f"{self.dataset.name}:{one.story}", one.aspect), []).append(one.rating)
        rows = []
        for number in examples.members[:, 0].tolist():
            row = [said.get((examples.ids[number], aspect), []) for aspect in ASPECTS]
            total = sum(map(len, row))
            rows.append(
                [len(one) / max(total, 1) for one in row]
                if is_share
                else [float(np.mean(one)) if one else np.nan for one in row]
            )
        targets = np.array(rows)
        kept = np.flatnonzero(targets.any(1) if is_share else ~np.isnan(targets).all(1))
        if not is_share:
            spread = max(float(np.nanstd(targets)), 1e-6)
            targets = (targets - np.nanmean(targets)) / spread
        return replace(examples, targets=targets).chosen(kept)

    def _item(self, one: Said) -> str:
        return self._items[f"{self.dataset.name}:{one.story}"]

    @property
    def _items(self) -> dict[str, str]:
        numbers = self.stories.members[:, 0].tolist()
        names = (self.stories.ids[number] for number in numbers)
        return dict(zip(names, self.stories.items, strict=True))
