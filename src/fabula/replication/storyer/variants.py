"""Variants of the storyer recipe, trained alike; each is asked about stories it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import Examples, ExampleSet
from fabula.learned.training.recipe import (
    Group,
    Loss,
    ReaderRecipe,
    Task,
    find_recipe,
    read_recipe,
)
from fabula.replication.storyer.comment_examples import (
    ASPECT_TASKS,
    CommentLabels,
    KnownLabels,
    comment_examples,
)
from fabula.replication.storyer.heads import HeadTraining, cross_fit_heads, text_vectors
from fabula.replication.storyer.material import Material
from fabula.replication.unseen import weights_folder

Tokenise = Callable[[Sequence[str]], list[list[int]]]
RANKING, NEGATIVES, COMMENTS = "preference", "negatives", "comments"
COMPONENTS = 8  # principal components of comments that a head is to tell
# What StoryER learns from: the recipe's other tasks are ratings of other data sets.
_OWN_TASKS = (RANKING, NEGATIVES, *ASPECT_TASKS)


@dataclass(frozen=True)
class Variant:
    """A recipe by name; `labels` are those of the comments that aspects are learned from."""

    name: str
    recipe: ReaderRecipe
    labels: KnownLabels = "all"


@dataclass(frozen=True)
class Training:
    """How variants are trained."""

    depth: Literal["heads", "full"] = "heads"
    folds: int = 5
    seeds: int = 3
    negatives: int = 200  # corrupted stories in the heads setting
    hidden: int = 64
    steps: int = 60
    rate: float = 0.003
    decay: float = 0.03
    dropout: float = 0.3
    device: str = ""  # of full trainings

    def __post_init__(self) -> None:
        if min(self.folds - 1, self.seeds, self.steps, self.hidden, self.negatives) < 1:
            problem = "folds must be 2 or more; seeds, steps, hidden and negatives 1 or more"
            raise SettingError(problem, "mend the study file")

    @property
    def heads(self) -> HeadTraining:
        """What heads on a frozen encoder are told."""
        return HeadTraining(
            self.folds, self.seeds, self.hidden, self.steps, self.rate, self.decay, self.dropout
        )


@dataclass(frozen=True)
class ComparedVariants:
    """What every variant said of unseen texts, and the examples that it was asked about."""

    examples: Examples
    outputs: Mapping[str, CrossFitted]
    labels: CommentLabels | None = None


def base_recipe(training: Training) -> ReaderRecipe:
    """Give the recipe that variants are changes of."""
    recipe = storyer_recipe()
    return recipe if training.depth == "full" else own_tasks(recipe, COMPONENTS)


def storyer_recipe() -> ReaderRecipe:
    """Give the built-in recipe with a task of negatives, of one member, and without scales.

    Heads are compared, and single trainings.
    """
    recipe = read_recipe(ReaderRecipe, find_recipe("storyer"))
    task = replace(recipe.tasks[RANKING], negatives=True)
    joined = _join(recipe, RANKING, NEGATIVES, task)
    return replace(joined, scales={}, members=1)


def own_tasks(recipe: ReaderRecipe, components: int) -> ReaderRecipe:
    """Keep StoryER's own tasks; add one that tells a story's comments by their components."""
    names = tuple(f"component{number}" for number in range(components))
    task = Task("ratings", ("storyer_ratings",), COMMENTS, aspects=names)
    joined = _join(recipe, ASPECT_TASKS[0], COMMENTS, task)
    return without_tasks(joined, [name for name in recipe.tasks if name not in _OWN_TASKS])


def _join(recipe: ReaderRecipe, beside: str, name: str, task: Task) -> ReaderRecipe:
    """Add a task, and put it into every group where another one stands."""

    def join_group(group: Group) -> Group:
        return replace(group, tasks=(*group.tasks, name)) if beside in group.tasks else group

    stages = tuple(
        replace(stage, groups=tuple(map(join_group, stage.groups))) for stage in recipe.stages
    )
    return replace(recipe, tasks={**recipe.tasks, name: task}, stages=stages)


def without_tasks(recipe: ReaderRecipe, tasks: Sequence[str]) -> ReaderRecipe:
    """Leave tasks out, and groups and stages that nothing is left of."""
    stages = []
    for stage in recipe.stages:
        groups = [
            replace(group, tasks=tuple(name for name in group.tasks if name not in tasks))
            for group in stage.groups
        ]
        if groups := [group for group in groups if group.tasks]:
            stages.append(replace(stage, groups=tuple(groups)))
    left = {name: task for name, task in recipe.tasks.items() if name not in tasks}
    return replace(recipe, tasks=left, stages=tuple(stages))


def ablate(recipe: ReaderRecipe) -> list[Variant]:
    """Give the whole recipe, and what is left without each part of it."""
    parts = {"ranking": (RANKING,), "aspects": ASPECT_TASKS}
    parts |= {"comments": (COMMENTS,)} if COMMENTS in recipe.tasks else {}
    parts |= {"negatives": (NEGATIVES,)}
    others = [name for name in recipe.tasks if name != RANKING]
    variants = [Variant("all", recipe)]
    variants += [
        Variant(f"without {part}", without_tasks(recipe, tasks)) for part, tasks in parts.items()
    ]
    variants.append(Variant("ranking alone", without_tasks(recipe, others)))
    if COMMENTS in recipe.tasks:
        variants += [
            Variant("half the comments unlabelled", recipe, "half"),
            Variant("the same, with augmentation", recipe, "augmented"),
        ]
    return variants


def vary_loss(recipe: ReaderRecipe, losses: Sequence[Loss]) -> list[Variant]:
    """Give the ranking alone, learned by each loss."""
    alone = without_tasks(recipe, [name for name in recipe.tasks if name != RANKING])
    task = alone.tasks[RANKING]
    return [
        Variant(loss, replace(alone, tasks={RANKING: replace(task, loss=loss)})) for loss in losses
    ]


def compare(
    material: Material, variants: Sequence[Variant], training: Training
) -> ComparedVariants:
    """Train every variant with folds by prompt."""
    train = _train_heads if training.depth == "heads" else _train_in_full
    return train(material, variants, training)


def _train_heads(
    material: Material, variants: Sequence[Variant], training: Training
) -> ComparedVariants:
    from fabula.models.networks.encoder import load_pooled_bert

    recipe = variants[0].recipe
    encoder = load_pooled_bert(recipe.encoder)
    examples = _make_examples(recipe, lambda texts: [encoder.ids(text) for text in texts], material)
    if NEGATIVES in examples:
        examples[NEGATIVES] = _thin_out(examples[NEGATIVES], training.negatives)
    labels = None
    if COMMENTS in recipe.tasks:
        rated = examples[ASPECT_TASKS[0]]
        examples[COMMENTS] = comment_examples(material, rated, encoder, components=COMPONENTS)
        labels = CommentLabels(material.dataset("storyer_ratings"), rated)
    vectors = text_vectors(
        examples, encoder, recipe.window, cache=material.vectors, report=material.report
    )
    outputs = {}
    for variant in variants:
        change = labels.change(variant.labels) if labels and variant.labels != "all" else None
        outputs[variant.name] = cross_fit_heads(
            variant.recipe,
            examples,
            vectors,
            training=training.heads,
            seed=material.seed,
            change=change,
        )
        material.report(f"{variant.name}: {training.folds} folds × {training.seeds} seeds trained")
    return ComparedVariants(examples, outputs, labels)


def _train_in_full(
    material: Material, variants: Sequence[Variant], training: Training
) -> ComparedVariants:
    """Train all layers of every variant, which is for a GPU."""
    from fabula.learned.training.cross_fit import cross_fit
    from fabula.learned.training.loop import choose_device
    from fabula.learned.training.reader import Workshop
    from fabula.learned.training.stories import open_tokeniser

    start = weights_folder(variants[0].recipe.encoder)
    examples = _make_examples(variants[0].recipe, open_tokeniser(start), material)
    outputs = {}
    with TemporaryDirectory() as folder:
        for number, variant in enumerate(variants):
            known = {name: examples[name] for name in variant.recipe.tasks}
            recipe = replace(variant.recipe, seed=material.seed)
            bench = Workshop(recipe, known, start, choose_device(training.device))
            outputs[variant.name] = cross_fit(
                bench,
                folds=training.folds,
                seeds=training.seeds,
                out=Path(folder) / f"{number}.npz",
                report=material.report,
            )
    return ComparedVariants(examples, outputs)


def _make_examples(
    recipe: ReaderRecipe, tokenise: Tokenise, material: Material
) -> dict[str, ExampleSet]:
    """Make the examples of all tasks that are made of data sets alone; ratings standardised."""
    from fabula.learned.training.reader import standardise
    from fabula.learned.training.tasks import prepare

    by_task = prepare(without_tasks(recipe, [COMMENTS]), tokenise, material.folder).examples
    return {
        name: standardise(examples) if recipe.tasks[name].kind == "ratings" else examples
        for name, examples in by_task.items()
    }


def _thin_out(examples: ExampleSet, count: int) -> ExampleSet:
    """Take so many examples, at even distances."""
    rows = np.linspace(0, len(examples) - 1, min(count, len(examples))).round().astype(np.int64)
    return examples.choose(rows)
