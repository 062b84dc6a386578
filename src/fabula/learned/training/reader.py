"""Train a reader: heads on the story encoder, stage after stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.reader.network import save_packed
from fabula.learned.training.bert import load_weights, read_shape
from fabula.learned.training.cross_fit import cross_fit
from fabula.learned.training.examples import (
    Examples,
    ExampleSet,
    Prepared,
    describe,
    hold_out,
    load_prepared,
    save_prepared,
)
from fabula.learned.training.folder import (
    MODEL,
    OUTPUTS,
    TrainingFolder,
    find_versions,
    plain_values,
    put_weights,
)
from fabula.learned.training.loop import Report, TrainingState, choose_device, run_training
from fabula.learned.training.reader_evaluation import unseen_figures
from fabula.learned.training.reader_model import MEMBERS_APART, ReaderModel, ReaderTrainee
from fabula.learned.training.reader_scales import write_reader
from fabula.learned.training.recipe import ReaderRecipe, example_settings

if TYPE_CHECKING:
    import torch
    from torch import Tensor


def train_reader(
    recipe: ReaderRecipe,
    source: ExampleSource,
    *,
    out: Path,
    device: str = "",
    resume: bool = False,
    folds: int = 0,
    seeds: int = 1,
    report: Report = print,
) -> dict[str, Any]:
    """Train a reader, leave it in `out`, give training.json.

    With folds, as many readers a seed are trained first, each without one part of the items: from
    what they say of that part the scales are made, and the figures that can be believed.
    """
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open()) is not None:
        return finished
    place, start = choose_device(device), source.encoder_folder(recipe)
    prepared = source.read(recipe)
    workshop = Workshop(recipe, prepared.examples, start, place)
    crossed = None
    if folds:
        crossed = cross_fit(workshop, folds=folds, seeds=seeds, out=out / OUTPUTS, report=report)
    examples, held = hold_out(workshop.examples(recipe.seed), recipe.held_out)
    first = recipe.shared_stages if folds and not held else 0
    model, history = train_members(
        workshop, examples, held, first=first, folder=folder, report=report
    )
    save_packed(out / MODEL, model.weights, workshop.encoder)
    unseen = unseen_figures(crossed, prepared.examples, recipe) if crossed else {}
    record = {"recipe": plain_values(recipe), "data": describe(examples), "seed": recipe.seed}
    record |= {"history": history, "versions": find_versions(), "device": str(place)}
    record |= {"folds": folds, "seeds": seeds, "unseen": unseen}
    record["scales"] = write_reader(out, recipe, prepared, crossed, record=record)
    folder.close(record)
    return record


def train_members(
    workshop: Workshop,
    examples: Examples,
    held: Examples,
    *,
    first: int,
    folder: TrainingFolder,
    report: Report,
) -> tuple[ReaderModel, list[dict[str, Any]]]:
    """Train a recipe's members from stage `first` on; give the mean of them, and their history.

    They begin at one point and differ in the order of their examples alone, so that they end in one
    valley: the mean reads about as well as all of them together, and costs what one does (Wortsman
    et al., 2022, "Model soups").
    """
    recipe, stages = workshop.recipe, range(first, len(workshop.recipe.stages))
    history: list[dict[str, Any]] = []
    sums: dict[str, Tensor] = {}
    for member in range(recipe.members):
        own, named, say = folder, {}, report
        if recipe.members > 1:
            own, named = folder.member(member), {"member": member + 1}
            say = _prefix(f"member {member + 1}: ", report)
        if first and not own.can_resume:
            if (shared := workshop.begin_shared(recipe.seed)) is not None:
                run_training(shared, TrainingState(), recipe.loop, report=report)
            model = workshop.copy_shared(recipe.seed)
        else:
            model = workshop.new_model(recipe.seed)
        trainee = ReaderTrainee(model, examples, held, stages=stages, order=MEMBERS_APART * member)
        state = TrainingState(plain_values(recipe), plain_values(describe(examples)))
        run_training(trainee, state, recipe.loop, folder=own, report=say)
        history += [{**named, **row} for row in state.history]
        model.add_to(sums)
    put_weights(model.weights, {name: value / recipe.members for name, value in sums.items()})
    return model, history


def _prefix(words: str, report: Report) -> Report:
    return lambda line: report(words + line)


class ExampleSource:
    """Where readers get their encoder and their examples from; trainings of a grid share them."""

    def __init__(
        self,
        *,
        data: Path | None = None,
        prepared: Path | None = None,
        start: Path | None = None,
        report: Report = print,
    ) -> None:
        self._data, self._file, self._start, self._report = data, prepared, start, report
        self._last: tuple[Mapping[str, Any], Prepared] | None = None

    def encoder_folder(self, recipe: ReaderRecipe) -> Path:
        """Give the encoder's folder; another than the asset that the recipe names is refused."""
        from fabula.models import asset_names, get_asset, path_of
        from fabula.models.store.asset import is_whole

        name, start = recipe.encoder, self._start
        if start is None:
            return path_of(name)
        if name in asset_names() and not is_whole(start, get_asset(name), fresh=False):
            problem = f"{start} is not the asset {name!r}, which the reader will be read on"
            raise SettingError(problem, "leave --start out")
        return start

    def read(self, recipe: ReaderRecipe) -> Prepared:
        """Read or make the examples, once for all recipes that need the same."""
        settings = example_settings(recipe)
        if self._last and self._last[0] == settings:
            return self._last[1]
        file = None if self._last else self._file
        if file and file.exists():
            prepared = load_prepared(file, list(recipe.tasks), settings)
        else:
            from fabula.learned.training.stories import open_tokeniser
            from fabula.learned.training.tasks import prepare

            prepared = prepare(recipe, open_tokeniser(self.encoder_folder(recipe)), self._data)
            if file:
                save_prepared(prepared, file, settings)
        self._last = settings, prepared
        for name, about in describe(prepared.examples).items():
            self._report(f"{name}: {about['examples']:,} examples, {about['texts']:,} texts")
        return prepared


