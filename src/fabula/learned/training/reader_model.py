"""A reader in training: an encoder's layers and heads on a device, batches in, losses out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fabula.learned.training.bert import Shape, encode
from fabula.learned.training.reader_batches import ReaderBatch
from fabula.learned.training.reader_recipe import ReaderRecipe, Stage, Task

if TYPE_CHECKING:
    import torch
    from torch import Tensor

_LAYER = re.compile(r"bert\.encoder\.layer\.(\d+)\.")
_HEAD_RATE = 3.0  # times that of the layers


class ReaderModel:
    """Weights by name: the layers that are not frozen, and the heads, learn."""

    def __init__(
        self,
        encoder: Mapping[str, Tensor],
        shape: Shape,
        *,
        recipe: ReaderRecipe,
        outputs: Mapping[str, int],
        device: torch.device,
    ) -> None:
        self.shape, self.recipe, self.device = shape, recipe, device
        own = {name: value for name, value in encoder.items() if name.startswith("bert.")}
        drawn = _new_heads(recipe, outputs, 2 * shape.hidden_size)
        self.weights = {
            name: value.detach().clone().to(device) for name, value in (own | drawn).items()
        }
        self.trained = {k: w for k, w in self.weights.items() if self._learns(k)}
        for value in self.trained.values():
            value.requires_grad_()

    def _learns(self, name: str) -> bool:
        found = _LAYER.match(name)
        return name.startswith("head.") or (
            found is not None and int(found[1]) >= self.recipe.frozen_layers
        )

    def copied(self) -> ReaderModel:
        """Give a model that can be trained further on its own."""
        other = object.__new__(ReaderModel)
        other.shape, other.recipe, other.device = self.shape, self.recipe, self.device
        other.weights = {name: value.detach().clone() for name, value in self.weights.items()}
        other.trained = {name: other.weights[name] for name in self.trained}
        for value in other.trained.values():
            value.requires_grad_()
        return other

    def optimiser(self, stage: Stage) -> torch.optim.AdamW:
        """Make a stage's optimiser: lower layers learn more slowly, biases and norms keep size."""
        import torch

        groups: dict[tuple[float, float], list[Tensor]] = {}
        for name, value in self.trained.items():
            layer = _LAYER.match(name)
            if layer and stage.heads_only:
                continue
            depth = self.shape.num_hidden_layers - int(layer[1]) if layer else 0
            rate = stage.rate * (stage.layer_decay**depth if layer else _HEAD_RATE)
            decay = self.recipe.weight_decay if value.ndim > 1 else 0.0
            groups.setdefault((rate, decay), []).append(value)
        made: list[dict[str, Any]] = [
            {"params": some, "lr": rate, "highest": rate, "weight_decay": decay}
            for (rate, decay), some in groups.items()
        ]
        return torch.optim.AdamW(made, fused=self.device.type == "cuda")

    def learn(
        self, batch: ReaderBatch, optimiser: torch.optim.Optimizer, *, share: float
    ) -> Tensor:
        """Take a step at a share of the highest rate; give the loss before it."""
        import torch

        for group in optimiser.param_groups:
            group["lr"] = group["highest"] * share
        loss = self.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        learning = [value for group in optimiser.param_groups for value in group["params"]]
        torch.nn.utils.clip_grad_norm_(learning, self.recipe.clip)
        optimiser.step()
        for value in self.trained.values():
            value.grad = None
        return loss.detach()

    def loss(self, batch: ReaderBatch) -> Tensor:
        """Add up the losses of a batch: the mean over the examples of each group."""
        import torch

        pooled = self.pooled(batch, dropout=self.recipe.dropout)
        sizes: dict[int, int] = {}
        for share in batch.shares:
            sizes[share.group] = sizes.get(share.group, 0) + len(share.owners)
        total = torch.zeros((), device=self.device)
        for share in batch.shares:
            task = self.recipe.tasks[share.task]
            values = self.texts(pooled, batch, task.head, dropout=self.recipe.head_dropout)
            found = example_losses(
                values[self._there(share.owners)], self._there(share.targets), task
            )
            total = total + task.weight * found.sum() / sizes[share.group]
        return total

    def pooled(self, batch: ReaderBatch, *, dropout: float = 0.0) -> Tensor:
        """Give every window's vector: the state of [CLS], and the mean of all: (windows, 2H)."""
        import torch

        arrays = (batch.ids, batch.positions, batch.segments)
        ids, positions, segments = map(self._there, arrays)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            states = encode(
                self.weights, ids, positions, segments,
                shape=self.shape, dropout=dropout, kinds=self._there(batch.kinds),
            )  # fmt: skip
        flat = states.float().flatten(0, 1)  # (B T, H)
        count = len(batch.owners)
        owners = self._there(batch.windows).flatten()
        sums = flat.new_zeros(count + 1, flat.shape[1]).index_add(0, owners, flat)[:count]
        sizes = torch.bincount(owners, minlength=count + 1)[:count, None]
        return torch.cat([flat[self._there(batch.firsts)], sums / sizes], dim=1)

    def texts(
        self, pooled: Tensor, batch: ReaderBatch, head: str, *, dropout: float = 0.0
    ) -> Tensor:
        """Give what a head says of every text: the mean over its windows: (texts, outputs)."""
        import torch

        values = apply_head(self.weights, head, pooled, dropout=dropout)
        owners = self._there(batch.owners)
        sums = values.new_zeros(batch.texts, values.shape[1]).index_add(0, owners, values)
        return sums / torch.bincount(owners, minlength=batch.texts).clamp(min=1)[:, None]

    def _there(self, array: Any) -> Tensor:
        import torch

        found = torch.from_numpy(array)
        return found.pin_memory().to(self.device, non_blocking=True) if self._far else found

    @property
    def _far(self) -> bool:
        return self.device.type == "cuda"


