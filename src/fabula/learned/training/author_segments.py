"""Train STORIUM's co-author: a causal model that is told what each piece of its context is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fabula.core.author import MARKS
from fabula.core.errors import SettingError
from fabula.learned.training.author import (
    AuthorRecipe,
    AuthorTrainee,
    TrainedAuthor,
    describe_losses,
    open_model,
)
from fabula.learned.training.author_batches import AuthorBatch
from fabula.learned.training.author_figures import (
    FIGURES,
    AuthorFigures,
    EntryLosses,
    estimate_perplexity,
)
from fabula.learned.training.author_games import PARTS, GamesData
from fabula.learned.training.folder import TrainingFolder, find_versions, plain_values
from fabula.learned.training.loop import (
    Evaluation,
    Report,
    StagePlan,
    TrainingState,
    choose_device,
    put_on,
    run_training,
)
from fabula.learned.training.recipe import require_least
from fabula.meta.resampling import number_units
from fabula.models.networks.segmented import (
    MarkCounts,
    SegmentScheme,
    embed_segments,
    find_marks,
    register_marks,
    resize_table,
)

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from fabula.models.networks.checkpoint import Checkpoint

_CHOSEN_BY = "validation"


@dataclass(frozen=True)
class StoriumRecipe(AuthorRecipe):
    """How a causal model learns characters' entries of games (Akoury et al., 2020).

    `sources` are exports of games, `window` the budget of tokens that context and entry share, and
    a batch has `rows` times as many. All weights learn.
    """

    packing: Literal["cassowary", "greedy", "none"] = "cassowary"
    history: int = 1  # entries before that are shown; the character's own last one comes with them
    segments: Literal["own", "tokens"] = "own"  # where marks' embeddings are kept
    strongest: Literal["first", "last"] = "last"  # of the paper's priorities
    compat: bool = False  # as released: marks unknown, history off by one, its constraints
    segment_rate: float = 10.0  # of the marks' own table, times that of the weights
    rank: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_least(self, history=0, window=64)
        if self.rank:
            problem = "with segments all weights learn, not a low-rank difference"
            raise SettingError(problem, "leave rank out, or say 0")
        if self.segment_rate <= 0:
            raise SettingError("segment_rate must be above 0", "mend the recipe")
        if self.compat and self.segments != "tokens":
            problem = "compat has the release's bug, which is in the table of tokens"
            raise SettingError(problem, "say segments = 'tokens'")

    @property
    def scheme(self) -> SegmentScheme:
        """What is kept beside the model, for who writes with it."""
        return SegmentScheme(
            self.segments, self.packing, self.history, self.window, self.strongest, self.compat
        )


class SegmentedAuthor(TrainedAuthor):
    """A causal model to whose embeddings of tokens those of their marks are added."""

    recipe: StoriumRecipe

    def __init__(
        self,
        checkpoint: Checkpoint,
        recipe: StoriumRecipe,
        combinations: tuple[tuple[str, ...], ...],
        device: torch.device,
    ) -> None:
        import torch

        super().__init__(checkpoint, recipe, device)
        self._counts = torch.from_numpy(MarkCounts(list(combinations)).counts()).to(device)
        self._marks = find_marks(checkpoint.tokenizer, compat=recipe.compat)
        self.table: torch.nn.Parameter | None = None
        if recipe.segments == "own":
            width = self.net.get_input_embeddings().weight.shape[1]
            self.table = torch.nn.Parameter(torch.zeros(len(MARKS), width, device=device))
            self.weights["segments.table"] = self.table

    def _load(self) -> Any:
        """Load the model, with a row for every mark."""
        net = self.checkpoint.model("AutoModelForCausalLM")
        register_marks(self.checkpoint.tokenizer)
        resize_table(net, self.checkpoint.tokenizer)
        return net.to(self.device)

    def _inputs(self, batch: AuthorBatch, ids: Tensor) -> dict[str, Tensor]:
        """Give the sum of each token's embeddings; positions are the network's own concern."""
        words = self.net.get_input_embeddings()
        table = words.weight[self._marks] if self.table is None else self.table
        kinds = put_on(self.device, batch.kinds)
        embedded = embed_segments(words(ids), kinds, table=table, counts=self._counts)
        return {"inputs_embeds": embedded}  # (B, T, H)

    def save(self, folder: Path) -> None:
        """Write the whole model, its tokeniser with the marks, and how games are shown to it."""
        super().save(folder)
        self.recipe.scheme.save(folder, self.table)


class SegmentedTrainee(AuthorTrainee):
    """Such a model as the loop trains it; the best weights are those of the validation games."""

    author: SegmentedAuthor

    def __init__(self, author: SegmentedAuthor, data: GamesData) -> None:
        super().__init__(author, data)
        self._held_entries = data.held

    def begin_stage(self, number: int) -> StagePlan:
        """Make the optimiser; the marks' own table, which begins at zero, learns faster."""
        plan, table = super().begin_stage(number), self.author.table
        if table is not None:
            for group in plan.optimiser.param_groups:
                group["params"] = [each for each in group["params"] if each is not table]
            scale = self.author.recipe.segment_rate
            plan.optimiser.add_param_group({"params": [table], "weight_decay": 0.0, "scale": scale})
        return plan

    def evaluate(self, state: TrainingState) -> Evaluation | None:
        """Give the loss of a token of the validation games' entries; the lower the better."""
        if not (measured := self.measure()):
            return None
        said = f", loss {measured['loss']:.4f} (perplexity {measured['perplexity']:.2f})"
        return Evaluation(-measured["loss"], {"step": state.step} | measured, said)

    def measure(self) -> dict[str, Any]:
        """Give loss and perplexity of the validation entries; `error` is over games."""
        if not len(self._held[_CHOSEN_BY]):
            return {}
        losses = self.measure_entries(_CHOSEN_BY)
        units = number_units(losses.games)
        sums, tokens = np.zeros((2, int(units.max()) + 1))
        np.add.at(sums, units, losses.losses)
        np.add.at(tokens, units, losses.tokens)
        described = describe_losses(sums, tokens)
        return {"games": described.pop("stories")} | described

    def measure_entries(self, part: str) -> EntryLosses:
        """Give the loss of every held-out entry of a part."""
        sums, counts = self._sum_losses(self._held[part])
        held = self._held_entries[part]
        # Seven digits are what is computed: more would make the file large and say nothing.
        losses = tuple(float(f"{loss:.7g}") for loss in sums)
        return EntryLosses(held.games, held.entries, tuple(map(int, counts)), losses, held.whole)

    def measure_all(self) -> dict[str, EntryLosses]:
        """Give the losses of all parts that are held out."""
        return {part: self.measure_entries(part) for part in PARTS[1:] if len(self._held[part])}


