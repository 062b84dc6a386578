"""Topics as directions of word vectors: a dictionary of R vectors that passages are made of.

A passage's mean word vector x is written as r, a weighted mean of the dictionary's rows, which
should be nearer to x than to other passages (Iyyer, Guha, Chaturvedi, Boyd-Graber and Daumé III,
2016, "Feuding Families and Former Friends"; Akoury et al., 2020, STORIUM, appendix).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fabula.core.errors import InputError, SettingError
from fabula.learned.topics.lda import Array, import_sklearn
from fabula.learned.training.folder import plain_values
from fabula.learned.training.loop import (
    Evaluation,
    LoopConfig,
    Sampler,
    Schedule,
    StagePlan,
    TrainingState,
    run_training,
)
from fabula.learned.training.recipe import require_least, require_shares
from fabula.models import one_thread

if TYPE_CHECKING:
    from torch import Tensor

# Beside the seed, so that each draw has chances of its own.
_START, _ORDER, _NEGATIVES, _DROPOUT = range(4)
DICTIONARY = "dictionary"


@dataclass(frozen=True)
class TopicRecipe:
    """How topics are learned.

    `network` says how a passage asks for topics: by its mean vector itself, as STORIUM's paper
    says, or through two layers with dropout, as its code does. The dictionary starts as centres of
    clusters of passages, or as orthogonal rows by chance as in the code. `centred` takes the mean
    of all passages away first: it is most of what mean word vectors have in common. `orthogonal`
    weighs ‖XXᵀ − I‖², where X is the dictionary with rows of length one; `normalise="columns"` is
    the code's. Negatives are means of `negatives` other passages, drawn anew in every epoch; once
    and for all, the passage itself among them, with `redraw=False`, as in the code.
    """

    topics: int = 50
    network: Literal["direct", "layers"] = "direct"
    start: Literal["clusters", "orthogonal"] = "clusters"
    centred: bool = True
    orthogonal: float = 1e-4
    normalise: Literal["rows", "columns"] = "rows"
    margin: float = 1.0
    negatives: int = 5
    redraw: bool = True
    hidden: int = 100  # of the layers
    dropout: float = 0.2  # of the layers
    rate: float = 1e-3
    falling: bool = True  # the rate, in a line to nothing
    rows: int = 500  # passages in a batch
    epochs: int = 10
    held_out: float = 0.1  # share of the passages
    held_out_dropout: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require_least(self, topics=2, negatives=1, hidden=1, rows=2, epochs=1)
        require_least(self, orthogonal=0, margin=0)
        require_shares(self, "dropout", "held_out")
        if self.rate <= 0:
            raise SettingError(f"rate={self.rate} teaches nothing", "write such as 0.001")


_STORIUM = TopicRecipe(
    start="orthogonal", centred=False, rate=1e-4, falling=False, rows=200, epochs=400, seed=42
)
RECIPES: Mapping[str, TopicRecipe] = {
    "fabula": TopicRecipe(),
    "paper": _STORIUM,
    "code": replace(
        _STORIUM, network="layers", normalise="columns", redraw=False, held_out_dropout=True
    ),
}


@dataclass(frozen=True)
class TopicModel:
    """A trained dictionary, (topics, width), and all that a passage's vector goes through."""

    dictionary: Array  # rows of length one
    centre: Array  # (width,), taken away first
    layers: Mapping[str, Array] = field(default_factory=dict)
    history: tuple[Mapping[str, float], ...] = ()

    def query(self, vectors: Array) -> Array:
        """Give what passages or words ask for topics with: (rows, width)."""
        moved: Array = vectors - self.centre
        if not self.layers:
            return moved
        hidden = np.maximum(moved @ self.layers["in.weight"] + self.layers["in.bias"], 0)
        asked: Array = np.maximum(hidden @ self.layers["out.weight"] + self.layers["out.bias"], 0)
        return asked

    def weigh(self, vectors: Array) -> Array:
        """Give how much of each topic is in passages, adding up to 1: (rows, topics)."""
        return _softmax(self.query(vectors) @ self.dictionary.T)

    def reorder(self, order: Array) -> TopicModel:
        """Give the same model with its topics in another order."""
        return replace(self, dictionary=self.dictionary[order])