def apply_head(
    weights: Mapping[str, Tensor], head: str, pooled: Tensor, *, dropout: float = 0.0
) -> Tensor:
    """Give a head's outputs for pooled vectors."""
    from torch.nn import functional

    x, name = functional.dropout(pooled, dropout, dropout > 0), f"head.{head}"
    if f"{name}.inner.weight" in weights:
        inner = functional.linear(x, weights[f"{name}.inner.weight"], weights[f"{name}.inner.bias"])
        x = functional.dropout(inner.tanh(), dropout, dropout > 0)
        name += ".outer"
    return functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])


def example_losses(values: Tensor, targets: Tensor, task: Task) -> Tensor:
    """Give the loss of every example: values are (n, texts of an example, outputs)."""
    import torch
    from torch.nn import functional

    if task.kind == "pairs":
        return _pair_losses(values[:, 0, 0], values[:, 1, 0], task)
    found = values[:, 0]
    if task.kind == "shares":
        return -(targets * found.log_softmax(1)).sum(1)
    if task.kind == "ratings":
        said = ~targets.isnan()
        errors = (found - targets.nan_to_num()).square() * said
        return errors.sum(1) / said.sum(1).clamp(min=1)
    losses = functional.binary_cross_entropy_with_logits(found, targets, reduction="none")[:, 0]
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
    found: dict[str, Tensor] = {}

    def linear(name: str, inputs: int, count: int) -> None:
        reach = inputs**-0.5
        for part, size in (("weight", (count, inputs)), ("bias", (count,))):
            found[f"{name}.{part}"] = (torch.rand(size, generator=draw) * 2 - 1) * reach

    for head, task in recipe.heads.items():
        if task.hidden:
            linear(f"head.{head}.inner", wide, task.hidden)
            linear(f"head.{head}.outer", task.hidden, outputs[head])
        else:
            linear(f"head.{head}", wide, outputs[head])
    return found
