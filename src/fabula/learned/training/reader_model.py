"""A reader in training: an encoder's layers and heads, and what the loop asks of them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from fabula.learned.reader.network import factorise
from fabula.learned.training.batches import BatchBuilder, ReaderBatch, TokenBatch, sample_group
from fabula.learned.training.examples import Examples
from fabula.learned.training.loop import (
    Evaluation,
    Schedule,
    StagePlan,
    TrainingState,
    mix_precision,
    put_on,
)
from fabula.learned.training.reader_evaluation import evaluate
from fabula.learned.training.recipe import PAIRED, ReaderRecipe, Stage, Task

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from fabula.models.reading.windows import Frame

    Tensors = Mapping[str, Tensor]

# Between the orders in which two members see their examples; folds, which differ in it too, are
# fewer.
MEMBERS_APART = 1000


class Body(Protocol):
    """The encoder of a reader in training, as a function of named weights."""

    @property
    def frame(self) -> Frame:
        """What it puts around texts, and how much it reads at once."""

    @property
    def width(self) -> int:
        """Numbers in a token's state."""

    @property
    def layers(self) -> int:
        """How many layers may learn."""

    @property
    def reads_forward(self) -> bool:
        """Whether a token sees those before it alone: the last one then stands for all."""

    def find_layer(self, name: str) -> int | None:
        """Give the layer with which a weight learns; None of one that never does."""

    def encode(self, weights: Tensors, tokens: Tensors, *, dropout: float) -> Tensor:
        """Give a vector for every token of a `TokenBatch`: (B, T, width)."""


class ReaderModel:
    """Weights by name: the layers that are not frozen, and the heads, learn."""

    def __init__(
        self,
        encoder: Tensors,
        body: Body,
        *,
        recipe: ReaderRecipe,
        outputs: Mapping[str, int],
        device: torch.device,
    ) -> None:
        self.body, self.recipe, self.device, self._start = body, recipe, device, encoder
        own = {name: value for name, value in encoder.items() if not name.startswith("cls.")}
        drawn = _new_heads(recipe, outputs, 2 * body.width)
        self.weights = {
            name: value.detach().clone().to(device) for name, value in (own | drawn).items()
        }
        self.trained = {k: w for k, w in self.weights.items() if self._learns(k)}
        for value in self.trained.values():
            value.requires_grad_()

    def _learns(self, name: str) -> bool:
        layer = self.body.find_layer(name)
        return name.startswith("head.") or (
            layer is not None and layer >= self.recipe.frozen_layers
        )

    def copy(self) -> ReaderModel:
        """Give a model that can be trained further on its own."""
        other = object.__new__(ReaderModel)
        other.body, other.recipe, other.device = self.body, self.recipe, self.device
        other._start = self._start
        other.weights = {name: value.detach().clone() for name, value in self.weights.items()}
        other.trained = {name: other.weights[name] for name in self.trained}
        for value in other.trained.values():
            value.requires_grad_()
        return other

    def bring_to_rank(self, rank: int) -> None:
        """Let matrices differ from the encoder's by no more than will be kept of them."""
        import torch

        with torch.no_grad():
            for name, weight in self.trained.items():
                own = self._start.get(name)
                if own is None or weight.ndim != 2 or min(weight.shape) <= 2 * rank:
                    continue
                own = own.to(weight)
                left, right = factorise(weight - own, rank)
                weight.copy_(own + left.half().float() @ right.half().float())

    def add_to(self, sums: dict[str, Tensor]) -> None:
        """Add the weights that learn to sums, of which a mean is to be made."""
        for name, value in self.trained.items():
            sums[name] = sums[name] + value.detach() if name in sums else value.detach()

    def loss(self, batch: ReaderBatch) -> Tensor:
        """Add up the losses of a batch: the mean over the examples of each group."""
        import torch

        pooled = self.pool(batch.tokens, dropout=self.recipe.dropout)
        sizes: dict[int, int] = {}
        for share in batch.shares:
            sizes[share.group] = sizes.get(share.group, 0) + len(share.owners)
        total = torch.zeros((), device=self.device)
        for share in batch.shares:
            task = self.recipe.tasks[share.task]
            values = self.read_texts(pooled, batch, task.head, dropout=self.recipe.head_dropout)
            example_loss = example_losses(
                values[self._there(share.owners)], self._there(share.targets), task
            )
            total = total + task.weight * example_loss.sum() / sizes[share.group]
        return total

    def pool(self, tokens: TokenBatch, *, dropout: float = 0.0) -> Tensor:
        """Give every window's vector: one token's state, and the mean of all: (windows, 2H)."""
        import torch

        names = ("ids", "positions", "segments", "kinds", "windows")
        there = {name: self._there(getattr(tokens, name)) for name in names}  # (B, T) each
        with mix_precision(self.device):
            states = self.body.encode(self.weights, there, dropout=dropout)
        flat = states.float().flatten(0, 1)  # (B T, H)
        count = len(tokens.owners)
        owners = there["windows"].flatten()
        sums = flat.new_zeros(count + 1, flat.shape[1]).index_add(0, owners, flat)[:count]
        sizes = torch.bincount(owners, minlength=count + 1)[:count, None]
        ones = tokens.lasts if self.body.reads_forward else tokens.firsts
        return torch.cat([flat[self._there(ones)], sums / sizes], dim=1)

    def read_texts(
        self, pooled: Tensor, batch: ReaderBatch, head: str, *, dropout: float = 0.0
    ) -> Tensor:
        """Give what a head says of every text: the mean over its windows: (texts, outputs)."""
        import torch

        values = self.apply_head(head, pooled, dropout=dropout)
        owners = self._there(batch.tokens.owners)
        sums = values.new_zeros(batch.texts, values.shape[1]).index_add(0, owners, values)
        return sums / torch.bincount(owners, minlength=batch.texts).clamp(min=1)[:, None]

    def apply_head(self, head: str, pooled: Tensor, *, dropout: float = 0.0) -> Tensor:
        """Give a head's outputs for the vectors of windows: (windows, outputs)."""
        from torch.nn import functional

        weights, name = self.weights, f"head.{head}"
        x = functional.dropout(pooled, dropout, dropout > 0)
        if f"{name}.inner.weight" in weights:
            inner = functional.linear(
                x, weights[f"{name}.inner.weight"], weights[f"{name}.inner.bias"]
            )
            x = functional.dropout(inner.tanh(), dropout, dropout > 0)
            name += ".outer"
        return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    def _there(self, array: Any) -> Tensor:
        return put_on(self.device, array)


