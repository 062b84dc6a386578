"""Train a reader: heads on the story encoder, stage after stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.reader.network import is_plain_bert, save_packed
from fabula.learned.training.batches import CLS, bert_frame
from fabula.learned.training.bert import BertBody, load_weights, read_shape
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
from fabula.learned.training.reader_model import MEMBERS_APART, Body, ReaderModel, ReaderTrainee
from fabula.learned.training.reader_scales import part_figures, write_reader
from fabula.learned.training.recipe import ReaderRecipe, example_settings

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from fabula.learned.reader.config import Pin
    from fabula.learned.training.stories import Cut


Judges = Mapping[str, Mapping[str, Any]]  # what is known of them, by spec


def train_reader(
    recipe: ReaderRecipe,
    source: ExampleSource,
    *,
    out: Path,
    device: str = "",
    resume: bool = False,
    folds: int = 0,
    seeds: int = 1,
    judges: Judges | None = None,
    report: Report = print,
) -> dict[str, Any]:
    """Train a reader, leave it in `out`, give training.json.

    With folds, as many readers a seed are trained first, each without one part of the items: from
    what they say of that part the scales are made, and the figures that can be believed. `judges`
    is what is known of judges that are learned from, by their specs.
    """
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open()) is not None:
        return finished
    place, start, prepared = choose_device(device), source.find_start(recipe), source.read(recipe)
    workshop = open_workshop(recipe, start, prepared, place, report)
    recipe, crossed = workshop.recipe, None
    if folds:
        crossed = cross_fit(workshop, folds=folds, seeds=seeds, out=out / OUTPUTS, report=report)
    examples, held = hold_out(workshop.examples(recipe.seed), recipe.held_out)
    first = recipe.shared_stages if folds and not held else 0
    how: Any = {"first": first, "folder": folder, "report": report}
    model, history = train_members(workshop, examples, held, **how)
    encoder = workshop.save(model, out)
    unseen = unseen_figures(crossed, prepared.examples, recipe) if crossed else {}
    record = {"recipe": plain_values(recipe), "data": describe(examples), "seed": recipe.seed}
    record |= {"history": history, "versions": find_versions(), "device": str(place)}
    record |= {"folds": folds, "seeds": seeds, "unseen": unseen, "judges": judges or {}}
    record |= {"encoder": {"name": start.name, "tree_sha256": start.digest}} if encoder else {}
    figures = write_reader(out, recipe, prepared, crossed, record=record, encoder=encoder)
    record |= part_figures(unseen, figures, recipe, judges or {})
    folder.close(record)
    return record


def open_workshop(
    recipe: ReaderRecipe, start: Start, prepared: Prepared, device: torch.device, report: Report
) -> Workshop:
    """Open the workshop of the encoder that was found; say so where windows do not fit it."""
    named = replace(recipe, encoder=start.name)
    workshop = Workshop(named, prepared.examples, start.folder, device, digest=start.digest)
    if (room := workshop.recipe.window) < recipe.window:
        report(f"windows of {room} tokens, not {recipe.window}: the encoder reads no longer ones")
    return workshop


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
        state = TrainingState(workshop.settings(), plain_values(describe(examples)))
        run_training(trainee, state, recipe.loop, folder=own, report=say)
        history += [{**named, **row} for row in state.history]
        model.add_to(sums)
    put_weights(model.weights, {name: value / recipe.members for name, value in sums.items()})
    return model, history


def _prefix(words: str, report: Report) -> Report:
    return lambda line: report(words + line)


@dataclass(frozen=True)
class Start:
    """The encoder that a training begins with; one that is no asset has a digest."""

    folder: Path
    name: str
    digest: str = ""


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
        self._found: dict[str, Start] = {}

    def find_start(self, recipe: ReaderRecipe) -> Start:
        """Find the encoder: in the folder that was said, else an asset, a folder or in the hub."""
        if recipe.encoder not in self._found:
            self._found[recipe.encoder] = self._search(recipe.encoder)
        return self._found[recipe.encoder]

    def _search(self, name: str) -> Start:
        from fabula.models import asset_names, get_asset, path_of
        from fabula.models.store.asset import is_whole

        given = self._start
        if name in asset_names():
            if given is None:
                return Start(path_of(name), name)
            if is_whole(given, get_asset(name), fresh=False):
                return Start(given, name)
            self._report(f"{given} is not the asset {name!r}: the reader will hold its encoder")
        from fabula.learned.training.own_encoder import find_encoder

        return Start(*find_encoder(given or name))

    def settings(self, recipe: ReaderRecipe) -> dict[str, Any]:
        """Give what examples follow from: the tokens of an encoder that is no asset, too."""
        start = self.find_start(recipe)
        return example_settings(recipe) | ({"encoder": start.digest} if start.digest else {})

    def read(self, recipe: ReaderRecipe) -> Prepared:
        """Read or make the examples, once for all recipes that need the same."""
        settings = self.settings(recipe)
        if self._last and self._last[0] == settings:
            return self._last[1]
        file = None if self._last else self._file
        if file and file.exists():
            prepared = load_prepared(file, list(recipe.tasks), settings)
        else:
            from fabula.learned.training.tasks import prepare

            prepared = prepare(recipe, open_cut(self.find_start(recipe)), self._data)
            if file:
                save_prepared(prepared, file, settings)
        self._last = settings, prepared
        for name, about in describe(prepared.examples).items():
            self._report(f"{name}: {about['examples']:,} examples, {about['texts']:,} texts")
        return prepared


def open_cut(start: Start) -> Cut:
    """Give what cuts texts into tokens, as the encoder's own tokeniser does."""
    if is_plain_bert(start.folder):
        from fabula.learned.training.stories import open_tokeniser

        return open_tokeniser(start.folder)
    from fabula.learned.training.own_encoder import open_hub_cut

    return open_hub_cut(start.folder, start.name)


