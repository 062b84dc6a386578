"""The one training loop: what it calls, when it stops, and where it stands.

A recipe's own part is a `Trainee`: it gives the batch of a step, the losses of a batch, and how its
weights do on what was held out. Everything else is the same for all recipes and is here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from fabula.core.errors import InputError, PackageMissing, SettingError
from fabula.core.protocols import watch
from fabula.learned.training.folder import TrainingFolder, find_versions

if TYPE_CHECKING:
    import torch
    from torch import Tensor
    from torch.optim import Optimizer

T = TypeVar("T")
Report = Callable[[str], None]


@dataclass(frozen=True)
class LoopConfig:
    """When something is due, counted in steps, and how far gradients may reach."""

    clip: float = 0.0  # norm of all gradients; 0: they stay as they are
    patience: int = 0  # evaluations of a stage without a better one before it stops; 0: never
    evaluate_every: int = 1  # 0: after every epoch of a stage
    checkpoint_every: int = 1
    report_every: int = 1


@dataclass(frozen=True)
class Schedule:
    """The learning rate: up in a line to the peak, then down in a line to nothing.

    With `fall` it stays at the peak instead, and is multiplied by that factor whenever the loss of
    an epoch exceeds those of the three before it. With `decay` it goes up to the peak, and is
    multiplied by that factor after every epoch.
    """

    peak: float
    steps: int
    warmup_steps: int = 1
    fall: float = 0.0
    decay: float = 0.0
    epoch_steps: int = 0

    def rate(self, step: int, epoch_losses: Sequence[float] = ()) -> float:
        """Give the rate of a step, counted from 1; the last step still learns."""
        if self.fall:
            rate = self.peak
            for epoch in range(3, len(epoch_losses)):
                if epoch_losses[epoch] > max(epoch_losses[epoch - 3 : epoch]):
                    rate *= self.fall
            return rate
        if step <= self.warmup_steps:
            return self.peak * step / self.warmup_steps
        if self.decay:
            return float(self.peak * self.decay ** ((step - 1) // self.epoch_steps))
        return self.peak * (self.steps + 1 - step) / (self.steps + 1 - self.warmup_steps)


@dataclass(frozen=True)
class StagePlan:
    """What one schedule covers. A group of the optimiser learns at `scale` times its rate."""

    optimiser: Optimizer
    parameters: Sequence[Tensor]  # whose gradients are clipped together
    schedule: Schedule
    name: str = ""  # before what is said of it

    @property
    def steps(self) -> int:
        """Steps of the stage."""
        return self.schedule.steps


@dataclass(frozen=True)
class Evaluation:
    """What held-out examples show: the figure to raise, a row for the record, and words."""

    figure: float
    row: Mapping[str, Any]
    words: str


class Batch(Protocol):
    """Whatever a trainee learns from in a step."""

    @property
    def size(self) -> int:
        """How much it holds, in the trainee's unit."""


class Trainee(Protocol):
    """What the loop trains. Batches and chance follow from the seed and the step alone."""

    stages: range
    unit: str  # of a batch's size

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """All weights by name; those that require a gradient learn."""

    def begin_stage(self, number: int) -> StagePlan:
        """Make ready for the steps of a stage."""

    def batch(self, step: int) -> Any:
        """Give the batch of a step of the stage, counted from 0."""

    def learn(self, batch: Any, step: int) -> Mapping[str, Tensor]:
        """Add the gradients of a batch to the weights; give the losses by part, detached."""

    def evaluate(self, state: TrainingState) -> Evaluation | None:
        """Say how the weights do on what was held out; None where nothing was."""