def average_vectors(counts: Any, vectors: Array) -> Array:
    """Give the mean vector of each passage over its words that have one: (passages, width).

    Vectors of unknown words are NaN; a passage of such words alone is NaN too.
    """
    known = ~np.isnan(vectors).any(axis=1)
    there = counts[:, np.flatnonzero(known)]
    sizes = np.asarray(there.sum(axis=1)).ravel().astype(float)
    sums = np.asarray(there @ vectors[known])
    with np.errstate(invalid="ignore"):
        means: Array = sums / np.where(sizes > 0, sizes, np.nan)[:, None]
    return means


def train_topics(vectors: Array, recipe: TopicRecipe) -> TopicModel:
    """Learn a dictionary of passages' mean vectors, (passages, width)."""
    if len(vectors) < 2 * recipe.topics:
        raise InputError(
            f"{len(vectors):,} passages are too few for {recipe.topics} topics",
            f"give {2 * recipe.topics} at least, or ask for fewer topics",
        )
    centre = vectors.mean(axis=0) if recipe.centred else np.zeros(vectors.shape[1])
    trainee = TopicTrainee(recipe, (vectors - centre).astype(np.float32))
    every = trainee.sampler.epoch_steps
    state = TrainingState(plain_values(recipe), {"passages": len(vectors)})
    config = LoopConfig(evaluate_every=every, checkpoint_every=every, report_every=every)
    with one_thread():
        run_training(trainee, state, config, report=lambda line: None)
    weights = {name: weight.detach().numpy() for name, weight in trainee.weights.items()}
    rows = weights.pop(DICTIONARY)
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return TopicModel(rows, centre, weights, tuple(state.history))


class TopicTrainee:
    """A dictionary as the loop trains it: an epoch takes every passage, then is evaluated."""

    stages, unit = range(1), "passages"

    def __init__(self, recipe: TopicRecipe, vectors: Array) -> None:
        import torch

        self._recipe = recipe
        learned = max(recipe.topics, round(len(vectors) * (1 - recipe.held_out)))
        self._vectors = torch.from_numpy(vectors)  # (passages, width)
        self._held_out = torch.arange(learned, len(vectors))
        self.weights = _start_weights(recipe, vectors)
        self._chance = torch.Generator().manual_seed(_mix(recipe.seed, _DROPOUT))
        self._draw_negatives(0)
        self.sampler = Sampler(lambda epoch: self._open_epoch(epoch, learned), recipe.rows)

    def _open_epoch(self, epoch: int, learned: int) -> list[int]:
        """Order the passages anew, and draw what they are told from."""
        if epoch and self._recipe.redraw:
            self._draw_negatives(epoch)
        rng = np.random.default_rng([self._recipe.seed, _ORDER, epoch])
        order: list[int] = rng.permutation(learned).tolist()
        return order

    def _draw_negatives(self, epoch: int) -> None:
        import torch

        recipe, count = self._recipe, len(self._vectors)
        rng = np.random.default_rng([recipe.seed, _NEGATIVES, epoch])
        # From one on, so that no passage is its own opposite; the code draws from all.
        steps = rng.integers(int(recipe.redraw), count, (count, recipe.negatives))
        drawn = torch.from_numpy((np.arange(count)[:, None] + steps) % count)
        means = torch.zeros_like(self._vectors)
        for column in drawn.T:
            means += self._vectors[column] / recipe.negatives
        self._negatives = means  # (passages, width)

    def begin_stage(self, number: int) -> StagePlan:
        """Make the optimiser."""
        import torch

        recipe, learning = self._recipe, list(self.weights.values())
        optimiser = torch.optim.Adam([{"params": learning, "scale": 1.0}])
        steps = recipe.epochs * self.sampler.epoch_steps
        # A rate that is multiplied by one stays as it is.
        schedule = Schedule(recipe.rate, steps, fall=0.0 if recipe.falling else 1.0)
        return StagePlan(optimiser, learning, schedule)

    def batch(self, step: int) -> TopicBatch:
        """Give the passages of a step."""
        import torch

        return TopicBatch(torch.tensor(self.sampler.batch(step)))

    def learn(self, batch: TopicBatch, step: int) -> dict[str, Tensor]:
        """Add the gradients of a batch."""
        losses = self._lose(batch.places, dropout=self._recipe.dropout)
        sum(losses.values()).backward()  # type: ignore[union-attr]
        return {name: loss.detach() for name, loss in losses.items()}

    def evaluate(self, state: TrainingState) -> Evaluation | None:
        """Give the loss of the passages that were held out, if any were."""
        import torch

        if not len(self._held_out):
            return None
        recipe = self._recipe
        with torch.no_grad():
            dropout = recipe.dropout if recipe.held_out_dropout else 0.0
            loss = self._lose(self._held_out, dropout=dropout)["margin"].item()
        row = {"epoch": self.sampler.epoch + 1, "loss": loss}
        return Evaluation(-loss, row, f", epoch {row['epoch']}: loss {loss:.4f}")

    def _lose(self, places: Tensor, *, dropout: float) -> dict[str, Tensor]:
        """Give how far r is nearer to negatives than to x, and how alike the topics are."""
        import torch
        from torch.nn.functional import cosine_similarity, normalize

        recipe, rows = self._recipe, self.weights[DICTIONARY]
        x, negatives = self._vectors[places], self._negatives[places]  # (B, W)
        topics = normalize(rows, dim=1)  # (R, W)
        weights = torch.softmax(self._query(x, dropout) @ topics.T, dim=1)  # (B, R)
        r = weights @ topics  # (B, W)
        apart = recipe.margin + cosine_similarity(r, negatives) - cosine_similarity(r, x)
        unit = topics if recipe.normalise == "rows" else normalize(rows, dim=0)
        alike = (unit @ unit.T - torch.eye(len(rows))).square().sum()
        return {"margin": torch.relu(apart).mean(), "alike": recipe.orthogonal * alike}

    def _query(self, x: Tensor, dropout: float) -> Tensor:
        """Go through the layers, where there are any; numbers are dropped before and after each."""
        import torch

        if self._recipe.network == "direct":
            return x
        for name in ("in", "out"):
            x = torch.relu(
                self._drop(x, dropout) @ self.weights[f"{name}.weight"]
                + self.weights[f"{name}.bias"]
            )
        return self._drop(x, dropout)

    def _drop(self, x: Tensor, dropout: float) -> Tensor:
        import torch

        if not dropout:
            return x
        return x * (torch.rand(x.shape, generator=self._chance) >= dropout) / (1 - dropout)


