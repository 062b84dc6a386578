"""Train RUBER: a small network learns which of two stories was written on a prompt."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fabula.core.errors import SettingError
from fabula.learned.ruber_model.network import (
    Array,
    Bounds,
    Pooling,
    RuberConfig,
    Weights,
    cosine,
    logits,
    probabilities,
    read_weights,
    write_ruber_config,
)
from fabula.learned.training.folder import MODEL, TrainingFolder, plain_values, save_model
from fabula.learned.training.loop import (
    Evaluation,
    LoopConfig,
    Report,
    Sampler,
    Schedule,
    StagePlan,
    TrainingState,
    run_training,
)
from fabula.learned.training.recipe import require_least
from fabula.learned.training.ruber_pairs import PooledPairs, pool_pairs, read_pairs

if TYPE_CHECKING:
    from torch import Tensor

VECTORS = "vectors.npz"
# Beside the seed, so that each draw has chances of its own.
_START, _NEGATIVES, _ORDER, _HELD_OUT, _BOUNDS = range(5)


@dataclass(frozen=True)
class RuberRecipe:
    """How RUBER is trained: its data, the frozen encoder, the network and how it learns.

    Prompts that stories of the data sets in `left_out` answer are not trained on. `rank` is that
    of the matrix between prompt and story; 0 is the paper's full one.
    """

    sources: tuple[str, ...] = ("writingprompts",)
    left_out: tuple[str, ...] = ("hanna", "mans", "storyer", "storyer_ratings")
    model: str = "embedded('story_encoder')"
    quick_model: str = ""  # encodes in training alone, where a faster one gives nearly the same
    layer: int = 6
    pooling: Pooling = "mean"
    max_tokens: int = 508  # of a text; in training alone, the metric reads it whole
    hidden: int = 64
    rank: int = 0
    loss: Literal["cross_entropy", "hinge"] = "cross_entropy"
    margin: float = 0.05  # of the hinge
    rate: float = 1e-4
    fall: float = 0.95  # of the rate, when the loss exceeds those of the last three epochs
    clip: float = 5.0
    dropout: float = 0.5  # of the vectors' numbers
    rows: int = 256
    epochs: int = 50
    patience: int = 10  # epochs without a lower loss on the dev prompts; 0: never stop
    seed: int = 1
    split_seed: int = 0

    def __post_init__(self) -> None:
        require_least(self, layer=0, max_tokens=8, hidden=1, rank=0, rows=2, epochs=1)
        require_least(self, patience=0, dropout=0)
        if min(self.rate, self.clip, self.fall) <= 0 or self.dropout >= 1:
            problem = "rate, clip and fall must be above 0, and dropout below 1"
            raise SettingError(problem, "mend the recipe")


def train_on_data(
    recipe: RuberRecipe,
    data: Path | None,
    *,
    out: Path,
    resume: bool = False,
    report: Report = print,
) -> dict[str, Any]:
    """Read the stories below `data`, encode them, and train; vectors are kept until the end."""
    if (finished := TrainingFolder(out, resume=resume).open(recipe)) is not None:
        return finished
    pairs = read_pairs(recipe, data)
    report(", ".join(f"{name}: {count:,}" for name, count in pairs.counts.items()))
    pooled = pool_pairs(pairs, recipe, cache=out / VECTORS, report=report)
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
    folder = TrainingFolder(out, resume=resume)
    if (finished := folder.open(recipe)) is not None:
        return finished
    trainee = RuberTrainee(recipe, pairs)
    state = TrainingState(plain_values(recipe), plain_values(dict(pairs.about)))
    every = trainee.sampler.epoch_steps
    config = LoopConfig(recipe.clip, recipe.patience, every, every, every)
    run_training(trainee, state, config, folder=folder, report=report)
    best = state.history[state.best]["epoch"]
    save_model(out / MODEL, trainee.weights, {"epoch": best})
    record = state.record() | {"recipe": asdict(recipe), "epochs": len(state.history), "best": best}
    return _close(folder, recipe, pairs, record)


class RuberTrainee:
    """RUBER's network as the loop trains it: an epoch takes every story, then is evaluated."""

    stages, unit = range(1), "stories"

    def __init__(self, recipe: RuberRecipe, pairs: PooledPairs) -> None:
        self.weights = _start_weights(recipe, pairs)
        self._recipe, self._pairs = recipe, pairs
        self.sampler = Sampler(self._open_epoch, recipe.rows, keep_last=True)
        self._losses: list[tuple[Tensor, int]] = []

    def _open_epoch(self, epoch: int) -> list[int]:
        """Order all stories anew; beside each comes a random other one for its prompt."""
        items, seed = self._pairs.items["train"], self._recipe.seed
        self._other = draw_others(items, np.random.default_rng([seed, _NEGATIVES, epoch + 1]))
        self._rng = np.random.default_rng([seed, _ORDER, epoch + 1])
        order: list[int] = self._rng.permutation(len(items)).tolist()
        return order

    def begin_stage(self, number: int) -> StagePlan:
        """Make the optimiser; the rate falls when the loss rises."""
        import torch

        recipe = self._recipe
        learning = [weight for weight in self.weights.values() if weight.requires_grad]
        optimiser = torch.optim.Adam([{"params": learning, "scale": 1.0}])
        steps = recipe.epochs * self.sampler.epoch_steps
        return StagePlan(optimiser, learning, Schedule(recipe.rate, steps, fall=recipe.fall))

    def batch(self, step: int) -> RuberBatch:
        """Give vectors of prompts, of their stories and of other ones, with numbers dropped."""
        rows = np.array(self.sampler.batch(step))
        prompts, stories = self._pairs.prompts["train"], self._pairs.stories["train"]
        chosen = (prompts[rows], stories[rows], stories[self._other[rows]])
        means = [self.weights[f"{name}.mean"].numpy() for name in ("prompt", "story", "story")]
        return RuberBatch(
            *(
                _drop(vectors, mean, self._recipe.dropout, rng=self._rng)
                for vectors, mean in zip(chosen, means, strict=True)
            )
        )

    def learn(self, batch: RuberBatch, step: int) -> dict[str, Tensor]:
        """Add the gradients of a batch."""
        import torch

        q, r, n = map(torch.from_numpy, (batch.prompts, batch.stories, batch.others))  # (B, H)
        right, wrong = (logits(self.weights, q, vectors, tanh=torch.tanh) for vectors in (r, n))
        loss = _loss(right, wrong, self._recipe)
        loss.backward()  # type: ignore[no-untyped-call]
        self._losses.append((loss.detach(), batch.size))
        return {"pairs": loss.detach()}

    def evaluate(self, state: TrainingState) -> Evaluation:
        """Measure an epoch on the dev prompts: the lower the loss, the better."""
        weights = {name: weight.detach().numpy() for name, weight in self.weights.items()}
        dev = evaluate(weights, self._pairs, part="dev", seed=self._recipe.seed)
        stories = sum(size for _, size in self._losses)
        trained = sum(loss.item() * size for loss, size in self._losses) / stories
        self._losses.clear()
        row = {"epoch": self.sampler.epoch + 1, "trained": trained, **dev}
        said = f"loss {dev['loss']:.4f}, accuracy {dev['accuracy']:.3f}"
        return Evaluation(-dev["loss"], row, f", epoch {row['epoch']}: {said}")


