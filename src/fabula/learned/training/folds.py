"""Items parted into folds, so that a story is read by those who have not learned from its item."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import numpy as np

from fabula.learned.training.examples import Examples, ExampleSet
from fabula.learned.training.reader_recipe import ReaderRecipe, TaskKind

OPINIONS: tuple[TaskKind, ...] = ("pairs", "ratings", "shares")


def fold_of_items(items: Iterable[str], folds: int, seed: int) -> dict[str, int]:
    """Deal the items of every data set to folds, by a digest of seed and item."""
    found: dict[str, int] = {}
    by_set: dict[str, set[str]] = {}
    for item in items:
        by_set.setdefault(item.rpartition(":")[0].partition(":")[0], set()).add(item)
    for some in by_set.values():
        ordered = sorted(some, key=lambda item: _lot(item, seed))
        found |= {item: place % folds for place, item in enumerate(ordered)}
    return found


def opinion_tasks(recipe: ReaderRecipe) -> list[str]:
    """Name the tasks that learn from what people said."""
    return [name for name, task in recipe.tasks.items() if task.kind in OPINIONS]


def shared_stages(recipe: ReaderRecipe) -> int:
    """Count the first stages that learn from no opinion, which are the same for all folds."""
    asked, count = set(opinion_tasks(recipe)), 0
    for stage in recipe.stages:
        if asked & {name for group in stage.groups for name in group.tasks}:
            break
        count += 1
    return count


def without_fold(examples: Examples, parts: Mapping[str, int], fold: int) -> dict[str, ExampleSet]:
    """Leave out the examples of one fold; items that are in none stay."""
    return {
        name: one.chosen(_rows(one, parts, fold, inside=False)) for name, one in examples.items()
    }


def fold_alone(examples: ExampleSet, parts: Mapping[str, int], fold: int) -> ExampleSet:
    """Give the examples of one fold."""
    return examples.chosen(_rows(examples, parts, fold, inside=True))


def held_apart(
    examples: Examples, recipe: ReaderRecipe
) -> tuple[dict[str, ExampleSet], dict[str, ExampleSet]]:
    """Part examples into those to learn from and those held out, by item."""
    if not recipe.held_out:
        return dict(examples), {}
    count = max(2, round(1 / recipe.held_out))
    parts = fold_of_items({item for one in examples.values() for item in one.items}, count, 0)
    held = {name: fold_alone(one, parts, 0) for name, one in examples.items()}
    return without_fold(examples, parts, 0), held


def _rows(
    examples: ExampleSet, parts: Mapping[str, int], fold: int, *, inside: bool
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    rows = [i for i, item in enumerate(examples.items) if (parts.get(item) == fold) == inside]
    return np.array(rows, dtype=np.int64)


def _lot(item: str, seed: int) -> bytes:
    return hashlib.blake2b(item.encode("utf-8", "surrogatepass"), key=str(seed).encode()).digest()