@dataclass
class TrainingState:
    """Where a training stands; all of it is in its checkpoints."""

    recipe: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    stage: int = 0
    step: int = 0  # of the stage
    seen: int = 0  # sizes of all batches
    history: list[dict[str, Any]] = field(default_factory=list)
    figures: list[float] = field(default_factory=list)  # one for each row of the history
    stage_start: int = 0  # evaluations before this stage

    def take_up(self, kept: Mapping[str, Any]) -> None:
        """Go on from a checkpoint's state, which must be of this recipe and these data."""
        if kept["data"] != self.data:
            raise InputError("the checkpoint is of other data", "train into another folder")
        other = [name for name in self.recipe if kept["recipe"].get(name) != self.recipe[name]]
        if other:
            problem = f"the checkpoint is of another recipe ({', '.join(sorted(other))})"
            raise InputError(problem, "resume with the same one, or train into another folder")
        for name, value in kept.items():
            setattr(self, name, value)

    def begin_stage(self, number: int) -> None:
        """Stand before the first step of a stage."""
        self.stage, self.step, self.stage_start = number, 0, len(self.history)

    def note(self, evaluation: Evaluation) -> bool:
        """Keep an evaluation; true where it is the best so far."""
        self.history.append(dict(evaluation.row))
        self.figures.append(evaluation.figure)
        return self.best == len(self.figures) - 1

    @property
    def best(self) -> int:
        """The place of the best evaluation in the history: of equal ones, the first."""
        return _first_best(self.figures)

    @property
    def best_row(self) -> dict[str, Any] | None:
        """The row of the best evaluation."""
        return self.history[self.best] if self.history else None

    def record(self) -> dict[str, Any]:
        """Give what training.json says of a training in one stage."""
        return {
            "recipe": self.recipe,
            "data": self.data,
            "seed": self.recipe["seed"],
            "steps": self.step,
            "best": self.best_row,
            "history": self.history,
            "versions": find_versions(),
        }

    def is_stale(self, patience: int) -> bool:
        """Whether patience with this stage is at an end; the next one is gone through anyway."""
        figures = self.figures[self.stage_start :]
        return 0 < patience <= len(figures) - 1 - _first_best(figures)

    @property
    def epoch_losses(self) -> list[float]:
        """Losses in training that evaluations came with."""
        return [row["trained"] for row in self.history if "trained" in row]


def run_training(
    trainee: Trainee,
    state: TrainingState,
    config: LoopConfig,
    *,
    folder: TrainingFolder | None = None,
    report: Report = print,
) -> None:
    """Take all steps of all stages, from where the folder's checkpoint stands if it may be resumed.

    With a folder, the best weights of all evaluations are put back at the end.
    """
    from torch.nn.utils import clip_grad_norm_

    state.begin_stage(trainee.stages.start)
    resumed = folder if folder and folder.read_state(state) else None
    for number in range(state.stage, trainee.stages.stop):
        stage, resumed = _enter_stage(trainee, state, number, resumed), None
        log = StepLog(trainee, state, stage, config.report_every, report)
        while state.step < stage.steps and not state.is_stale(config.patience):
            batch = trainee.batch(state.step)
            state.step += 1
            rate = stage.schedule.rate(state.step, state.epoch_losses)
            for group in stage.optimiser.param_groups:
                group["lr"] = group["scale"] * rate
            losses = trainee.learn(batch, state.step)
            if config.clip:
                clip_grad_norm_(stage.parameters, config.clip)
            stage.optimiser.step()
            # Not by the optimiser, which does not know the weights that a stage leaves as they are.
            for weight in trainee.weights.values():
                weight.grad = None
            log.note(batch, losses, rate)
            if is_due(config.evaluate_every or stage.schedule.epoch_steps, state, stage):
                _evaluate(trainee, state, folder, report)
            if folder and is_due(config.checkpoint_every, state, stage):
                folder.save_checkpoint(trainee.weights, stage.optimiser, state)
        log.finish()
    if folder and state.history:
        folder.restore_best(trainee.weights)


def _enter_stage(
    trainee: Trainee, state: TrainingState, number: int, resumed: TrainingFolder | None
) -> StagePlan:
    """Stand before the first step of a stage, or where the checkpoint of a folder stands."""
    stage = trainee.begin_stage(number)
    if resumed:
        resumed.restore_checkpoint(trainee.weights, stage.optimiser)
    else:
        state.begin_stage(number)
    return stage


def _evaluate(
    trainee: Trainee, state: TrainingState, folder: TrainingFolder | None, report: Report
) -> None:
    """Evaluate what was held out, if anything was; keep the weights where it is the best so far."""
    if (found := trainee.evaluate(state)) is None:
        return
    is_best = state.note(found)
    if is_best and folder:
        folder.save_best(trainee.weights, {"step": state.step})
    report(f"held out{found.words}{' (best)' if is_best else ''}")


def is_due(every: int, state: TrainingState, stage: StagePlan) -> bool:
    """Whether something is due that comes every so many steps, and after the last."""
    return state.step % every == 0 or state.step == stage.steps


def _first_best(figures: Sequence[float]) -> int:
    best = 0
    for place, figure in enumerate(figures):
        if figure > figures[best]:
            best = place
    return best


