"""The course of a training: where it stands, what it says, and its record at the end."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabula.core.errors import InputError
from fabula.learned.training.batches import PAD, Batch
from fabula.learned.training.evaluation import Guessed, mean_top1
from fabula.learned.training.recipe import Recipe
from fabula.learned.training.schedule import learning_rate

if TYPE_CHECKING:
    from torch import Tensor

Report = Callable[[str], None]


@dataclass
class Run:
    """State of a training run; all of it but the clock is in its checkpoints."""

    recipe: Recipe
    data: Mapping[str, Any]
    report: Report
    step: int = 0
    place: tuple[int, int] = (0, 0)
    tokens: int = 0
    best_step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    _losses: list[Tensor] = field(default_factory=list)
    _clock: tuple[float, int, int] = (0.0, 0, 0)

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Go on from a checkpoint's state, which must be of the same recipe."""
        self._clock = (time.monotonic(), 0, 0)
        if state is None:
            return
        if state["data"] != self.data:
            raise InputError("the checkpoint is of other data", "train into another folder")
        kept, wanted = state["recipe"], _plain(self.recipe)
        if other := sorted(name for name in wanted if kept.get(name) != wanted[name]):
            raise InputError(
                f"the checkpoint is of another recipe ({', '.join(other)})",
                "resume with the same recipe, or train into another folder",
            )
        self.step, self.tokens, self.best_step = state["step"], state["tokens"], state["best_step"]
        self.place, self.history = tuple(state["place"]), list(state["history"])
        self._clock = (time.monotonic(), self.step, self.tokens)
        self.report(f"resumed at step {self.step:,}")

    def state(self) -> dict[str, Any]:
        """Give what a checkpoint has to keep."""
        names = ("step", "place", "tokens", "best_step", "history", "data")
        return {name: getattr(self, name) for name in names} | {"recipe": _plain(self.recipe)}

    @property
    def is_over(self) -> bool:
        """Whether all steps are done, or patience is at an end."""
        waited = sum(one["step"] > self.best_step for one in self.history)
        return self.step >= self.recipe.steps or 0 < self.recipe.patience <= waited

    def is_time(self, every: int) -> bool:
        """Whether something is due that comes every so many steps, and after the last."""
        return self.step % every == 0 or self.step == self.recipe.steps

    def note(self, loss: Tensor, batch: Batch) -> None:
        """Count a step, and tell where it stands when that is due."""
        self.tokens += int((batch.ids != PAD).sum())
        self._losses.append(loss)
        if self.is_time(self.recipe.report_every):
            # Asked for now and then only: a GPU must not wait for it at every step.
            mean = sum(one.item() for one in self._losses) / len(self._losses)
            self._losses.clear()
            self.report(self._line(mean))

    def note_evaluation(self, found: Mapping[str, Guessed]) -> bool:
        """Keep what an evaluation found; true where it is the best so far."""
        values = {name: one.plain() for name, one in found.items()}
        mean = mean_top1(found)
        is_best = not self.history or mean > max(one["mean_top1"] for one in self.history)
        self.history.append({"step": self.step, "mean_top1": mean, "held_out": values})
        if is_best:
            self.best_step = self.step
        shares = (f"{n} {o.top1.value:.3f}/{o.top5.value:.3f}" for n, o in found.items())
        self.report(f"held out, top-1/top-5: {', '.join(shares)}{' (best)' if is_best else ''}")
        return is_best

    def _line(self, loss: float) -> str:
        began, step, tokens = self._clock
        passed = max(time.monotonic() - began, 1e-9)
        left = passed / max(1, self.step - step) * (self.recipe.steps - self.step)
        rate = learning_rate(self.step, self.recipe)
        return (
            f"step {self.step:,}/{self.recipe.steps:,}  loss {loss:.4f}  lr {rate:.2e}  "
            f"{(self.tokens - tokens) / passed:,.0f} tokens/s  ETA {left / 60:.1f} min"
        )

    def record(self) -> dict[str, Any]:
        """Give what training.json says of the course; the weights kept are those of `best`."""
        best = next((one for one in self.history if one["step"] == self.best_step), None)
        return {
            "recipe": _plain(self.recipe),
            "data": self.data,
            "seed": self.recipe.seed,
            "steps": self.step,
            "epochs": self.place[0],
            "tokens_seen": self.tokens,
            "masking": {
                "training": f"{self.recipe.mask_rate:.0%} of the tokens, chosen anew each step: "
                "80 % [MASK], 10 % any token, 10 % unchanged",
                "evaluation": f"{self.recipe.mask_rate:.0%} of the tokens, always the same: [MASK]",
            },
            "best": best,
            "history": self.history,
            "versions": versions(),
        }


def versions() -> dict[str, str]:
    """Give the versions that the numbers may depend on."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": sys.version.split()[0]}
    for name in ("fabula", "torch", "numpy", "tokenizers", "safetensors"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write training.json, whole or not at all."""
    partial = path.with_name(f".{path.name}.part")
    partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    partial.replace(path)


def _plain(recipe: Recipe) -> dict[str, Any]:
    """Give a recipe as JSON would give it back."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(recipe)))
    return found
