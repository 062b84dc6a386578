"""Train RUBER: a small network learns which of two stories was written on a prompt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import InputError
from fabula.learned.ruber_model.network import (
    Array,
    RuberConfig,
    logits,
    read_weights,
    write_ruber_config,
)
from fabula.learned.training._ruber_figures import bounds_of, evaluate, others_of
from fabula.learned.training._ruber_pairs import PooledPairs, pool_pairs, read_pairs
from fabula.learned.training.checkpoint import (
    CHECKPOINT,
    restore_checkpoint,
    save_checkpoint,
    save_model,
)
from fabula.learned.training.ruber_recipe import RuberRecipe
from fabula.learned.training.run import Report, versions, write_record

if TYPE_CHECKING:
    from torch import Tensor

RECORD = "training.json"
VECTORS = "vectors.npz"
# Beside the seed, so that each draw has chances of its own.
_START, _NEGATIVES, _ORDER = 0, 1, 2


@dataclass
class _Course:
    """Where a training stands; all of it is in its checkpoints."""

    epoch: int = 0
    rate: float = 0.0
    losses: list[float] = field(default_factory=list)
    history: list[dict[str, float]] = field(default_factory=list)
    best: int = 0

    def is_over(self, recipe: RuberRecipe) -> bool:
        return self.epoch >= recipe.epochs or 0 < recipe.patience <= self.epoch - self.best

    def note(self, loss: float, dev: Mapping[str, float], *, fall: float) -> bool:
        """Keep an epoch's losses; true where it is the best so far."""
        if len(self.losses) >= 3 and loss > max(self.losses[-3:]):
            self.rate *= fall
        self.losses.append(loss)
        is_best = not self.history or dev["loss"] < min(one["loss"] for one in self.history)
        self.history.append({"epoch": self.epoch, "trained": loss, **dev})
        if is_best:
            self.best = self.epoch
        return is_best