class ReaderTrainee:
    """A reader as the loop trains it: stages of groups of tasks, evaluated on what was held out.

    Trainings of one recipe that differ in `order` alone see their examples in another order.
    """

    unit = "tokens"

    def __init__(
        self,
        model: ReaderModel,
        examples: Examples,
        held: Examples,
        *,
        stages: range,
        order: int = 0,
    ) -> None:
        self.model, self.weights, self.recipe = model, model.weights, model.recipe
        self.stages = stages
        self._examples, self._held = examples, held
        self._seed = f"{model.recipe.seed}.{order}"

    def begin_stage(self, number: int) -> StagePlan:
        """Sample the stage's groups; its epochs are those of the first one."""
        recipe, stage = self.recipe, self.recipe.stages[number]
        if recipe.rank and stage.heads_only:
            # Heads learn from the layers as they will be kept.
            self.model.bring_to_rank(recipe.rank)
        sizes = {name: len(examples) for name, examples in self._examples.items()}
        self._number = number
        self._samplers = [
            sample_group(group, sizes, recipe.tasks, f"{self._seed} {place}")
            for place, group in enumerate(stage.groups)
        ]
        steps = stage.steps or max(1, round(stage.epochs * self._samplers[0].epoch_steps))
        optimiser = self._make_optimiser(stage)
        parameters = [value for group in optimiser.param_groups for value in group["params"]]
        # The groups of the optimiser have the rates, of which the schedule gives shares.
        epoch = self._samplers[0].epoch_steps
        schedule = Schedule(
            1.0, steps, max(1, round(recipe.warmup * steps)),
            decay=stage.epoch_decay, epoch_steps=epoch,
        )  # fmt: skip
        count = len(recipe.stages)
        name = f"stage {number + 1}/{count}  " if count > 1 else ""
        return StagePlan(optimiser, parameters, schedule, name)

    def _make_optimiser(self, stage: Stage) -> torch.optim.AdamW:
        """Let lower layers learn more slowly; biases and norms do not decay."""
        import torch

        groups: dict[tuple[float, float], list[Tensor]] = {}
        for name, value in self.model.trained.items():
            layer = self.model.body.find_layer(name)
            if layer is not None and stage.heads_only:
                continue
            depth = self.model.body.layers - layer if layer is not None else 0
            of_layer = self.recipe.head_rate if layer is None else stage.layer_decay**depth
            rate = stage.rate * of_layer
            decay = self.recipe.weight_decay if value.ndim > 1 else 0.0
            groups.setdefault((rate, decay), []).append(value)
        plain: list[dict[str, Any]] = [
            {"params": values, "lr": rate, "scale": rate, "weight_decay": decay}
            for (rate, decay), values in groups.items()
        ]
        return torch.optim.AdamW(plain, fused=self.model.device.type == "cuda")

    def batch(self, step: int) -> ReaderBatch:
        """Build the batch of a step; of long texts some windows are drawn."""
        import torch

        rng = random.Random(f"{self._seed} {self._number} {step}")
        chosen = [sampler.batch(step) for sampler in self._samplers]
        torch.manual_seed(rng.getrandbits(60))  # for dropout
        stage = self.recipe.stages[self._number]
        builder = BatchBuilder(self.recipe, stage, rng, self.model.body.frame)
        return builder.build(chosen, self._examples)

    def learn(self, batch: ReaderBatch, step: int) -> dict[str, Tensor]:
        """Add the gradients of a batch."""
        loss = self.model.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return {"tasks": loss.detach()}

    def evaluate(self, state: TrainingState) -> Evaluation | None:
        """Give a figure a task; the mean of those that are defined counts."""
        if not self._held:
            return None
        figures = evaluate(self.model, self._held, self.recipe.tasks)
        known = [value for value in figures.values() if not np.isnan(value)]
        mean = float(np.mean(known)) if known else 0.0
        row = {"stage": state.stage, "step": state.step, "mean": mean, "held_out": figures}
        said = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        return Evaluation(mean, row, f": {said}")