class Workshop:
    """What all trainings of one reader share: the encoder, the examples, the device.

    `digest` is that of an encoder that is no asset.
    """

    def __init__(
        self,
        recipe: ReaderRecipe,
        examples: Examples,
        start: Path,
        device: torch.device,
        *,
        digest: str = "",
    ) -> None:
        self.device, self._start, self._digest = device, start, digest
        self.body, self.encoder = self._open(recipe, start)
        self.recipe = replace(recipe, window=min(recipe.window, self.body.frame.room))
        self.given = dict(examples)
        self._examples: dict[int, dict[str, ExampleSet]] = {}
        self._shared: dict[int, ReaderModel] = {}

    def _open(self, recipe: ReaderRecipe, start: Path) -> tuple[Body, Mapping[str, Tensor]]:
        if not is_plain_bert(start):
            from fabula.learned.training.own_encoder import HubBody

            hub = HubBody(
                start, recipe.encoder, device=self.device, dropout=recipe.dropout,
                keeps_words=recipe.rank > 0,
            )  # fmt: skip
            return hub, hub.weights
        shape = read_shape(start)
        weights = load_weights(start, shape, seed=recipe.seed)
        if not self._digest:
            return BertBody(shape, bert_frame(shape.max_position_embeddings)), weights
        from fabula.learned.training.own_encoder import find_frame

        return BertBody(shape, find_frame(start, shape)), weights

    def settings(self) -> dict[str, Any]:
        """Give the recipe as plain values, with what tells its encoder from others."""
        return plain_values(self.recipe) | ({"encoder": self._digest} if self._digest else {})

    def save(self, model: ReaderModel, out: Path) -> Pin | None:
        """Write what was learned: differences from an asset, or all of an encoder and its pin."""
        if not self._digest:
            save_packed(out / MODEL, model.weights, self.encoder, rank=self.recipe.rank)
            return None
        from fabula.learned.training.own_encoder import keep_encoder

        heads = {name: one for name, one in model.weights.items() if name.startswith("head.")}
        save_packed(out / MODEL, heads, {})
        return keep_encoder(out, self._start, self.recipe.encoder, model)

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
            self.body,
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

            if not isinstance(self.body, BertBody) or self.body.frame.before != (CLS,):
                problem = f"task {name} lets the encoder guess words, and {self.recipe.encoder} "
                raise SettingError(f"{problem}has not BERT's", "leave the task out")
            return fill_words(
                examples, self.encoder, self.body.shape, device=self.device, seed=seed
            )
        if kind == "taught":
            from fabula.learned.training.teaching import ask_teacher

            answered = ask_teacher(examples, self.recipe.tasks[name], self._start, self.device)
            return standardise(answered)
        return standardise(examples) if kind == "ratings" else examples


def standardise(examples: ExampleSet) -> ExampleSet:
    """Give ratings mean 0 and deviation 1: by output, or over all where few have all of them."""
    targets = examples.targets
    axis = None if np.isnan(targets).any() else 0
    mean, deviation = np.nanmean(targets, axis=axis), np.nanstd(targets, axis=axis)
    return replace(examples, targets=((targets - mean) / np.maximum(deviation, 1e-6)))