def train_on_data(
    recipe: RuberRecipe,
    data: Path | None,
    *,
    out: Path,
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Read the stories below `data`, encode them, and train; vectors are kept until the end."""
    if (finished := open_folder(out, resume=resume)) is not None:
        return finished
    pairs = read_pairs(recipe, data)
    report(", ".join(f"{name}: {count:,}" for name, count in pairs.counts.items()))
    pooled = pool_pairs(pairs, recipe, kept=out / VECTORS, report=report)
    return train_ruber(recipe, pooled, out=out, resume=resume, report=report)


def train_ruber(
    recipe: RuberRecipe,
    pairs: PooledPairs,
    *,
    out: Path,
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Train on pooled vectors, leave the best weights in `out`, give training.json."""
    import torch

    if (finished := open_folder(out, resume=resume)) is not None:
        return finished
    weights = _start(recipe, pairs)
    optimiser = torch.optim.Adam(
        [one for one in weights.values() if one.requires_grad],
        lr=recipe.rate,
    )
    course = _restored(
        restore_checkpoint(out, weights, optimiser) if resume else None, recipe, pairs
    )
    while not course.is_over(recipe):
        for group in optimiser.param_groups:
            group["lr"] = course.rate
        course.epoch += 1
        loss = _learn(weights, optimiser, pairs, recipe=recipe, epoch=course.epoch)
        dev = evaluate(_arrays(weights), pairs, part="dev", seed=recipe.seed)
        is_best = course.note(loss, dev, fall=recipe.fall)
        said = f"dev loss {dev['loss']:.4f}, accuracy {dev['accuracy']:.3f}"
        report(f"epoch {course.epoch}  loss {loss:.4f}  {said}{' (best)' if is_best else ''}")
        if is_best:
            save_model(out, weights, {"epoch": course.epoch})
        save_checkpoint(out, weights, optimiser, _state(course, recipe, pairs))
    return _close(recipe, pairs, course, out=out)


def open_folder(out: Path, *, resume: bool) -> dict[str, Any] | None:
    """Make the folder and give the record of a training that is over, if it may be resumed."""
    begun = any((out / name).exists() for name in (CHECKPOINT, RECORD))
    if begun and not resume:
        raise InputError(f"{out} holds a training", "say --resume, or name another folder")
    if (out / RECORD).exists():
        found: dict[str, Any] = json.loads((out / RECORD).read_text(encoding="utf-8"))
        return found
    out.mkdir(parents=True, exist_ok=True)
    return None


def _start(recipe: RuberRecipe, pairs: PooledPairs) -> dict[str, Tensor]:
    """Draw weights; means and deviations are those of the vectors and stay as they are."""
    import torch

    fixed = {}
    for name, rows in (("prompt", pairs.prompts["train"]), ("story", pairs.stories["train"])):
        fixed[f"{name}.mean"] = rows.mean(axis=0)
        fixed[f"{name}.deviation"] = rows.std(axis=0) + 1e-3
    made = {name: torch.tensor(value, dtype=torch.float32) for name, value in fixed.items()}
    return made | {
        name: torch.tensor(value, dtype=torch.float32, requires_grad=True)
        for name, value in _drawn(recipe, pairs.stories["train"].shape[1]).items()
    }


def _drawn(recipe: RuberRecipe, width: int) -> dict[str, Array]:
    """Draw what is learned so that it begins as a cosine: the more alike, the likelier.

    From a matrix of chance numbers it learns too little of a few thousand prompts.
    """
    rng, hidden = np.random.default_rng([recipe.seed, _START]), recipe.hidden

    def normal(*shape: int) -> Array:
        return rng.normal(0.0, (2 / sum(shape)) ** 0.5, shape)

    between = {"between": np.eye(width) / width**0.5}
    if recipe.rank:
        thin = normal(width, recipe.rank)
        between = {"between.prompt": thin, "between.story": thin}
    inner = normal(hidden) * 4
    return between | {
        "inner.prompt": normal(width, hidden) / 10,
        "inner.story": normal(width, hidden) / 10,
        "inner.between": inner,
        "inner.bias": np.zeros(hidden),
        "outer.weight": np.abs(normal(hidden, 2)) * np.sign(inner)[:, None] * [-1, 1],
        "outer.bias": np.zeros(2),
    }


def _learn(
    weights: Mapping[str, Tensor],
    optimiser: Any,
    pairs: PooledPairs,
    *,
    recipe: RuberRecipe,
    epoch: int,
) -> float:
    """Go over all stories once, each beside a random other one for its prompt; mean loss."""
    import torch

    prompts, stories, items = (
        some["train"] for some in (pairs.prompts, pairs.stories, pairs.items)
    )
    other = others_of(items, np.random.default_rng([recipe.seed, _NEGATIVES, epoch]))
    rng = np.random.default_rng([recipe.seed, _ORDER, epoch])
    order, total = rng.permutation(len(items)), 0.0
    learned = [one for one in weights.values() if one.requires_grad]
    means = [weights[f"{one}.mean"].numpy() for one in ("prompt", "story", "story")]
    for start in range(0, len(order), recipe.rows):
        rows = order[start : start + recipe.rows]
        chosen = (prompts[rows], stories[rows], stories[other[rows]])
        q, r, n = (
            torch.from_numpy(_dropped(some, mean, recipe.dropout, rng=rng))
            for some, mean in zip(chosen, means, strict=True)
        )
        right, wrong = (logits(weights, q, some, tanh=torch.tanh) for some in (r, n))
        loss = _loss(right, wrong, recipe)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(learned, recipe.clip)
        optimiser.step()
        total += loss.item() * len(rows)
    return total / len(order)


def _dropped(rows: Array, mean: Array, share: float, *, rng: np.random.Generator) -> Array:
    """Put the mean in place of some numbers, and move the others away from it for that."""
    kept = rng.random(rows.shape) >= share
    found: Array = (mean + (rows - mean) * kept / (1 - share)).astype(np.float32)
    return found


def _loss(right: Tensor, wrong: Tensor, recipe: RuberRecipe) -> Tensor:
    """Loss of a batch: own stories and random ones by class, or how far apart they are."""
    import torch
    from torch.nn.functional import cross_entropy, softmax

    if recipe.loss == "hinge":
        apart = softmax(right, -1)[:, 1] - softmax(wrong, -1)[:, 1]
        return torch.relu(recipe.margin - apart).mean()
    classes = torch.arange(2).flip(0).repeat_interleave(len(right))
    return cross_entropy(torch.cat([right, wrong]), classes)


def _arrays(weights: Mapping[str, Tensor]) -> dict[str, Array]:
    return {name: one.detach().numpy() for name, one in weights.items()}


def _state(course: _Course, recipe: RuberRecipe, pairs: PooledPairs) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(
        json.dumps({**asdict(course), "recipe": asdict(recipe), "data": dict(pairs.about)})
    )
    return state


def _restored(state: Mapping[str, Any] | None, recipe: RuberRecipe, pairs: PooledPairs) -> _Course:
    """Go on from a checkpoint's state, which must be of the same recipe and data."""
    fresh = _Course(rate=recipe.rate)
    if state is None:
        return fresh
    wanted = _state(fresh, recipe, pairs)
    for name, spoken in (("recipe", "another recipe"), ("data", "other data")):
        if state[name] != wanted[name]:
            raise InputError(f"the checkpoint is of {spoken}", "train into another folder")
    return _Course(**{name: state[name] for name in asdict(fresh)})


def _close(
    recipe: RuberRecipe, pairs: PooledPairs, course: _Course, *, out: Path
) -> dict[str, Any]:
    """Measure the kept weights, as they were kept, and write down all that was found."""
    weights = read_weights(out)
    record = {
        "recipe": asdict(recipe),
        "data": dict(pairs.about),
        "epochs": course.epoch,
        "best": course.best,
        "test": evaluate(weights, pairs, part="test", seed=recipe.seed),
        "history": course.history,
        "versions": versions(),
    }
    unreferenced, referenced = bounds_of(weights, pairs, seed=recipe.seed)
    kept = {name: record[name] for name in ("recipe", "data", "best", "test", "versions")}
    write_ruber_config(
        out,
        RuberConfig(
            model=recipe.model,
            layer=recipe.layer,
            pooling=recipe.pooling,
            unreferenced=unreferenced,
            referenced=referenced,
            domain=pairs.domain,
            training=kept,
        ),
    )
    write_record(out / RECORD, record)
    for name in (CHECKPOINT, VECTORS):
        (out / name).unlink(missing_ok=True)
    return record
