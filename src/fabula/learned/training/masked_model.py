"""A masked language model in training: weights on a device, batches in, losses and guesses out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fabula.core.errors import PackageMissing, SettingError, UnknownName, closest
from fabula.learned.training.batches import Batch
from fabula.learned.training.bert import Shape, encode, guess
from fabula.learned.training.evaluation import Guessed, evaluate_guesses
from fabula.learned.training.masking import Masked
from fabula.learned.training.recipe import Recipe
from fabula.learned.training.schedule import learning_rate

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    Encode = Callable[..., Tensor]


def chosen_device(name: str) -> torch.device:
    """Give the device of that name; without a name a GPU if there is one, else the CPU."""
    try:
        import torch
    except ImportError:
        raise PackageMissing("torch", "train") from None
    try:
        found = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise SettingError(f"no device is called {name!r}", "say cpu or cuda") from None
    if found.type == "cuda" and not torch.cuda.is_available():
        raise SettingError("torch sees no GPU here", "say --device cpu")
    return found


class MaskedModel:
    """Weights by name, of which those not frozen learn."""

    def __init__(
        self, weights: Mapping[str, Tensor], shape: Shape, *, recipe: Recipe, device: torch.device
    ) -> None:
        import torch

        for name in recipe.frozen:
            if name not in weights:
                raise UnknownName(f"no weights are called {name!r}", closest(name, weights))
        self.shape, self.recipe, self.device = shape, recipe, device
        self.weights = {name: value.to(device) for name, value in weights.items()}
        self.trained = {k: w for k, w in self.weights.items() if k not in recipe.frozen}
        for value in self.trained.values():
            value.requires_grad_()
        self._encode: Encode = torch.compile(encode) if recipe.compile else encode

    def optimiser(self) -> torch.optim.AdamW:
        """Make the optimiser; biases and norms do not decay."""
        import torch

        decaying = [value for value in self.trained.values() if value.ndim > 1]
        others = [value for value in self.trained.values() if value.ndim == 1]
        groups: list[dict[str, Any]] = [
            {"params": decaying, "weight_decay": self.recipe.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ]
        fused = self.device.type == "cuda"
        return torch.optim.AdamW(groups, betas=(0.9, self.recipe.beta2), fused=fused)

    def learn(
        self, masked: Masked, batch: Batch, *, optimiser: torch.optim.Optimizer, step: int
    ) -> Tensor:
        """Take one step, counted from 1, and give the loss before it."""
        import torch

        torch.manual_seed(self.recipe.seed * 1_000_003 + step)  # for dropout
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(step, self.recipe)
        loss = self.loss(batch, masked)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.trained.values(), self.recipe.clip)
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)
        return loss.detach()

    def loss(self, batch: Batch, masked: Masked) -> Tensor:
        """Mean cross-entropy of the hidden tokens."""
        from torch.nn import functional

        with self._mixed():
            logits = self._logits(self._encode, batch, masked, dropout=self.recipe.dropout)
            return functional.cross_entropy(logits.float(), self._there(masked.labels))

    def evaluate(self, held: Mapping[str, Sequence[tuple[Batch, Masked]]]) -> dict[str, Guessed]:
        """Say how often hidden tokens are guessed, by held-out set."""
        return {name: evaluate_guesses(batches, self._guess) for name, batches in held.items()}

    def _guess(self, batch: Batch, masked: Masked) -> Tensor:
        import torch

        with torch.no_grad(), self._mixed():
            return self._logits(encode, batch, masked)

    def _logits(
        self, encoder: Encode, batch: Batch, masked: Masked, *, dropout: float = 0.0
    ) -> Tensor:
        """Give logits at the hidden tokens alone: (M, V)."""
        ids, positions, segments = map(self._there, (masked.ids, batch.positions, batch.segments))
        states = encoder(self.weights, ids, positions, segments, shape=self.shape, dropout=dropout)
        return guess(self.weights, states.flatten(0, 1)[self._there(masked.places)], self.shape)

    def _mixed(self) -> torch.autocast:
        """Compute in bfloat16 on a GPU, in full on a CPU."""
        import torch

        return torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda")

    def _there(self, array: Any) -> Tensor:
        import torch

        found = torch.from_numpy(array)
        if self.device.type != "cuda":
            return found
        return found.pin_memory().to(self.device, non_blocking=True)
