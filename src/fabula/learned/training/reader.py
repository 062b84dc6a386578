"""Train a reader: heads on the story encoder, stage after stage."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.reader.network import save_packed
from fabula.learned.training.bert import load_weights, read_shape
from fabula.learned.training.checkpoint import CHECKPOINT, MODEL
from fabula.learned.training.cross_fit import cross_fit
from fabula.learned.training.encoder import RECORD, open_folder
from fabula.learned.training.examples import Examples, ExampleSet, Prepared, describe
from fabula.learned.training.filled import filled_set
from fabula.learned.training.folds import held_apart, shared_stages
from fabula.learned.training.masked_model import chosen_device
from fabula.learned.training.members import has_members, learn_members, remove_members
from fabula.learned.training.reader_course import BEST, Course
from fabula.learned.training.reader_evaluation import unseen_figures
from fabula.learned.training.reader_model import ReaderModel
from fabula.learned.training.reader_recipe import ReaderRecipe
from fabula.learned.training.reader_scales import write_reader
from fabula.learned.training.run import Report, write_record

if TYPE_CHECKING:
    import torch

OUTPUTS = "outputs.npz"  # what heads said of stories they had not learned from


def train_reader(
    recipe: ReaderRecipe,
    prepared: Prepared,
    *,
    start: Path,
    out: Path,
    device: str = "",
    resume: bool = False,
    folds: int = 0,
    seeds: int = 1,
    report: Report = print,
) -> dict[str, Any]:
    """Train on the encoder in `start`, leave a reader in `out`, give training.json.

    With folds, as many readers a seed are trained first, each without one part of the items: from
    what they say of that part the scales are made, and the figures that can be believed.
    """
    if (finished := _opened(out, resume=resume)) is not None:
        return finished
    place = chosen_device(device)
    ready = Bench(recipe, prepared.examples, start, place)
    crossed = None
    if folds:
        crossed = cross_fit(ready, folds=folds, seeds=seeds, out=out / OUTPUTS, report=report)
    examples, held = held_apart(ready.examples(recipe.seed), recipe)
    first = shared_stages(recipe) if folds and not held else 0
    course = Course(recipe, describe(examples), report, out=out, first=first)
    begin = partial(ready.begin, first, report)
    model = learn_members(course, begin, examples, held, resume=resume)
    save_packed(out / MODEL, model.weights, ready.encoder)
    record = course.record() | {"device": str(place), "folds": folds, "seeds": seeds}
    record["unseen"] = unseen_figures(crossed, prepared.examples, recipe) if crossed else {}
    record["scales"] = write_reader(out, recipe, prepared, crossed, record=record)
    write_record(out / RECORD, record)
    for name in (CHECKPOINT, BEST):
        (out / name).unlink(missing_ok=True)
    remove_members(out)
    return record


def _opened(out: Path, *, resume: bool) -> dict[str, Any] | None:
    if not resume and ((out / OUTPUTS).exists() or has_members(out)):
        raise InputError(f"{out} holds a training", "say --resume, or name another folder")
    return open_folder(out, resume=resume)


class Bench:
    """What all trainings of one command share: the encoder, the examples, the device."""

    def __init__(
        self, recipe: ReaderRecipe, examples: Examples, start: Path, device: torch.device
    ) -> None:
        self.recipe, self.device = recipe, device
        self.shape = read_shape(start)
        self.encoder = load_weights(start, self.shape, seed=recipe.seed)
        self.given = dict(examples)
        self._made: dict[int, dict[str, ExampleSet]] = {}
        self._started: dict[int, ReaderModel] = {}

    def model(self, seed: int) -> ReaderModel:
        """Give a reader that has learned nothing yet."""
        import torch

        torch.manual_seed(seed)
        sizes = {
            head: next(
                self.given[name].targets.shape[1]
                for name, task in self.recipe.tasks.items()
                if task.head == head
            )
            for head in self.recipe.heads
        }
        return ReaderModel(
            self.encoder,
            self.shape,
            recipe=replace(self.recipe, seed=seed),
            outputs=sizes,
            device=self.device,
        )

    def shared_start(self, seed: int, report: Report) -> tuple[ReaderModel, int]:
        """Go through the stages that no opinion changes, once; give a copy, and the next stage."""
        first = shared_stages(self.recipe)
        if seed not in self._started:
            model = self.model(seed)
            if first:
                course = Course(model.recipe, {}, report, last=first)
                course.learn(model, self.examples(seed), {})
            self._started = {seed: model}
        return self._started[seed].copied(), first

    def begin(self, first: int, report: Report, is_on_disk: bool) -> ReaderModel:
        """Give a reader after the shared stages, unless a checkpoint will take its place."""
        seed = self.recipe.seed
        is_new = first and not is_on_disk
        return self.shared_start(seed, report)[0] if is_new else self.model(seed)

    def examples(self, seed: int) -> dict[str, ExampleSet]:
        """Give the examples of a seed: words are guessed anew, ratings standardised."""
        if seed not in self._made:
            self._made = {
                seed: {name: self._ready(name, one, seed) for name, one in self.given.items()}
            }
        return self._made[seed]

    def _ready(self, name: str, examples: ExampleSet, seed: int) -> ExampleSet:
        kind = self.recipe.tasks[name].kind
        if kind == "filled":
            return filled_set(examples, self.encoder, self.shape, device=self.device, seed=seed)
        return standardised(examples) if kind == "ratings" else examples


def standardised(examples: ExampleSet) -> ExampleSet:
    """Give ratings mean 0 and deviation 1: by output, or over all where few have all of them."""
    targets = examples.targets
    axis = None if np.isnan(targets).any() else 0
    mean, deviation = np.nanmean(targets, axis=axis), np.nanstd(targets, axis=axis)
    return replace(examples, targets=((targets - mean) / np.maximum(deviation, 1e-6)))