class Workshop:
    """What all trainings of one reader share: the encoder, the examples, the device."""

    def __init__(
        self, recipe: ReaderRecipe, examples: Examples, start: Path, device: torch.device
    ) -> None:
        self.recipe, self.device = recipe, device
        self.shape = read_shape(start)
        self.encoder = load_weights(start, self.shape, seed=recipe.seed)
        self.given = dict(examples)
        self._examples: dict[int, dict[str, ExampleSet]] = {}
        self._shared: dict[int, ReaderModel] = {}

    def new_model(self, seed: int) -> ReaderModel:
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

    def begin_shared(self, seed: int) -> ReaderTrainee | None:
        """Begin the stages that no opinion changes; None where the seed went through them."""
        if seed in self._shared:
            return None
        self._shared = {seed: self.new_model(seed)}
        stages = range(self.recipe.shared_stages)
        return ReaderTrainee(self._shared[seed], self.examples(seed), {}, stages=stages)

    def copy_shared(self, seed: int) -> ReaderModel:
        """Give a copy of the reader that went through the shared stages."""
        return self._shared[seed].copy()

    def examples(self, seed: int) -> dict[str, ExampleSet]:
        """Give the examples of a seed: words are guessed anew, ratings standardised."""
        if seed not in self._examples:
            self._examples = {
                seed: {name: self._ready(name, given, seed) for name, given in self.given.items()}
            }
        return self._examples[seed]

    def _ready(self, name: str, examples: ExampleSet, seed: int) -> ExampleSet:
        kind = self.recipe.tasks[name].kind
        if kind == "filled":
            from fabula.learned.training.filling import fill_words

            return fill_words(examples, self.encoder, self.shape, device=self.device, seed=seed)
        return standardise(examples) if kind == "ratings" else examples


def standardise(examples: ExampleSet) -> ExampleSet:
    """Give ratings mean 0 and deviation 1: by output, or over all where few have all of them."""
    targets = examples.targets
    axis = None if np.isnan(targets).any() else 0
    mean, deviation = np.nanmean(targets, axis=axis), np.nanstd(targets, axis=axis)
    return replace(examples, targets=((targets - mean) / np.maximum(deviation, 1e-6)))