class StepLog:
    """Says where a training stands: losses since the last line, speed, and the time left.

    Whoever watches is told of every step.
    """

    def __init__(
        self, trainee: Trainee, state: TrainingState, stage: StagePlan, every: int, report: Report
    ) -> None:
        self._unit, self._every, self._report = trainee.unit, every, report
        self._state, self._stage = state, stage
        self._began, self._step, self._seen = time.monotonic(), state.step, state.seen
        self._losses: list[Mapping[str, Tensor]] = []
        is_over = state.step == stage.steps and state.stage + 1 == trainee.stages.stop
        if state.step and not is_over:
            name = f"stage {state.stage + 1}, " if stage.name else ""
            report(f"resumed at {name}step {state.step:,}")
        self._counting = watch.get().count("steps")
        if self._counting:
            self._counting.start(stage.steps)
            self._counting.advance(state.step)

    def note(self, batch: Batch, losses: Mapping[str, Tensor], rate: float) -> None:
        """Count a step, and say how far the stage has come when that is due."""
        self._state.seen += batch.size
        if self._counting:
            self._counting.advance(1)
        # Asked for now and then only: a GPU must not wait for them at every step.
        self._losses.append(losses)
        if not is_due(self._every, self._state, self._stage):
            return
        names = dict.fromkeys(name for losses in self._losses for name in losses)
        means = {name: _mean([one[name] for one in self._losses if name in one]) for name in names}
        self._losses.clear()
        parts = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
        step, steps = self._state.step, self._stage.steps
        passed = max(time.monotonic() - self._began, 1e-9)
        left = passed / (step - self._step) * (steps - step)
        watch.get().tell(f"{self._stage.name}loss {sum(means.values()):.4f}")
        self._report(
            f"{self._stage.name}step {step:,}/{steps:,}  loss {sum(means.values()):.4f}"
            f"{f' ({parts})' if len(means) > 1 else ''}  lr {rate:.2e}  "
            f"{(self._state.seen - self._seen) / passed:,.0f} {self._unit}/s  "
            f"ETA {left / 60:.1f} min"
        )

    def finish(self) -> None:
        """Count no more."""
        if self._counting:
            self._counting.finish()


def _mean(values: Sequence[Tensor]) -> float:
    return sum(value.item() for value in values) / len(values)


class Sampler(Generic[T]):
    """The examples of every step, epoch after epoch; they follow from the step's number alone.

    `order` gives the examples of an epoch in the order of that epoch. The last few, too few for a
    batch, are left for another epoch, unless `keep_last`.
    """

    def __init__(
        self, order: Callable[[int], Sequence[T]], rows: int, *, keep_last: bool = False
    ) -> None:
        self._order, self._most, self._keep_last = order, rows, keep_last
        self._first_step = 0
        self._open_epoch(0)

    def batch(self, step: int) -> Sequence[T]:
        """Give the examples of a step, counted from 0."""
        if step < self._first_step:
            self._first_step = 0
            self._open_epoch(0)
        while step >= self._first_step + self.epoch_steps:
            self._first_step += self.epoch_steps
            self._open_epoch(self.epoch + 1)
        start = (step - self._first_step) * self._rows
        return self._examples[start : start + self._rows]

    @property
    def epoch_steps(self) -> int:
        """Steps in the epoch that stands open."""
        count = len(self._examples)
        return -(-count // self._rows) if self._keep_last else count // self._rows

    def _open_epoch(self, number: int) -> None:
        self.epoch, self._examples = number, self._order(number)
        if not len(self._examples):
            raise InputError("no example is left to learn from", "add data")
        self._rows = min(self._most, len(self._examples))


def choose_device(name: str) -> torch.device:
    """Give the device of that name; without a name a GPU if there is one, else the CPU."""
    try:
        import torch
    except ImportError:
        raise PackageMissing("torch", "train") from None
    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
    except RuntimeError:
        raise SettingError(f"no device is called {name!r}", "say cpu or cuda") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise SettingError("torch sees no GPU here", "say --device cpu")
    return device


def put_on(device: torch.device, array: Any) -> Tensor:
    """Put an array on a device; a GPU does not wait for it."""
    import torch

    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


def mix_precision(device: torch.device) -> torch.autocast:
    """Compute in bfloat16 on a GPU, in full on a CPU."""
    import torch

    return torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda")
