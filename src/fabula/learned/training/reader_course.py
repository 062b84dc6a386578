"""The course of a reader's training: stages, steps, evaluations, and a checkpoint to go on from."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.training.checkpoint import (
    read_tensors,
    restore_checkpoint,
    save_checkpoint,
    write_tensors,
)
from fabula.learned.training.examples import Examples
from fabula.learned.training.reader_batches import Deck, ReaderBatch, batch_of
from fabula.learned.training.reader_evaluation import evaluate
from fabula.learned.training.reader_model import ReaderModel
from fabula.learned.training.reader_recipe import ReaderRecipe, Stage
from fabula.learned.training.run import Report, versions

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

BEST = "best.safetensors"


@dataclass
class Course:
    """Where a training stands. `first` and `last` are the stages it goes through."""

    recipe: ReaderRecipe
    data: Mapping[str, Any]
    report: Report
    out: Path | None = None
    first: int = 0
    last: int | None = None
    seed_shift: int = 0
    stage: int = 0
    step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)

    def learn(
        self, model: ReaderModel, examples: Examples, held: Examples, *, resume: bool = False
    ) -> None:
        """Go through the stages; with evaluations, the best weights are put back at the end."""
        self.stage = self.first
        state = self._restored(model) if resume else None
        for number in range(self.stage, len(self.recipe.stages))[: self._count()]:
            self.stage, self.step = number, 0
            self._learn_stage(model, examples, held, state=state)
            state = None
        if self.history and self.out:
            put_weights(model, read_tensors(self.out / BEST)[0])

    def _count(self) -> int | None:
        return None if self.last is None else self.last - self.stage

    def _learn_stage(
        self, model: ReaderModel, examples: Examples, held: Examples, *, state: Any
    ) -> None:
        stage = self.recipe.stages[self.stage]
        decks = _decks(stage, examples, self.recipe, self._seed)
        steps = stage.steps or max(1, round(stage.epochs * decks[0].steps))
        optimiser = model.optimiser(stage)
        if state is not None:
            self.step = int(state["step"])
            _remember(optimiser, model, state["tensors"])
            self.report(f"resumed at stage {self.stage + 1}, step {self.step:,}")
        clock = _Clock(self.step, steps)
        while self.step < steps and not self._is_stale():
            batch = self._batch(stage, decks, examples)
            self.step += 1
            share = _share(self.step, steps, self.recipe.warmup)
            clock.note(model.learn(batch, optimiser, share=share))
            if self._is_due(self.recipe.report_every, steps):
                self._say(clock.line(self.step))
            if held and self._is_due(self.recipe.evaluate_every, steps):
                self._evaluate(model, held)
            if self.out and self._is_due(self.recipe.checkpoint_every, steps):
                save_checkpoint(self.out, model.weights, optimiser, self.state())

    def _batch(self, stage: Stage, decks: list[Deck], examples: Examples) -> ReaderBatch:
        """Make the batch of the next step, which follows from the seed and its number alone."""
        import torch

        rng = random.Random(f"{self._seed} {self.stage} {self.step}")
        taken = [deck.dealt(self.step) for deck in decks]
        torch.manual_seed(rng.getrandbits(60))  # for dropout
        return batch_of(taken, examples, self.recipe, stage=stage, rng=rng)

    @property
    def _seed(self) -> str:
        return f"{self.recipe.seed}.{self.seed_shift}"

    def _is_due(self, every: int, steps: int) -> bool:
        return self.step % every == 0 or self.step == steps

    def _is_stale(self) -> bool:
        """Whether patience with this stage is at an end; the next one is gone through anyway."""
        means = [one["mean"] for one in self.history if one["stage"] == self.stage]
        if not self.recipe.patience or not means:
            return False
        return len(means) - 1 - int(np.argmax(means)) >= self.recipe.patience

    def _say(self, line: str) -> None:
        stages = len(self.recipe.stages)
        self.report(f"stage {self.stage + 1}/{stages}  {line}" if stages > 1 else line)

    def _evaluate(self, model: ReaderModel, held: Examples) -> None:
        found = evaluate(model, held, self.recipe.tasks)
        known = [one for one in found.values() if not np.isnan(one)]
        mean = float(np.mean(known)) if known else 0.0
        better = not self.history or mean > max(one["mean"] for one in self.history)
        row = {"stage": self.stage, "step": self.step, "mean": mean, "held_out": found}
        self.history.append(row)
        if better and self.out:
            write_tensors(self.out / BEST, model.trained, {"step": self.step})
        said = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        self.report(f"held out: {said}{' (best)' if better else ''}")

    def state(self) -> dict[str, Any]:
        """Say where it stands, and of what recipe and data it is, for a file."""
        names = ("stage", "step", "history", "data")
        return {name: getattr(self, name) for name in names} | {"recipe": plain(self.recipe)}

    def _restored(self, model: ReaderModel) -> Any:
        """Put a checkpoint's weights in place; give its optimiser's memory by weight."""
        assert self.out is not None
        memory = _Memory()
        about = restore_checkpoint(self.out, model.weights, memory)  # type: ignore[arg-type]
        if about is None:
            return None
        self.take_up(about)
        return {"step": about["step"], "tensors": memory.state}

    def take_up(self, about: Mapping[str, Any]) -> None:
        """Go on from a state that was on disk; it must be of this recipe and these data."""
        if about["data"] != json.loads(json.dumps(self.data)):
            raise InputError("the checkpoint is of other data", "train into another folder")
        if about["recipe"] != plain(self.recipe):
            raise InputError("the checkpoint is of another recipe", "resume with the same one")
        self.stage, self.history = about["stage"], list(about["history"])

    def record(self) -> dict[str, Any]:
        """Give what training.json says of the course."""
        return {
            "recipe": plain(self.recipe),
            "data": self.data,
            "seed": self.recipe.seed,
            "history": self.history,
            "versions": versions(),
        }


class _Clock:
    """Losses since the last line, and how long the rest will take."""

    def __init__(self, step: int, steps: int) -> None:
        self._began, self._first, self._steps = time.monotonic(), step, steps
        self._losses: list[Tensor] = []

    def note(self, loss: Tensor) -> None:
        """Keep a loss; it is asked for later, so that a GPU need not wait at every step."""
        self._losses.append(loss)

    def line(self, step: int) -> str:
        """Say where the training stands."""
        mean = float(np.mean([one.item() for one in self._losses]))
        self._losses.clear()
        left = (time.monotonic() - self._began) / (step - self._first) * (self._steps - step)
        return f"step {step:,}/{self._steps:,}  loss {mean:.4f}  ETA {left / 60:.1f} min"


class _Memory:
    """Takes what a checkpoint says of an optimiser that is not there yet."""

    def __init__(self) -> None:
        from collections import defaultdict

        self.state: dict[Any, dict[str, Any]] = defaultdict(dict)


def plain(recipe: ReaderRecipe) -> dict[str, Any]:
    """Give a recipe as JSON would give it back."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(recipe)))
    return found


def _remember(optimiser: Optimizer, model: ReaderModel, tensors: Mapping[Any, Any]) -> None:
    for value in model.trained.values():
        if value in tensors:
            optimiser.state[value] = dict(tensors[value])


def put_weights(model: ReaderModel, weights: Mapping[str, Tensor]) -> None:
    """Put weights in the place of those that a model has."""
    import torch

    with torch.no_grad():
        for name, value in weights.items():
            model.weights[name].copy_(value)


def _decks(stage: Stage, examples: Examples, recipe: ReaderRecipe, seed: str) -> list[Deck]:
    return [
        Deck(
            {name: len(examples[name]) for name in group.tasks},
            recipe.tasks,
            rows=group.rows,
            seed=f"{seed} {place}",
        )
        for place, group in enumerate(stage.groups)
    ]


def _share(step: int, steps: int, warmup: float) -> float:
    """Share of the highest rate: up in a line, then down in a line to nothing."""
    first = max(1, round(warmup * steps))
    return step / first if step <= first else (steps + 1 - step) / (steps + 1 - first)