@dataclass(frozen=True)
class RuberBatch:
    """Vectors of prompts, of the stories written on them, and of other stories: (B, H) each."""

    prompts: Array
    stories: Array
    others: Array

    @property
    def size(self) -> int:
        """Stories."""
        return len(self.stories)


def _start_weights(recipe: RuberRecipe, pairs: PooledPairs) -> dict[str, Tensor]:
    """Draw weights; means and deviations are those of the vectors and stay as they are."""
    import torch

    fixed = {}
    for name, rows in (("prompt", pairs.prompts["train"]), ("story", pairs.stories["train"])):
        fixed[f"{name}.mean"] = rows.mean(axis=0)
        fixed[f"{name}.deviation"] = rows.std(axis=0) + 1e-3
    made = {name: torch.tensor(value, dtype=torch.float32) for name, value in fixed.items()}
    return made | {
        name: torch.tensor(value, dtype=torch.float32, requires_grad=True)
        for name, value in _draw_weights(recipe, pairs.stories["train"].shape[1]).items()
    }


def _draw_weights(recipe: RuberRecipe, width: int) -> dict[str, Array]:
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


def _drop(rows: Array, mean: Array, share: float, *, rng: np.random.Generator) -> Array:
    """Put the mean in place of some numbers, and move the others away from it for that."""
    stays = rng.random(rows.shape) >= share
    dropped: Array = (mean + (rows - mean) * stays / (1 - share)).astype(np.float32)
    return dropped


