"""Comments as examples: what they are like as a target, and aspects whose labels are hidden.

The public part of StoryER has no comment without an aspect. To see what augmentation is worth, the
labels of half of the comments are hidden, and augmentation has to find them again.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from fabula.core.dataset import Dataset
from fabula.core.errors import InputError
from fabula.datasets.storyer_ratings import ASPECTS
from fabula.learned.training.augmentation import (
    Comment,
    LabelledComment,
    comments_of,
    label_comments,
)
from fabula.learned.training.examples import ExampleSet
from fabula.models.networks.encoder import PooledBert
from fabula.replication.storyer.heads import Change, read_once
from fabula.replication.storyer.material import Material

Array = np.ndarray[Any, np.dtype[Any]]
KnownLabels = Literal["all", "half", "augmented"]
# The tasks of ratings by aspect, and of which aspects are spoken of.
ASPECT_TASKS = ("aspects", "confidence")
_LONGEST = 254  # tokens of a comment that are read


def comment_examples(
    material: Material, stories: ExampleSet, encoder: PooledBert, *, components: int
) -> ExampleSet:
    """Give the stories with what their comments are like: (stories, components).

    It is the mean of the comments' own vectors along their first principal components.
    """
    dataset = material.dataset("storyer_ratings")
    comments = comments_of(dataset)
    if not comments:
        raise InputError(f"{dataset.name} has no comments", "leave the analysis out")
    ids = [tuple(encoder.ids(comment.text)) for comment in comments]
    rows = read_once(ids, encoder, _LONGEST, lambda line: None)  # (comments, width)
    by_story: dict[str, list[Array]] = {}
    for comment, row in zip(comments, rows, strict=True):
        by_story.setdefault(f"{dataset.name}:{comment.story}", []).append(row)
    means = np.array([np.mean(vectors, axis=0) for vectors in by_story.values()])
    centred = means - means.mean(0)
    # Rows of `axes` are principal components, by falling variance.
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    scores = centred @ axes[:components].T
    scores = scores / np.maximum(scores.std(0), 1e-6)
    place = {name: number for number, name in enumerate(by_story)}
    targets = np.full((len(stories), components), np.nan, dtype=np.float32)
    for row, number in enumerate(stories.members[:, 0].tolist()):
        if (name := stories.ids[number]) in place:
            targets[row, : scores.shape[1]] = scores[place[name]]
    return replace(stories, targets=targets)


@dataclass(frozen=True)
class CommentLabels:
    """Labels of comments, of which half can be hidden; counts what augmentation makes of them."""

    dataset: Dataset
    stories: ExampleSet
    counts: Counter[str] = field(default_factory=Counter)

    def change(self, labels: KnownLabels) -> Change:
        """Give what changes the examples of aspects to those whose labels are known."""

        def change(examples: dict[str, ExampleSet], seed: int) -> dict[str, ExampleSet]:
            items = set(examples[ASPECT_TASKS[0]].items)
            inside = [
                comment for comment in comments_of(self.dataset) if self._item(comment) in items
            ]
            shuffled = random.Random(f"{seed} half").sample(inside, len(inside))
            known, hidden = shuffled[: len(inside) // 2], shuffled[len(inside) // 2 :]
            if labels == "augmented":
                known = [*known, *self._augment(known, hidden, seed)]
            changed = dict(examples)
            for task, is_share in zip(ASPECT_TASKS, (False, True), strict=True):
                if task in examples:
                    changed[task] = self._label(examples[task], known, is_share=is_share)
            return changed

        return change

    def _augment(
        self, known: list[LabelledComment], hidden: list[LabelledComment], seed: int
    ) -> list[LabelledComment]:
        """Label hidden comments by classifiers that saw the known ones alone."""
        unlabelled = [Comment(comment.story, comment.text) for comment in hidden]
        labelled = label_comments(known, unlabelled, seed=seed).kept
        truth = {(comment.story, comment.text): comment.aspect for comment in hidden}
        self.counts["hidden"] += len(hidden)
        self.counts["labelled"] += len(labelled)
        self.counts["right"] += sum(truth[one.story, one.text] == one.aspect for one in labelled)
        return [
            LabelledComment(one.story, one.aspect, 1 + 4 * one.rating, one.text) for one in labelled
        ]

    def _label(
        self, examples: ExampleSet, known: list[LabelledComment], *, is_share: bool
    ) -> ExampleSet:
        """Give the examples with what known comments say; stories without any are left out."""
        ratings: dict[tuple[str, str], list[float]] = {}
        for comment in known:
            story = f"{self.dataset.name}:{comment.story}"
            ratings.setdefault((story, comment.aspect), []).append(comment.rating)
        rows = []
        for number in examples.members[:, 0].tolist():
            by_aspect = [ratings.get((examples.ids[number], aspect), []) for aspect in ASPECTS]
            total = sum(map(len, by_aspect))
            rows.append(
                [len(given) / max(total, 1) for given in by_aspect]
                if is_share
                else [float(np.mean(given)) if given else np.nan for given in by_aspect]
            )
        targets = np.array(rows)  # (stories, aspects)
        labelled = np.flatnonzero(targets.any(1) if is_share else ~np.isnan(targets).all(1))
        if not is_share:
            spread = max(float(np.nanstd(targets)), 1e-6)
            targets = (targets - np.nanmean(targets)) / spread
        return replace(examples, targets=targets).choose(labelled)

    def _item(self, comment: LabelledComment) -> str:
        return self._items[f"{self.dataset.name}:{comment.story}"]

    @cached_property
    def _items(self) -> dict[str, str]:
        names = (self.stories.ids[number] for number in self.stories.members[:, 0].tolist())
        return dict(zip(names, self.stories.items, strict=True))
