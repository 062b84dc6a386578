"""What readers say of stories that they did not learn from: folds by item, for every seed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.examples import (
    Examples,
    describe,
    fold_alone,
    fold_of_items,
    without_fold,
)
from fabula.learned.training.folder import put_weights, read_arrays, write_arrays
from fabula.learned.training.loop import Report, TrainingState, run_training
from fabula.learned.training.reader_evaluation import evaluate, text_outputs
from fabula.learned.training.reader_model import MEMBERS_APART, ReaderModel, ReaderTrainee

if TYPE_CHECKING:
    from torch import Tensor

    from fabula.learned.training.reader import Workshop

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class CrossFitted:
    """Outputs by task and head, (seeds, texts, outputs), and each text's fold, (seeds, texts)."""

    outputs: Mapping[tuple[str, str], Array]
    folds: Mapping[str, Array]


def cross_fit(
    workshop: Workshop, *, folds: int, seeds: int, out: Path, report: Report
) -> CrossFitted:
    """Train folds × seeds readers; what is on disk already is not made again."""
    recipe, tasks = workshop.recipe, workshop.recipe.opinion_tasks
    first, members = recipe.shared_stages, recipe.members
    outputs = FoldOutputs(out, _settings(workshop, folds))
    # The first seed comes last: the training on everything goes on from its start.
    for seed in reversed(range(recipe.seed, recipe.seed + seeds)):
        if outputs.is_done(seed):
            continue
        examples = workshop.examples(seed)
        fold_of = fold_of_items({i for name in tasks for i in examples[name].items}, folds, seed)
        if (shared := workshop.begin_shared(seed)) is not None:
            run_training(shared, TrainingState(), recipe.loop, report=report)
        for fold in range(outputs.folds_done(seed), folds):
            learned = without_fold(examples, fold_of, fold)
            sums: dict[str, Tensor] = {}
            for member in range(members):
                model = workshop.copy_shared(seed)
                stages, order = range(first, len(recipe.stages)), fold + MEMBERS_APART * member
                trainee = ReaderTrainee(model, learned, {}, stages=stages, order=order)
                run_training(trainee, TrainingState(), recipe.loop, report=report)
                model.add_to(sums)
            put_weights(model.weights, {name: value / members for name, value in sums.items()})
            held = {name: fold_alone(examples[name], fold_of, fold) for name in tasks}
            outputs.add(seed, fold, model, examples, held)
            figures = evaluate(model, held, recipe.tasks)
            said = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
            report(f"seed {seed}, fold {fold + 1} of {folds}: {said}")
        outputs.finish(seed)
    return outputs.stack(range(recipe.seed, recipe.seed + seeds), tasks)


def _settings(workshop: Workshop, folds: int) -> str:
    """Say what outputs follow from; scales may change without any reader being trained again."""
    recipe = workshop.settings()
    for name in ("kind", "scales", "licence", "report_every", "checkpoint_every"):
        del recipe[name]
    return json.dumps({"recipe": recipe, "folds": folds, "data": describe(workshop.given)})


class FoldOutputs:
    """What readers said of their folds; it is on disk after each of them, for a kill."""

    def __init__(self, path: Path, settings: str) -> None:
        self._path = path
        self._arrays: dict[str, Array] = {"about": np.array(settings)}
        if path.is_file():
            self._arrays = read_arrays(path, "what readers said", "delete it and train again")
        if str(self._arrays.get("about")) != settings:
            problem = f"{path} is of another recipe, other data or another number of folds"
            raise InputError(problem, "train into another folder")

    def is_done(self, seed: int) -> bool:
        """Whether all readers of a seed were trained."""
        return f"{seed}/done" in self._arrays

    def folds_done(self, seed: int) -> int:
        """Count the folds of a seed whose readers were trained."""
        return int(self._arrays.get(f"{seed}/part", 0))

    def add(
        self, seed: int, fold: int, model: ReaderModel, examples: Examples, held: Examples
    ) -> None:
        """Add what a reader says of the texts of its own fold, which are in `held`."""
        for name, chosen in held.items():
            texts = len(examples[name].texts)
            numbers = sorted({number for row in chosen.members.tolist() for number in row})
            self._arrays.setdefault(f"{seed}/{name}/folds", np.full(texts, -1))[numbers] = fold
            heads = text_outputs(model, examples[name], numbers, list(model.recipe.heads))
            for head, values in heads.items():
                empty = np.full((texts, values.shape[1]), np.nan, dtype=np.float32)
                self._arrays.setdefault(f"{seed}/{name}/{head}", empty)[numbers] = values
        self._arrays[f"{seed}/part"] = np.array(fold + 1)
        write_arrays(self._path, self._arrays)

    def finish(self, seed: int) -> None:
        """Note that a seed is done."""
        self._arrays.pop(f"{seed}/part", None)
        self._arrays[f"{seed}/done"] = np.array(1)
        write_arrays(self._path, self._arrays)

    def stack(self, seeds: range, tasks: list[str]) -> CrossFitted:
        """Give the outputs of all seeds."""
        outputs: dict[tuple[str, str], Array] = {}
        folds: dict[str, Array] = {}
        for name in tasks:
            before = f"{seeds[0]}/{name}/"
            for key in [key for key in self._arrays if key.startswith(before)]:
                head = key.removeprefix(before)
                stacked = np.stack([self._arrays[f"{seed}/{name}/{head}"] for seed in seeds])
                if head == "folds":
                    folds[name] = stacked
                else:
                    outputs[name, head] = stacked
        return CrossFitted(outputs, folds)
