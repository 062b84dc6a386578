"""Train StoryER's whole model: ranking, rating and commenting at once, on an encoder-decoder."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.joint.config import (
    CONFIDENCE,
    HEADS_FILE,
    PREFERENCE,
    RATINGS,
    JointConfig,
    write_joint_config,
)
from fabula.learned.reader.domain import describe_domain
from fabula.learned.training.checkpoint import (
    CHECKPOINT,
    restore_checkpoint,
    save_checkpoint,
    write_tensors,
)
from fabula.learned.training.encoder import RECORD, open_folder
from fabula.learned.training.masked_model import chosen_device
from fabula.learned.training.reader_course import BEST
from fabula.learned.training.run import Report, versions, write_record
from fabula.learned.training.storyer_joint_batches import Deck
from fabula.learned.training.storyer_joint_data import JointData, part_data
from fabula.learned.training.storyer_joint_evaluation import (
    evaluate_joint,
    figure_of,
    preference_logits,
)
from fabula.learned.training.storyer_joint_model import JointModel, begin_joint
from fabula.learned.training.storyer_joint_recipe import JointRecipe

if TYPE_CHECKING:
    from torch import Tensor

_LEAST_STORIES = 50  # for percentiles to mean anything
_DESCRIBED = 5000  # stories that the domain is described by


def train_joint(
    recipe: JointRecipe,
    data: JointData,
    *,
    out: Path,
    device: str = "",
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train on the recipe's backbone, leave a folder that readers load, give training.json."""
    if (finished := open_folder(out, resume=resume)) is not None:
        return finished
    place = chosen_device(device)
    lessons, held = (Deck(part, recipe) for part in part_data(data, recipe))
    _check(lessons)
    model = begin_joint(recipe, place)
    optimiser = model.optimiser()
    course = JointCourse(recipe, data.describe(), lessons.steps, lessons.steps_per_epoch, report)
    course.restore(restore_checkpoint(out, model.weights, optimiser) if resume else None)

    while not course.is_over:
        batch = lessons.dealt(course.step)
        course.step += 1
        course.note(model.learn(batch, optimiser, rate=course.rate, step=course.step))
        if not held.is_empty and course.is_time(recipe.evaluate_every):
            is_best = course.note_evaluation(evaluate_joint(model, held))
            if is_best:
                write_tensors(out / BEST, model.weights, {"step": course.step})
        if course.is_time(recipe.checkpoint_every):
            save_checkpoint(out, model.weights, optimiser, course.state())

    if course.history:
        _put(model, out / BEST)
    return _close(out, model, lessons, held, record=course.record() | {"device": str(place)})


@dataclass
class JointCourse:
    """Where a training stands; all of it but the clock is in its checkpoints."""

    recipe: JointRecipe
    data: Mapping[str, Any]
    steps: int
    steps_per_epoch: int
    report: Report
    step: int = 0
    best_step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    _losses: list[Mapping[str, Tensor]] = field(default_factory=list)
    _clock: tuple[float, int] = (0.0, 0)

    def restore(self, state: Mapping[str, Any] | None) -> None:
        """Go on from a checkpoint's state, which must be of the same data and recipe."""
        if state is not None:
            if state["data"] != self.data:
                raise InputError("the checkpoint is of other data", "train into another folder")
            if state["recipe"] != _plain(self.recipe):
                raise InputError("the checkpoint is of another recipe", "resume with the same one")
            self.step, self.best_step = state["step"], state["best_step"]
            self.history = list(state["history"])
            self.report(f"resumed at step {self.step:,}")
        self._clock = (time.monotonic(), self.step)

    def state(self) -> dict[str, Any]:
        """Give what a checkpoint has to keep."""
        names = ("step", "best_step", "history", "data")
        return {name: getattr(self, name) for name in names} | {"recipe": _plain(self.recipe)}

    @property
    def rate(self) -> float:
        """Rate of this step, counted from 1: up in a line, then down in a line to nothing."""
        epochs = self.recipe.warmup_epochs
        warmed = epochs * self.steps_per_epoch if epochs else self.recipe.warmup * self.steps
        first = min(max(1, round(warmed)), self.steps)
        if self.step <= first:
            return self.recipe.rate * self.step / first
        return self.recipe.rate * (self.steps + 1 - self.step) / (self.steps + 1 - first)

    @property
    def is_over(self) -> bool:
        """Whether all steps are done, or patience is at an end."""
        waited = sum(one["step"] > self.best_step for one in self.history)
        return self.step >= self.steps or 0 < self.recipe.patience <= waited

    def is_time(self, every: int) -> bool:
        """Whether something is due that comes every so many steps, and after the last."""
        return self.step % every == 0 or self.step == self.steps

    def note(self, losses: Mapping[str, Tensor]) -> None:
        """Keep the losses of a step, and tell where it stands when that is due."""
        self._losses.append(losses)
        if not self.is_time(self.recipe.report_every):
            return
        names = {name: 0 for one in self._losses for name in one}
        means = {
            name: float(np.mean([float(one[name]) for one in self._losses if name in one]))
            for name in names
        }
        self._losses.clear()
        began, first = self._clock
        left = (time.monotonic() - began) / (self.step - first) * (self.steps - self.step)
        said = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
        self.report(
            f"step {self.step:,}/{self.steps:,}  loss {sum(means.values()):.4f} ({said})  "
            f"lr {self.rate:.2e}  ETA {left / 60:.1f} min"
        )

    def note_evaluation(self, found: dict[str, float]) -> bool:
        """Keep what an evaluation found; true where it is the best so far."""
        figure = figure_of(found)
        is_best = not self.history or figure > max(one["figure"] for one in self.history)
        self.history.append({"step": self.step, "figure": figure, "held_out": found})
        if is_best:
            self.best_step = self.step
        said = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
        self.report(f"held out: {said}{' (best)' if is_best else ''}")
        return is_best

    def record(self) -> dict[str, Any]:
        """Give what training.json says of the course; the weights kept are those of `best`."""
        best = next((one for one in self.history if one["step"] == self.best_step), None)
        return {
            "recipe": _plain(self.recipe),
            "data": self.data,
            "seed": self.recipe.seed,
            "steps": self.step,
            "best": best,
            "history": self.history,
            "versions": versions() | _transformers(),
        }


