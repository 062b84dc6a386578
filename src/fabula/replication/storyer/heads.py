"""Heads on a frozen encoder: stories are read once, then only a layer and the heads are trained.

A shared layer of `hidden` tanh units stands between a story's vector (the mean over its windows)
and the heads: through it alone can one task help or hinder another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import (
    Examples,
    ExampleSet,
    fold_alone,
    fold_of_items,
    without_fold,
)
from fabula.learned.training.recipe import ReaderRecipe, Task
from fabula.models import one_thread
from fabula.models.networks.encoder import PooledBert
from fabula.models.reading.windows import cut_evenly

if TYPE_CHECKING:
    from torch import Tensor

Array = np.ndarray[Any, np.dtype[Any]]
Vectors = Mapping[str, Array]
# Gives the examples that are learned from, of those outside a fold, by seed.
Change = Callable[[dict[str, ExampleSet], int], dict[str, ExampleSet]]
_CHUNK = 64
_CLIP = 5.0  # deviations; a number that is all but constant must not drown the others


@dataclass(frozen=True)
class HeadTraining:
    """How heads are trained: all examples at every step, by Adam."""

    folds: int = 5
    seeds: int = 3
    hidden: int = 64
    steps: int = 60
    rate: float = 0.003
    decay: float = 0.03
    dropout: float = 0.3


def text_vectors(
    examples: Examples,
    encoder: PooledBert,
    window: int,
    *,
    cache: dict[tuple[int, ...], Array],
    report: Callable[[str], None],
) -> dict[str, Array]:
    """Read every text that an example has, once: task → (texts, width), NaN for the others.

    What was read is in the `cache` for the next time.
    """
    wanted: dict[tuple[int, ...], int] = {}
    places: dict[str, dict[int, int]] = {}
    for task, chosen in examples.items():
        numbers = sorted({int(number) for number in chosen.members.ravel()})
        places[task] = {
            number: wanted.setdefault(tuple(chosen.text(number)), len(wanted)) for number in numbers
        }
    fresh = [text for text in wanted if text not in cache]
    cache |= zip(fresh, read_once(fresh, encoder, window, report), strict=True)
    rows = np.stack([cache[text] for text in wanted])
    vectors = {}
    for task, chosen in examples.items():
        vectors[task] = np.full((len(chosen.texts), encoder.width), np.nan, dtype=np.float32)
        vectors[task][list(places[task])] = rows[list(places[task].values())]
    return vectors


def read_once(
    texts: list[tuple[int, ...]],
    encoder: PooledBert,
    window: int,
    report: Callable[[str], None],
) -> Array:
    """Give the mean over its windows of every text of tokens: (texts, width)."""
    sums = np.zeros((len(texts), encoder.width), dtype=np.float32)
    for start in range(0, len(texts), _CHUNK):
        windows, owners = [], []
        for owner, ids in enumerate(texts[start : start + _CHUNK], start):
            for place in cut_evenly(len(ids), window):
                windows.append(list(ids[place.start : place.stop]))
                owners.append(owner)
        np.add.at(sums, owners, encoder.pool(windows).numpy())
        report(f"{min(start + _CHUNK, len(texts)):,} of {len(texts):,} texts read")
    counts = np.array([max(1, len(cut_evenly(len(ids), window))) for ids in texts])
    means: Array = sums / counts[:, None]
    return means


def cross_fit_heads(
    recipe: ReaderRecipe,
    examples: Examples,
    vectors: Vectors,
    *,
    training: HeadTraining,
    seed: int,
    change: Change | None = None,
) -> CrossFitted:
    """Train the heads of a recipe folds × seeds times; give what they say of the fold left out.

    Tasks of `examples` that the recipe has not are measured where it has their head.
    """
    known = {name: examples[name] for name in recipe.tasks}
    items = {item for chosen in examples.values() for item in chosen.items}
    outputs: dict[tuple[str, str], list[Array]] = {}
    folds: dict[str, list[Array]] = {}
    for number in range(seed, seed + training.seeds):
        parts = fold_of_items(items, training.folds, number)
        of_seed = _SeedOutputs(examples)
        for fold in range(training.folds):
            learned = without_fold(known, parts, fold)
            learned = change(learned, number) if change else learned
            ask = fit_heads(recipe, learned, vectors, training=training, seed=number * 100 + fold)
            for task, chosen in examples.items():
                of_seed.add(task, fold_alone(chosen, parts, fold), ask(vectors[task]), fold)
        for key, values in of_seed.outputs.items():
            outputs.setdefault(key, []).append(values)
        for task, values in of_seed.folds.items():
            folds.setdefault(task, []).append(values)
    stacked = {key: np.stack(values) for key, values in outputs.items()}
    return CrossFitted(stacked, {task: np.stack(values) for task, values in folds.items()})


class _SeedOutputs:
    """What the heads of one seed said of the texts of each fold, gathered fold by fold."""

    def __init__(self, examples: Examples) -> None:
        self.outputs: dict[tuple[str, str], Array] = {}
        self.folds = {task: np.full(len(chosen.texts), -1) for task, chosen in examples.items()}

    def add(self, task: str, chosen: ExampleSet, outputs: Mapping[str, Array], fold: int) -> None:
        numbers = sorted({int(number) for number in chosen.members.ravel()})
        self.folds[task][numbers] = fold
        for head, values in outputs.items():
            empty = np.full(values.shape, np.nan)
            self.outputs.setdefault((task, head), empty)[numbers] = values[numbers]


def fit_heads(
    recipe: ReaderRecipe, examples: Examples, vectors: Vectors, *, training: HeadTraining, seed: int
) -> Callable[[Array], dict[str, Array]]:
    """Train a shared layer and the heads of a recipe; give what asks them about vectors."""
    try:
        import torch
    except ImportError:
        raise PackageMissing("torch", "train") from None
    torch.manual_seed(seed)
    used = np.concatenate(
        [vectors[task][np.unique(chosen.members)] for task, chosen in examples.items()]
    )
    sizes = {recipe.tasks[task].head: chosen.targets.shape[1] for task, chosen in examples.items()}
    net = _HeadNetwork(used, sizes, training.hidden)
    optimiser = torch.optim.AdamW(net.weights, lr=training.rate, weight_decay=training.decay)
    batches = [
        _TaskBatch(recipe.tasks[task], chosen, vectors[task]) for task, chosen in examples.items()
    ]
    with one_thread():
        for _ in range(training.steps):
            total = torch.zeros(())
            for batch in batches:
                total = total + batch.loss(net, training.dropout)
            optimiser.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return net.ask


class _HeadNetwork:
    """A shared layer of tanh units, and heads on it; vectors are standardised and clipped."""

    def __init__(self, used: Array, sizes: Mapping[str, int], hidden: int) -> None:
        from torch.nn import Linear

        self._mean, self._deviation = used.mean(0), np.maximum(used.std(0), 1e-6)
        self._body = Linear(used.shape[1], hidden)
        self._heads = {name: Linear(hidden, count) for name, count in sizes.items()}

    @property
    def weights(self) -> list[Tensor]:
        parts = [self._body, *self._heads.values()]
        return [weight for part in parts for weight in part.parameters()]

    def inner(self, rows: Array, dropout: float = 0.0) -> Tensor:
        import torch

        scaled = np.clip((rows - self._mean) / self._deviation, -_CLIP, _CLIP)
        given = torch.from_numpy(scaled.astype(np.float32))  # (texts, width)
        given = torch.nn.functional.dropout(given, dropout, dropout > 0)
        hidden: Tensor = self._body(given).tanh()  # (texts, hidden)
        return hidden

    def head(self, name: str, inner: Tensor) -> Tensor:
        outputs: Tensor = self._heads[name](inner)  # (texts, outputs)
        return outputs

    def ask(self, rows: Array) -> dict[str, Array]:
        import torch

        with torch.no_grad():
            inner = self.inner(rows)
            return {name: self.head(name, inner).double().numpy() for name in self._heads}


class _TaskBatch:
    """The examples of a task, as a step needs them."""

    def __init__(self, task: Task, examples: ExampleSet, vectors: Array) -> None:
        import torch

        numbers, places = np.unique(examples.members, return_inverse=True)
        self._task, self._rows = task, vectors[numbers]
        self._places = torch.from_numpy(places.reshape(examples.members.shape))
        self._targets = torch.from_numpy(examples.targets.astype(np.float32))

    def loss(self, net: _HeadNetwork, dropout: float) -> Tensor:
        # The losses of the trainer itself, so that a loss means one thing.
        from fabula.learned.training.reader_model import example_losses

        outputs = net.head(self._task.head, net.inner(self._rows, dropout))
        losses = example_losses(outputs[self._places], self._targets, self._task)
        return self._task.weight * losses.mean()
