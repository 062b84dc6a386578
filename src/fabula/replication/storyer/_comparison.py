"""Variants of a recipe trained alike, and what each says of stories it did not learn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import Examples, ExampleSet
from fabula.learned.training.reader_recipe import ReaderRecipe
from fabula.replication.storyer._augmented import Labels, comment_examples
from fabula.replication.storyer._heads import HeadTraining, cross_fit_heads, text_vectors
from fabula.replication.storyer._material import Material, weights_folder
from fabula.replication.storyer._variants import (
    ASPECTS,
    COMMENTS,
    NEGATIVES,
    Variant,
    own_tasks,
    storyer_recipe,
    without,
)

Array = np.ndarray[Any, np.dtype[Any]]
Cut = Callable[[Sequence[str]], list[list[int]]]
Depth = Literal["heads", "full"]
COMPONENTS = 8


@dataclass(frozen=True)
class Training:
    """How variants are trained."""

    depth: Depth = "heads"
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
class Compared:
    """What every variant said of unseen texts, and the examples that it was asked about."""

    examples: Examples
    said: Mapping[str, CrossFitted]
    labels: Labels | None = None


def base_recipe(how: Training) -> ReaderRecipe:
    """Give the recipe that variants are changes of."""
    recipe = storyer_recipe()
    return recipe if how.depth == "full" else own_tasks(recipe, COMPONENTS)


def compare(material: Material, variants: Sequence[Variant], how: Training) -> Compared:
    """Train every variant with folds by prompt."""
    run = _by_heads if how.depth == "heads" else _in_full
    return run(material, variants, how)


def _by_heads(material: Material, variants: Sequence[Variant], how: Training) -> Compared:
    from fabula.models import load_pooled_bert

    recipe = variants[0].recipe
    encoder = load_pooled_bert(recipe.encoder)
    examples = _examples(recipe, lambda texts: [encoder.ids(one) for one in texts], material)
    if NEGATIVES in examples:
        examples[NEGATIVES] = _some(examples[NEGATIVES], how.negatives)
    labels = None
    if COMMENTS in recipe.tasks:
        examples[COMMENTS] = comment_examples(
            material, examples[ASPECTS[0]], encoder, components=COMPONENTS
        )
        labels = Labels(material.dataset("storyer_ratings"), examples[ASPECTS[0]])
    vectors = text_vectors(
        examples, encoder, recipe.window, kept=material.vectors, report=material.report
    )
    said = {}
    for variant in variants:
        change = labels.change(variant.labels) if labels and variant.labels != "all" else None
        said[variant.name] = cross_fit_heads(
            variant.recipe, examples, vectors, how=how.heads, seed=material.seed, change=change
        )
        material.report(f"{variant.name}: {how.folds} folds × {how.seeds} seeds trained")
    return Compared(examples, said, labels)


def _in_full(material: Material, variants: Sequence[Variant], how: Training) -> Compared:
    """Train all layers of every variant, which is for a GPU."""
    from fabula.learned.training.cross_fit import cross_fit
    from fabula.learned.training.masked_model import chosen_device
    from fabula.learned.training.reader import Bench
    from fabula.learned.training.tasks import cut_by

    start = weights_folder(variants[0].recipe.encoder)
    examples = _examples(variants[0].recipe, cut_by(start), material)
    said = {}
    with TemporaryDirectory() as folder:
        for number, variant in enumerate(variants):
            known = {name: examples[name] for name in variant.recipe.tasks}
            recipe = replace(variant.recipe, seed=material.seed)
            bench = Bench(recipe, known, start, chosen_device(how.device))
            said[variant.name] = cross_fit(
                bench,
                folds=how.folds,
                seeds=how.seeds,
                out=Path(folder) / f"{number}.npz",
                report=material.report,
            )
    return Compared(examples, said)


def _examples(recipe: ReaderRecipe, cut: Cut, material: Material) -> dict[str, ExampleSet]:
    """Make the examples of all tasks that are made of data sets alone; ratings standardised."""
    from fabula.learned.training.reader import standardised
    from fabula.learned.training.tasks import prepare

    made = prepare(without(recipe, [COMMENTS]), cut, material.folder).examples
    return {
        name: standardised(one) if recipe.tasks[name].kind == "ratings" else one
        for name, one in made.items()
    }


def _some(examples: ExampleSet, count: int) -> ExampleSet:
    """Take so many examples, at even distances."""
    rows = np.linspace(0, len(examples) - 1, min(count, len(examples))).round().astype(np.int64)
    return examples.chosen(rows)