def train_storium(
    recipe: StoriumRecipe,
    data: GamesData,
    *,
    out: Path,
    device: str = "",
    resume: bool = False,
    figures_only: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train a model with segments; leave it and its figures in `out`, give training.json.

    With `figures_only` no weights are left.
    """
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    place = choose_device(device)
    checkpoint = open_model(recipe.model)
    author = SegmentedAuthor(checkpoint, recipe, data.combinations, place)
    trainee = SegmentedTrainee(author, data)
    before = trainee.measure_all()
    for part, losses in before.items():
        report(f"{part} before: perplexity {_perplexity(losses):.2f}")
    state = TrainingState(plain_values(recipe), plain_values(data.describe()))
    run_training(trainee, state, recipe.loop, folder=folder, report=report)

    after = trainee.measure_all()
    figures = _make_figures(recipe, checkpoint.identity, state, before, after)
    figures.save(out / FIGURES)
    if not figures_only:
        author.save(out)
    record = state.record() | {"model": checkpoint.identity, "device": str(place)}
    record |= {"versions": find_versions("transformers"), "learned_weights": author.size}
    record |= {"epochs": trainee.sampler.epoch, "tokens_seen": state.seen, "step": figures.step}
    record |= {"perplexity": _describe(after), "perplexity_before": _describe(before)}
    folder.close(record)
    return record


def _make_figures(
    recipe: StoriumRecipe,
    model: str,
    state: TrainingState,
    before: Mapping[str, EntryLosses],
    after: Mapping[str, EntryLosses],
) -> AuthorFigures:
    return AuthorFigures(
        recipe.packing,
        recipe.history,
        recipe.window,
        recipe.seed,
        recipe.loss,
        recipe.segments,
        model,
        state.data,
        state.best_row["step"] if state.best_row else state.step,
        recipe.compat,
        before,
        after,
    )


def _perplexity(losses: EntryLosses) -> float:
    return exp(sum(losses.losses) / max(1, sum(losses.tokens)))


def _describe(parts: Mapping[str, EntryLosses]) -> dict[str, dict[str, Any]]:
    """Perplexity with its interval, by part; n counts games."""
    found = {part: estimate_perplexity(losses) for part, losses in parts.items()}
    return {
        part: estimate.plain() | {"games": estimate.n, "entries": len(parts[part])}
        for part, estimate in found.items()
    }