@dataclass(frozen=True)
class TopicBatch:
    """Places of passages."""

    places: Tensor

    @property
    def size(self) -> int:
        """Passages."""
        return len(self.places)


def _start_weights(recipe: TopicRecipe, vectors: Array) -> dict[str, Tensor]:
    import torch

    width, seed = vectors.shape[1], _mix(recipe.seed, _START)
    chance = torch.Generator().manual_seed(seed)
    rows = torch.empty(recipe.topics, width)
    if recipe.start == "clusters":
        rows = torch.from_numpy(_find_centres(vectors, recipe.topics, seed))
    else:
        torch.nn.init.orthogonal_(rows, generator=chance)
    made = {DICTIONARY: rows}
    if recipe.network == "layers":
        for name, shape in (("in", (width, recipe.hidden)), ("out", (recipe.hidden, width))):
            # As torch starts a linear layer.
            bound = shape[0] ** -0.5
            for part, size in (("weight", shape), ("bias", shape[1:])):
                made[f"{name}.{part}"] = torch.empty(size).uniform_(-bound, bound, generator=chance)
    return {name: weight.requires_grad_() for name, weight in made.items()}


def _find_centres(vectors: Array, topics: int, seed: int) -> Array:
    """Give the centres of clusters of passages' directions, of length one."""
    means = import_sklearn("cluster").MiniBatchKMeans(
        topics, random_state=seed, n_init=3, batch_size=2048
    )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    centres = means.fit(vectors / np.maximum(lengths, 1e-9)).cluster_centers_
    directed: Array = centres / np.maximum(np.linalg.norm(centres, axis=1, keepdims=True), 1e-9)
    return directed.astype(np.float32)


def _mix(seed: int, purpose: int) -> int:
    return int(np.random.SeedSequence([seed, purpose]).generate_state(1)[0])


def _softmax(scores: Array) -> Array:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Array = raised / raised.sum(axis=1, keepdims=True)
    return shares
