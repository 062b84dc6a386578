"""Heads on a frozen encoder: stories are read once, then only a layer and the heads are trained.

A shared layer of `hidden` tanh units stands between a story's vector (the mean over its windows)
and the heads: through it alone can one task help or hinder another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fabula.core.errors import PackageMissing
from fabula.learned.training.cross_fit import CrossFitted
from fabula.learned.training.examples import Examples, ExampleSet
from fabula.learned.training.folds import fold_alone, fold_of_items, without_fold
from fabula.learned.training.reader_recipe import ReaderRecipe, Task
from fabula.models import PooledBert
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
    kept: dict[tuple[int, ...], Array],
    report: Callable[[str], None],
) -> dict[str, Array]:
    """Read every text that an example has, once: task → (texts, width), NaN for the others.

    What was read is `kept` for the next time.
    """
    wanted: dict[tuple[int, ...], int] = {}
    places: dict[str, dict[int, int]] = {}
    for name, one in examples.items():
        numbers = sorted({int(number) for number in one.members.ravel()})
        places[name] = {
            number: wanted.setdefault(tuple(one.text(number)), len(wanted)) for number in numbers
        }
    fresh = [text for text in wanted if text not in kept]
    kept |= zip(fresh, read_once(fresh, encoder, window, report), strict=True)
    rows = np.stack([kept[text] for text in wanted])
    found = {}
    for name, one in examples.items():
        found[name] = np.full((len(one.texts), encoder.width), np.nan, dtype=np.float32)
        found[name][list(places[name])] = rows[list(places[name].values())]
    return found


def read_once(
    texts: list[tuple[int, ...]],
    encoder: PooledBert,
    window: int,
    report: Callable[[str], None],
) -> Array:
    """Give the mean over its windows of every text of tokens: (texts, width)."""
    found = np.zeros((len(texts), encoder.width), dtype=np.float32)
    for start in range(0, len(texts), _CHUNK):
        cut, owners = [], []
        for owner, ids in enumerate(texts[start : start + _CHUNK], start):
            for place in cut_evenly(len(ids), window):
                cut.append(list(ids[place.start : place.stop]))
                owners.append(owner)
        np.add.at(found, owners, encoder.pool(cut).numpy())
        report(f"{min(start + _CHUNK, len(texts)):,} of {len(texts):,} texts read")
    counts = np.array([max(1, len(cut_evenly(len(ids), window))) for ids in texts])
    means: Array = found / counts[:, None]
    return means


def cross_fit_heads(
    recipe: ReaderRecipe,
    examples: Examples,
    vectors: Vectors,
    *,
    how: HeadTraining,
    seed: int,
    change: Change | None = None,
) -> CrossFitted:
    """Train the heads of a recipe folds × seeds times; give what they say of the fold left out.

    Tasks of `examples` that the recipe has not are measured where it has their head.
    """
    known = {name: examples[name] for name in recipe.tasks}
    found: dict[tuple[str, str], list[Array]] = {}
    folds: dict[str, list[Array]] = {}
    for number in range(seed, seed + how.seeds):
        parts = fold_of_items(
            {i for one in examples.values() for i in one.items}, how.folds, number
        )
        said = _Said(examples)
        for fold in range(how.folds):
            learned = without_fold(known, parts, fold)
            learned = change(learned, number) if change else learned
            fitted = fit_heads(recipe, learned, vectors, how=how, seed=number * 100 + fold)
            for name, one in examples.items():
                said.add(name, fold_alone(one, parts, fold), fitted(vectors[name]), fold)
        for key, values in said.outputs.items():
            found.setdefault(key, []).append(values)
        for name, values in said.folds.items():
            folds.setdefault(name, []).append(values)
    stacked = {key: np.stack(values) for key, values in found.items()}
    return CrossFitted(stacked, {name: np.stack(values) for name, values in folds.items()})


class _Said:
    """What heads said of the texts of each fold, gathered fold by fold."""

    def __init__(self, examples: Examples) -> None:
        self.outputs: dict[tuple[str, str], Array] = {}
        self.folds = {name: np.full(len(one.texts), -1) for name, one in examples.items()}

    def add(self, task: str, chosen: ExampleSet, said: Mapping[str, Array], fold: int) -> None:
        numbers = sorted({int(number) for number in chosen.members.ravel()})
        self.folds[task][numbers] = fold
        for head, values in said.items():
            empty = np.full(values.shape, np.nan)
            self.outputs.setdefault((task, head), empty)[numbers] = values[numbers]


def fit_heads(
    recipe: ReaderRecipe, examples: Examples, vectors: Vectors, *, how: HeadTraining, seed: int
) -> Callable[[Array], dict[str, Array]]:
    """Train a shared layer and the heads of a recipe; give what asks them about vectors."""
    try:
        import torch
    except ImportError:
        raise PackageMissing("torch", "train") from None
    torch.manual_seed(seed)
    used = np.concatenate([vectors[name][np.unique(one.members)] for name, one in examples.items()])
    sizes = {recipe.tasks[name].head: one.targets.shape[1] for name, one in examples.items()}
    net = _Net(used, sizes, how.hidden)
    optimiser = torch.optim.AdamW(net.weights, lr=how.rate, weight_decay=how.decay)
    given = [_Given(recipe.tasks[name], one, vectors[name]) for name, one in examples.items()]
    with _one_thread():
        for _ in range(how.steps):
            total = torch.zeros(())
            for one in given:
                total = total + one.loss(net, how.dropout)
            optimiser.zero_grad()
            total.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return net.ask


class _Net:
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
        given = torch.from_numpy(scaled.astype(np.float32))
        given = torch.nn.functional.dropout(given, dropout, dropout > 0)
        found: Tensor = self._body(given).tanh()
        return found

    def head(self, name: str, inner: Tensor) -> Tensor:
        found: Tensor = self._heads[name](inner)
        return found

    def ask(self, rows: Array) -> dict[str, Array]:
        import torch

        with torch.no_grad():
            inner = self.inner(rows)
            return {name: self.head(name, inner).double().numpy() for name in self._heads}


class _Given:
    """The examples of a task, as a step needs them."""

    def __init__(self, task: Task, examples: ExampleSet, vectors: Array) -> None:
        import torch

        numbers, places = np.unique(examples.members, return_inverse=True)
        self._task, self._rows = task, vectors[numbers]
        self._places = torch.from_numpy(places.reshape(examples.members.shape))
        self._targets = torch.from_numpy(examples.targets.astype(np.float32))

    def loss(self, net: _Net, dropout: float) -> Tensor:
        # The losses of the trainer itself, so that a loss means one thing.
        from fabula.learned.training.reader_model import example_losses

        said = net.head(self._task.head, net.inner(self._rows, dropout))
        return (
            self._task.weight * example_losses(said[self._places], self._targets, self._task).mean()
        )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep to one thread: such small matrices are waited for longer than they are reckoned."""
    import torch

    count = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(count)