def example_losses(values: Tensor, targets: Tensor, task: Task) -> Tensor:
    """Give the loss of every example: values are (n, texts of an example, outputs)."""
    import torch
    from torch.nn import functional

    if task.kind in PAIRED:
        return _pair_losses(values[:, 0, 0], values[:, 1, 0], task)
    predicted = values[:, 0]
    if task.kind == "shares":
        return -(targets * predicted.log_softmax(1)).sum(1)
    if task.kind in ("ratings", "taught"):
        said = ~targets.isnan()
        errors = (predicted - targets.nan_to_num()).square() * said
        return errors.sum(1) / said.sum(1).clamp(min=1)
    losses = functional.binary_cross_entropy_with_logits(predicted, targets, reduction="none")[:, 0]
    return losses * torch.where(targets[:, 0] > 0, task.positives, 1.0)


def _pair_losses(better: Tensor, worse: Tensor, task: Task) -> Tensor:
    from torch.nn import functional

    if task.loss == "logistic":
        return functional.softplus(worse - better)
    if task.loss == "margin":
        return functional.relu(task.margin - (better.sigmoid() - worse.sigmoid()))
    high = 0.9 if task.loss == "smoothed" else 1.0
    sides = ((better, high), (worse, 1 - high))
    return sum(
        functional.binary_cross_entropy_with_logits(
            one, one.new_full((len(one),), target), reduction="none"
        )
        for one, target in sides
    )  # type: ignore[return-value]


def _new_heads(recipe: ReaderRecipe, outputs: Mapping[str, int], wide: int) -> dict[str, Tensor]:
    """Draw heads as torch draws linear layers: even, within 1/√inputs."""
    import torch

    draw = torch.Generator().manual_seed(recipe.seed)
    gathered: dict[str, Tensor] = {}

    def linear(name: str, inputs: int, count: int) -> None:
        reach = inputs**-0.5
        for part, size in (("weight", (count, inputs)), ("bias", (count,))):
            gathered[f"{name}.{part}"] = (torch.rand(size, generator=draw) * 2 - 1) * reach

    for head, task in recipe.heads.items():
        if task.hidden:
            linear(f"head.{head}.inner", wide, task.hidden)
            linear(f"head.{head}.outer", task.hidden, outputs[head])
        else:
            linear(f"head.{head}", wide, outputs[head])
    return gathered
