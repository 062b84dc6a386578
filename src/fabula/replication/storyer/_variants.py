"""Changes of the storyer recipe that are held against one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from fabula.learned.training.reader_recipe import (
    Group,
    Loss,
    ReaderRecipe,
    Task,
    built_in_recipe,
    read_reader_recipe,
)

Labels = Literal["all", "half", "augmented"]
RANKING, NEGATIVES, COMMENTS = "preference", "negatives", "comments"
ASPECTS = ("aspects", "confidence")
# What StoryER learns from: the recipe's other tasks are ratings of other data sets.
_OWN = (RANKING, NEGATIVES, *ASPECTS)


@dataclass(frozen=True)
class Variant:
    """A recipe by name; `labels` are those of the comments that aspects are learned from."""

    name: str
    recipe: ReaderRecipe
    labels: Labels = "all"


def storyer_recipe() -> ReaderRecipe:
    """Give the built-in recipe with a task of negatives, of one member, and without scales.

    Heads are compared, and single trainings.
    """
    found = read_reader_recipe(built_in_recipe("storyer"))
    task = replace(found.tasks[RANKING], negatives=True)
    stages = tuple(
        replace(stage, groups=tuple(_joined(group, RANKING, NEGATIVES) for group in stage.groups))
        for stage in found.stages
    )
    tasks = {**found.tasks, NEGATIVES: task}
    return replace(found, tasks=tasks, stages=stages, scales={}, members=1)


def own_tasks(recipe: ReaderRecipe, components: int) -> ReaderRecipe:
    """Keep StoryER's own tasks; add one that tells a story's comments by their components."""
    names = tuple(f"component{number}" for number in range(components))
    task = Task("ratings", ("storyer_ratings",), COMMENTS, aspects=names)
    kept = {name: one for name, one in recipe.tasks.items() if name in _OWN}
    stages = tuple(
        replace(stage, groups=tuple(_joined(group, ASPECTS[0], COMMENTS) for group in stage.groups))
        for stage in recipe.stages
    )
    joined = replace(recipe, tasks={**recipe.tasks, COMMENTS: task}, stages=stages)
    return without(joined, [name for name in recipe.tasks if name not in kept])


def without(recipe: ReaderRecipe, tasks: Sequence[str]) -> ReaderRecipe:
    """Leave tasks out, and groups and stages that nothing is left of."""
    stages = []
    for stage in recipe.stages:
        groups = [
            replace(group, tasks=tuple(name for name in group.tasks if name not in tasks))
            for group in stage.groups
        ]
        if kept := tuple(group for group in groups if group.tasks):
            stages.append(replace(stage, groups=kept))
    left = {name: task for name, task in recipe.tasks.items() if name not in tasks}
    return replace(recipe, tasks=left, stages=tuple(stages))


def ablated(recipe: ReaderRecipe) -> list[Variant]:
    """Give the whole recipe, and what is left without each part of it."""
    parts = {"ranking": (RANKING,), "aspects": ASPECTS}
    parts |= {"comments": (COMMENTS,)} if COMMENTS in recipe.tasks else {}
    parts |= {"negatives": (NEGATIVES,)}
    others = [name for name in recipe.tasks if name != RANKING]
    found = [Variant("all", recipe)]
    found += [Variant(f"without {part}", without(recipe, names)) for part, names in parts.items()]
    found.append(Variant("ranking alone", without(recipe, others)))
    if COMMENTS in recipe.tasks:
        found += [
            Variant("half the comments unlabelled", recipe, "half"),
            Variant("the same, with augmentation", recipe, "augmented"),
        ]
    return found


def by_loss(recipe: ReaderRecipe, losses: Sequence[Loss]) -> list[Variant]:
    """Give the ranking alone, learned by each loss."""
    alone = without(recipe, [name for name in recipe.tasks if name != RANKING])
    task = alone.tasks[RANKING]
    return [
        Variant(loss, replace(alone, tasks={RANKING: replace(task, loss=loss)})) for loss in losses
    ]


def _joined(group: Group, beside: str, name: str) -> Group:
    """Put a task into the group where another one stands."""
    return replace(group, tasks=(*group.tasks, name)) if beside in group.tasks else group