def _loss(right: Tensor, wrong: Tensor, recipe: RuberRecipe) -> Tensor:
    """Loss of a batch: own stories and random ones by class, or how far apart they are."""
    import torch
    from torch.nn.functional import cross_entropy, softmax

    if recipe.loss == "hinge":
        apart = softmax(right, -1)[:, 1] - softmax(wrong, -1)[:, 1]
        return torch.relu(recipe.margin - apart).mean()
    classes = torch.arange(2).flip(0).repeat_interleave(len(right))
    return cross_entropy(torch.cat([right, wrong]), classes)


def _close(
    folder: TrainingFolder, recipe: RuberRecipe, pairs: PooledPairs, record: dict[str, Any]
) -> dict[str, Any]:
    """Measure the weights as they were written, and write down all that was found."""
    weights = read_weights(folder.path)
    record["test"] = evaluate(weights, pairs, part="test", seed=recipe.seed)
    unreferenced, referenced = find_bounds(weights, pairs, seed=recipe.seed)
    write_ruber_config(
        folder.path,
        RuberConfig(
            model=recipe.model,
            layer=recipe.layer,
            pooling=recipe.pooling,
            unreferenced=unreferenced,
            referenced=referenced,
            domain=pairs.domain,
            training={
                name: record[name] for name in ("recipe", "data", "best", "test", "versions")
            },
        ),
    )
    folder.close(record, VECTORS)
    return record


def evaluate(weights: Weights, pairs: PooledPairs, *, part: str, seed: int) -> dict[str, float]:
    """Give cross-entropy, and how often a story's own prompt has more than another one of the part.

    `error` is the standard error of that share over prompts.
    """
    prompts, stories, items = (
        arrays[part] for arrays in (pairs.prompts, pairs.stories, pairs.items)
    )
    other = draw_others(items, np.random.default_rng([seed, _HELD_OUT]))
    own, wrong = (probabilities(weights, arrays, stories) for arrays in (prompts, prompts[other]))
    loss = -(np.log(own + 1e-9).mean() + np.log(1 - wrong + 1e-9).mean()) / 2
    wins = (own > wrong) + 0.5 * (own == wrong)
    kinds = np.unique(items)
    means = np.array([wins[items == kind].mean() for kind in kinds])
    error = means.std(ddof=1) / np.sqrt(len(kinds))
    figures = {"loss": loss, "accuracy": wins.mean(), "error": error, "prompts": len(kinds)}
    return {name: float(value) for name, value in figures.items()}


def find_bounds(weights: Weights, pairs: PooledPairs, *, seed: int) -> tuple[Bounds, Bounds]:
    """Give the bounds of both parts over stories of the training, beside their own and others.

    A story's reference is another one on its prompt, where there is one, and a random one.
    """
    prompts, stories, items = (
        arrays["train"] for arrays in (pairs.prompts, pairs.stories, pairs.items)
    )
    rng = np.random.default_rng([seed, _BOUNDS])
    other = draw_others(items, rng)
    answers = [probabilities(weights, arrays, stories) for arrays in (prompts, prompts[other])]
    last = {int(item): row for row, item in enumerate(items)}
    kin = [(row, last[int(item)]) for row, item in enumerate(items) if last[int(item)] != row]
    alike = [cosine(stories[a], stories[b]) for a, b in [*kin, *enumerate(other)]]
    return (
        Bounds(float(np.min(answers)), float(np.max(answers))),
        Bounds(min(alike), max(alike)),
    )


def draw_others(items: Array, rng: np.random.Generator) -> Array:
    """Draw another row for each, one with another prompt."""
    others = rng.integers(0, len(items), len(items))
    while (same := items[others] == items).any():
        others[same] = rng.integers(0, len(items), int(same.sum()))
    return others