def _check(lessons: Deck) -> None:
    recipe = lessons.recipe
    if recipe.prefers and not lessons.data.pairs:
        raise InputError("there are no pairs to learn from", "check pairs, or leave out ranking")
    if recipe.speaks and not lessons.items:
        raise InputError("there are no rated comments", "check items, or leave out aspects")


def _close(
    out: Path, model: JointModel, lessons: Deck, held: Deck, *, record: dict[str, Any]
) -> dict[str, Any]:
    """Write what readers load; the record comes last."""
    network, recipe = model.network, model.recipe
    network.save(out)
    heads = {f"head.{name}": value for name, value in network.heads.state_dict().items()}
    write_tensors(out / HEADS_FILE, heads, {"step": record["steps"]})
    trained = [PREFERENCE] * recipe.prefers + [RATINGS, CONFIDENCE] * recipe.aspects
    about = JointConfig(
        backbone=Path(recipe.backbone).name if Path(recipe.backbone).is_dir() else recipe.backbone,
        max_tokens=recipe.max_tokens,
        heads=tuple(trained),
        comments=recipe.comments,
        negatives=recipe.negatives,
        percentiles=_percentiles(model, held),
        domain=describe_domain(_stories(lessons.data)),
        training={name: record[name] for name in ("data", "seed", "best", "versions")}
        | {"licence": recipe.licence},
    )
    write_joint_config(out, about)
    write_record(out / RECORD, record)
    for name in (CHECKPOINT, BEST):
        (out / name).unlink(missing_ok=True)
    return record


def _percentiles(model: JointModel, held: Deck) -> tuple[float, ...] | None:
    """Give where held-out stories stand, if there are enough of them and pairs were learned."""
    texts = list(dict.fromkeys(t for p in held.data.pairs for t in (p.better.text, p.worse.text)))
    if not model.recipe.prefers or len(texts) < _LEAST_STORIES:
        return None
    found = np.percentile(preference_logits(model, texts), np.arange(101))
    return tuple(found.tolist())


def _stories(data: JointData) -> list[str]:
    texts = [text for pair in data.pairs for text in (pair.better.text, pair.worse.text)]
    found = list(dict.fromkeys([*texts, *(item.story for item in data.items)]))
    return found[:: -(-len(found) // _DESCRIBED) or 1]


def _put(model: JointModel, file: Path) -> None:
    """Put the best weights back."""
    import torch
    from safetensors.torch import load_file

    with torch.no_grad():
        for name, value in load_file(file).items():
            model.weights[name].copy_(value)


def _plain(recipe: JointRecipe) -> dict[str, Any]:
    """Give a recipe as JSON would give it back."""
    found: dict[str, Any] = json.loads(json.dumps(asdict(recipe)))
    return found


def _transformers() -> dict[str, str]:
    from importlib.metadata import version

    return {"transformers": version("transformers")}
